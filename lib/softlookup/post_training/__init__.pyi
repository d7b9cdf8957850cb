# The names of the package; `softlookup.lazily` reads them here, and so do type checkers.

from softlookup.post_training.messages import IGNORED as IGNORED
from softlookup.post_training.messages import answer_labels as answer_labels
from softlookup.post_training.messages import encode_chat as encode_chat
from softlookup.post_training.messages import render_chat as render_chat
from softlookup.post_training.objectives import distillation_loss as distillation_loss
from softlookup.post_training.objectives import sft_loss as sft_loss
from softlookup.post_training.packing import PackedRows as PackedRows
from softlookup.post_training.packing import pack as pack
from softlookup.post_training.packing import packed_logits as packed_logits
