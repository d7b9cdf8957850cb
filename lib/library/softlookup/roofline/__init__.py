"""What a computation costs, and what a machine can do: counts, memory, data sheets, the roof.

Counting needs sizes alone and no model; torch is imported where something is measured.
"""

from softlookup.roofline.counts import adam_step, backward, decode, forward, loss, prefill, training_step
from softlookup.roofline.hardware import Hardware, hardware, known_hardware, measured_hardware
from softlookup.roofline.launch import LaunchFit, fit_launch
from softlookup.roofline.layer_operations import ELEMENTWISE, causal_pairs, layer
from softlookup.roofline.layout_costs import layout_cost, plan
from softlookup.roofline.layouts import Layout, LayoutCost, TrainingCluster
from softlookup.roofline.links import LINKS, node_link
from softlookup.roofline.memory import (
    RECIPES,
    activations,
    cache_bytes,
    inference_memory,
    state_bytes,
    training_memory,
)
from softlookup.roofline.models import MODELS
from softlookup.roofline.operations import FLOAT_BYTES, HALF_BYTES, Moved, Operation, Total, product, total
from softlookup.roofline.planner_sizes import planner_sizes
from softlookup.roofline.roof import (
    attainable_flops_per_s,
    bound_by,
    predicted_time_s,
    ridge,
    roof_bytes_per_s,
)
from softlookup.roofline.sizes import TransformerSizes, parameters, product_weights
from softlookup.roofline.streams import CHAIN, FUSED, Stream

__all__ = [
    "CHAIN",
    "ELEMENTWISE",
    "FLOAT_BYTES",
    "FUSED",
    "HALF_BYTES",
    "Hardware",
    "LINKS",
    "LaunchFit",
    "Layout",
    "LayoutCost",
    "MODELS",
    "Moved",
    "Operation",
    "RECIPES",
    "Stream",
    "Total",
    "TrainingCluster",
    "TransformerSizes",
    "activations",
    "adam_step",
    "attainable_flops_per_s",
    "backward",
    "bound_by",
    "cache_bytes",
    "causal_pairs",
    "decode",
    "fit_launch",
    "forward",
    "hardware",
    "inference_memory",
    "known_hardware",
    "layer",
    "layout_cost",
    "loss",
    "measured_hardware",
    "node_link",
    "parameters",
    "plan",
    "planner_sizes",
    "predicted_time_s",
    "prefill",
    "product",
    "product_weights",
    "ridge",
    "roof_bytes_per_s",
    "state_bytes",
    "total",
    "training_memory",
    "training_step",
]
