"""Matplotlib figures of the course: one module per idea, each drawn in a light and a dark palette.

Every figure is a function that takes ``palette`` by name and returns a matplotlib Figure, whose label says in
words what it shows. On a page, `show` draws it twice.
"""

from softlookup.figures.arms import shares_by_arm
from softlookup.figures.batches import batches_under_roof, predicted_and_measured
from softlookup.figures.bends import bends
from softlookup.figures.beyond_length import beyond_length
from softlookup.figures.blending import blending
from softlookup.figures.broadcast import stretched
from softlookup.figures.by_heads import cost_by_heads
from softlookup.figures.chapters import chapters
from softlookup.figures.cost import score_memory
from softlookup.figures.counted import memory_by_part, step_intensities, work_by_context
from softlookup.figures.cross_map import cross_map
from softlookup.figures.cut_tail import cut_tail
from softlookup.figures.cut_up import cut_up
from softlookup.figures.decoder_parts import decoder_parts
from softlookup.figures.decoding import step_cost
from softlookup.figures.distance_curve import distance_curve
from softlookup.figures.flow import pipeline
from softlookup.figures.groups import head_groups
from softlookup.figures.guesses import guess_by_layer
from softlookup.figures.head_maps import head_maps
from softlookup.figures.heatmaps import stages
from softlookup.figures.hiding import hiding_curves
from softlookup.figures.input_slices import input_slices
from softlookup.figures.layer_costs import layer_operations, layer_times, many_hands
from softlookup.figures.layer_gradients import gradient_by_layer
from softlookup.figures.lengths import vector_lengths
from softlookup.figures.long_rows import long_attention
from softlookup.figures.lookup import one_hot_product
from softlookup.figures.loop_passes import loop_passes
from softlookup.figures.loss_stages import loss_stages
from softlookup.figures.mask_panels import mask_panels
from softlookup.figures.mean import weighted_mean
from softlookup.figures.memory_bars import memory_bars
from softlookup.figures.merging import merging
from softlookup.figures.needs import dependency
from softlookup.figures.norm_runs import norm_runs
from softlookup.figures.normed import norm_steps
from softlookup.figures.orders import norm_orders
from softlookup.figures.pair_grid import pair_grid
from softlookup.figures.parallel import common_direction
from softlookup.figures.passes import passes
from softlookup.figures.paths import signal_paths
from softlookup.figures.peaks import peaks
from softlookup.figures.position_stripes import position_stripes
from softlookup.figures.predictions import prediction_errors, stream_sizes
from softlookup.figures.printed import comparison, wrong_cells
from softlookup.figures.rate_curves import rate_curves
from softlookup.figures.reach import gradient_reach
from softlookup.figures.reading_times import reading_times
from softlookup.figures.refined import drifting
from softlookup.figures.relative_grids import relative_grids
from softlookup.figures.roofs import measured_roof, roofline
from softlookup.figures.scaling import gradient_size, saturation, variance
from softlookup.figures.sharpened import sharpened
from softlookup.figures.shifted import shifted_labels
from softlookup.figures.show import Shown, render_svg, show
from softlookup.figures.slopes import chain, surprise
from softlookup.figures.smoothing import smoothing
from softlookup.figures.splitting import splitting
from softlookup.figures.storage import reading_order
from softlookup.figures.store import lookup_table
from softlookup.figures.tempered import temperature_curves
from softlookup.figures.theme import DARK, LIGHT, PALETTES, Palette, style
from softlookup.figures.turned_pairs import turned_pairs
from softlookup.figures.vocabulary_size import vocabulary_size

__all__ = [
    "peaks",
    "memory_bars",
    "smoothing",
    "rate_curves",
    "loss_stages",
    "shifted_labels",
    "sharpened",
    "reading_times",
    "passes",
    "cut_tail",
    "DARK",
    "LIGHT",
    "PALETTES",
    "Palette",
    "Shown",
    "batches_under_roof",
    "beyond_length",
    "bends",
    "blending",
    "common_direction",
    "chain",
    "comparison",
    "chapters",
    "cost_by_heads",
    "cross_map",
    "cut_up",
    "decoder_parts",
    "dependency",
    "distance_curve",
    "drifting",
    "gradient_by_layer",
    "gradient_reach",
    "gradient_size",
    "mask_panels",
    "measured_roof",
    "memory_by_part",
    "merging",
    "norm_orders",
    "norm_runs",
    "norm_steps",
    "one_hot_product",
    "head_groups",
    "head_maps",
    "hiding_curves",
    "input_slices",
    "long_attention",
    "lookup_table",
    "guess_by_layer",
    "layer_operations",
    "layer_times",
    "many_hands",
    "loop_passes",
    "pair_grid",
    "pipeline",
    "position_stripes",
    "predicted_and_measured",
    "prediction_errors",
    "reading_order",
    "relative_grids",
    "render_svg",
    "roofline",
    "saturation",
    "score_memory",
    "shares_by_arm",
    "show",
    "splitting",
    "signal_paths",
    "stages",
    "step_cost",
    "step_intensities",
    "stream_sizes",
    "stretched",
    "style",
    "temperature_curves",
    "surprise",
    "turned_pairs",
    "variance",
    "vector_lengths",
    "vocabulary_size",
    "weighted_mean",
    "work_by_context",
    "wrong_cells",
]
