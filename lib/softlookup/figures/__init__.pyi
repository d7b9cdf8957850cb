# The names of the package; `softlookup.lazily` reads them here, and so do type checkers.

from softlookup.figures.activations import activations as activations
from softlookup.figures.adam_steps import adam_steps as adam_steps
from softlookup.figures.arms import shares_by_arm as shares_by_arm
from softlookup.figures.batch_limits import batch_limits as batch_limits
from softlookup.figures.batch_machines import batch_machines as batch_machines
from softlookup.figures.batches import (
    batches_under_roof as batches_under_roof,
)
from softlookup.figures.batches import (
    predicted_and_measured as predicted_and_measured,
)
from softlookup.figures.beyond_length import beyond_length as beyond_length
from softlookup.figures.blending import blending as blending
from softlookup.figures.broadcast import stretched as stretched
from softlookup.figures.by_heads import cost_by_heads as cost_by_heads
from softlookup.figures.changed_parts import changed_parts as changed_parts
from softlookup.figures.chapters import chapters as chapters
from softlookup.figures.children import row_of_children as row_of_children
from softlookup.figures.chosen_keys import chosen_keys as chosen_keys
from softlookup.figures.clipped import clipped as clipped
from softlookup.figures.clock_hands import clock_hands as clock_hands
from softlookup.figures.cost import score_memory as score_memory
from softlookup.figures.counted import (
    memory_by_part as memory_by_part,
)
from softlookup.figures.counted import (
    work_by_context as work_by_context,
)
from softlookup.figures.cross_map import cross_map as cross_map
from softlookup.figures.cut_up import cut_up as cut_up
from softlookup.figures.decoder_parts import decoder_parts as decoder_parts
from softlookup.figures.decoding import step_cost as step_cost
from softlookup.figures.distance_curve import distance_curve as distance_curve
from softlookup.figures.distance_terms import distance_terms as distance_terms
from softlookup.figures.first_token import first_token as first_token
from softlookup.figures.flow import latent_scores as latent_scores
from softlookup.figures.flow import pipeline as pipeline
from softlookup.figures.gains import gains_by_task as gains_by_task
from softlookup.figures.gradient_flow import gradient_flow as gradient_flow
from softlookup.figures.groups import head_groups as head_groups
from softlookup.figures.head_maps import head_maps as head_maps
from softlookup.figures.heads_needed import heads_needed as heads_needed
from softlookup.figures.heatmaps import stages as stages
from softlookup.figures.input_slices import input_slices as input_slices
from softlookup.figures.judged import accepted_wrong as accepted_wrong
from softlookup.figures.kept_slots import (
    block_tables as block_tables,
)
from softlookup.figures.kept_slots import (
    draft_round as draft_round,
)
from softlookup.figures.kept_slots import (
    ring_slots as ring_slots,
)
from softlookup.figures.kitchen import kitchen as kitchen
from softlookup.figures.latent_queries import latent_queries as latent_queries
from softlookup.figures.launch_floor import launch_floor as launch_floor
from softlookup.figures.layer_costs import (
    layer_operations as layer_operations,
)
from softlookup.figures.layer_costs import (
    layer_times as layer_times,
)
from softlookup.figures.layer_costs import (
    many_hands as many_hands,
)
from softlookup.figures.layer_gradients import gradient_by_layer as gradient_by_layer
from softlookup.figures.learning_curves import learning_curves as learning_curves
from softlookup.figures.lengths import vector_lengths as vector_lengths
from softlookup.figures.logit_lens import logit_lens as logit_lens
from softlookup.figures.long_rows import long_attention as long_attention
from softlookup.figures.looked_inside import contributions as contributions
from softlookup.figures.looked_inside import feature_directions as feature_directions
from softlookup.figures.looked_inside import layer_maps as layer_maps
from softlookup.figures.looked_inside import layers_by_word as layers_by_word
from softlookup.figures.lookup import one_hot_product as one_hot_product
from softlookup.figures.loop_passes import loop_passes as loop_passes
from softlookup.figures.loss_stages import loss_stages as loss_stages
from softlookup.figures.machine_times import machine_times as machine_times
from softlookup.figures.marked_tables import marked_tables as marked_tables
from softlookup.figures.mask_panels import mask_panels as mask_panels
from softlookup.figures.mean import weighted_mean as weighted_mean
from softlookup.figures.memory_answers import memory_answers as memory_answers
from softlookup.figures.memory_bars import memory_bars as memory_bars
from softlookup.figures.merging import merging as merging
from softlookup.figures.model_parts import model_parts as model_parts
from softlookup.figures.models_at_a_glance import models_at_a_glance as models_at_a_glance
from softlookup.figures.moved_floor import moved_floor as moved_floor
from softlookup.figures.next_tokens import next_tokens as next_tokens
from softlookup.figures.norm_runs import norm_runs as norm_runs
from softlookup.figures.normed import norm_steps as norm_steps
from softlookup.figures.occlusion import occlusion as occlusion
from softlookup.figures.open_product import open_product as open_product
from softlookup.figures.paged_memory import paged_memory as paged_memory
from softlookup.figures.pair_grid import pair_grid as pair_grid
from softlookup.figures.parallel import common_direction as common_direction
from softlookup.figures.passes import passes as passes
from softlookup.figures.paths import signal_paths as signal_paths
from softlookup.figures.peaks import peaks as peaks
from softlookup.figures.position_stripes import position_stripes as position_stripes
from softlookup.figures.position_ways import position_ways as position_ways
from softlookup.figures.pre_post_norm import pre_post_norm as pre_post_norm
from softlookup.figures.predictions import prediction_errors as prediction_errors
from softlookup.figures.predictions import stream_sizes as stream_sizes
from softlookup.figures.preemption import preemption as preemption
from softlookup.figures.printed import comparison as comparison
from softlookup.figures.printed import wrong_cells as wrong_cells
from softlookup.figures.product_box import product_box as product_box
from softlookup.figures.rank_by_layer import rank_by_layer as rank_by_layer
from softlookup.figures.rate_curves import rate_curves as rate_curves
from softlookup.figures.reach import gradient_reach as gradient_reach
from softlookup.figures.reading_times import reading_times as reading_times
from softlookup.figures.recall import recall_curves as recall_curves
from softlookup.figures.refined import drifting as drifting
from softlookup.figures.relative_grids import relative_grids as relative_grids
from softlookup.figures.roofs import measured_roof as measured_roof
from softlookup.figures.roofs import phase_moves as phase_moves
from softlookup.figures.roofs import roofline as roofline
from softlookup.figures.rotary_ramp import rotary_ramp as rotary_ramp
from softlookup.figures.scaling import gradient_size as gradient_size
from softlookup.figures.scaling import saturation as saturation
from softlookup.figures.scaling import variance as variance
from softlookup.figures.served import latency_curves as latency_curves
from softlookup.figures.serving_loop import serving_loop as serving_loop
from softlookup.figures.sharpened import sharpened as sharpened
from softlookup.figures.shifted import shifted_labels as shifted_labels
from softlookup.figures.show import Shown as Shown
from softlookup.figures.show import render_svg as render_svg
from softlookup.figures.show import show as show
from softlookup.figures.singular_values import singular_values as singular_values
from softlookup.figures.slopes import chain as chain
from softlookup.figures.slopes import surprise as surprise
from softlookup.figures.smoothing import smoothing as smoothing
from softlookup.figures.splitting import splitting as splitting
from softlookup.figures.storage import reading_order as reading_order
from softlookup.figures.store import lookup_table as lookup_table
from softlookup.figures.student_path import student_path as student_path
from softlookup.figures.teacher_forcing import teacher_forcing as teacher_forcing
from softlookup.figures.tempered import temperature_curves as temperature_curves
from softlookup.figures.theme import (
    DARK as DARK,
)
from softlookup.figures.theme import (
    LIGHT as LIGHT,
)
from softlookup.figures.theme import (
    PALETTES as PALETTES,
)
from softlookup.figures.theme import (
    Palette as Palette,
)
from softlookup.figures.theme import (
    style as style,
)
from softlookup.figures.tile_flow import tile_flow as tile_flow
from softlookup.figures.top_p import top_p as top_p
from softlookup.figures.turned_pairs import rotary_pairs as rotary_pairs
from softlookup.figures.turned_pairs import turned_pairs as turned_pairs
from softlookup.figures.verdict_rows import verdict_rows as verdict_rows
from softlookup.figures.vocabulary_size import vocabulary_size as vocabulary_size
from softlookup.figures.weight_and_effect import weight_and_effect as weight_and_effect
