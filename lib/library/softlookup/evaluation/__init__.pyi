# The names of the package; `softlookup_inside.lazily` reads them here, and so do type checkers.

from softlookup.evaluation.comparisons import DetectionRates as DetectionRates
from softlookup.evaluation.comparisons import detection_rates as detection_rates
from softlookup.evaluation.judging_pairs import PositionBias as PositionBias
from softlookup.evaluation.judging_pairs import position_bias as position_bias
from softlookup.evaluation.judging_pairs import simulated_verdicts as simulated_verdicts
from softlookup.evaluation.likelihood import choose as choose
from softlookup.evaluation.sampling_scores import PassEstimates as PassEstimates
from softlookup.evaluation.sampling_scores import expected_pass_at_k as expected_pass_at_k
