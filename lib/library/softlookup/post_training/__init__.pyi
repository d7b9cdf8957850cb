# The names of the package; `softlookup_inside.lazily` reads them here, and so do type checkers.

from softlookup.post_training.messages import IGNORED as IGNORED
from softlookup.post_training.messages import answer_labels as answer_labels
from softlookup.post_training.messages import encode_chat as encode_chat
from softlookup.post_training.messages import render_chat as render_chat
from softlookup.post_training.objectives import sft_loss as sft_loss
from softlookup.post_training.packing import PackedRows as PackedRows
from softlookup.post_training.packing import pack as pack
from softlookup.post_training.policy import clipped_policy_loss as clipped_policy_loss
from softlookup.post_training.policy import group_advantages as group_advantages
from softlookup.post_training.policy import kl_penalty as kl_penalty
from softlookup.post_training.preferences import PreferenceLoss as PreferenceLoss
from softlookup.post_training.preferences import answer_log_probs as answer_log_probs
from softlookup.post_training.preferences import dpo_loss as dpo_loss
from softlookup.post_training.preferences import token_log_probs as token_log_probs
