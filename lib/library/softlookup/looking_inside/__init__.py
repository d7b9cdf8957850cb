"""What a trained transformer has learned: reading its residual stream, patching a pass, probes and features."""

from softlookup.looking_inside.autoencoder import (
    RecoveredFeatures,
    SparseAutoencoder,
    recovered_features,
    train_autoencoder,
)
from softlookup.looking_inside.patching import activation_patching, silence
from softlookup.looking_inside.patterns import (
    induction_scores,
    previous_token_scores,
    repeated_blocks,
    sink_shares,
)
from softlookup.looking_inside.probes import Probe, Selectivity, control_labels, selectivity
from softlookup.looking_inside.residual_stream import Attribution, direct_attribution, logit_lens
from softlookup.looking_inside.superposition import Superposition, sparse_features, train_superposition

__all__ = [
    "Attribution",
    "Probe",
    "RecoveredFeatures",
    "Selectivity",
    "SparseAutoencoder",
    "Superposition",
    "activation_patching",
    "control_labels",
    "direct_attribution",
    "induction_scores",
    "logit_lens",
    "previous_token_scores",
    "recovered_features",
    "repeated_blocks",
    "selectivity",
    "silence",
    "sink_shares",
    "sparse_features",
    "train_autoencoder",
    "train_superposition",
]
