# The names of the package; `softlookup_inside.lazily` reads them here, and so do type checkers.

from softlookup.evaluation.calibration import ReliabilityTable as ReliabilityTable
from softlookup.evaluation.calibration import calibration_error as calibration_error
from softlookup.evaluation.calibration import reliability_table as reliability_table
from softlookup.evaluation.comparisons import DetectionRates as DetectionRates
from softlookup.evaluation.comparisons import detection_rates as detection_rates
from softlookup.evaluation.contamination import ngram_overlap as ngram_overlap
from softlookup.evaluation.contamination import ngram_overlaps as ngram_overlaps
from softlookup.evaluation.contamination import word_ngrams as word_ngrams
from softlookup.evaluation.intervals import ScoreInterval as ScoreInterval
from softlookup.evaluation.intervals import SignTest as SignTest
from softlookup.evaluation.intervals import bootstrap_interval as bootstrap_interval
from softlookup.evaluation.intervals import paired_interval as paired_interval
from softlookup.evaluation.intervals import resampled_problems as resampled_problems
from softlookup.evaluation.intervals import sign_test as sign_test
from softlookup.evaluation.intervals import unpaired_interval as unpaired_interval
from softlookup.evaluation.intervals import wilson_interval as wilson_interval
from softlookup.evaluation.judging_pairs import PositionBias as PositionBias
from softlookup.evaluation.judging_pairs import position_bias as position_bias
from softlookup.evaluation.judging_pairs import simulated_verdicts as simulated_verdicts
from softlookup.evaluation.likelihood import bits_per_byte as bits_per_byte
from softlookup.evaluation.likelihood import choose as choose
from softlookup.evaluation.sampling_scores import PassEstimates as PassEstimates
from softlookup.evaluation.sampling_scores import expected_pass_at_k as expected_pass_at_k
from softlookup.evaluation.sampling_scores import pass_at_k as pass_at_k
from softlookup.evaluation.sampling_scores import plain_pass_at_k as plain_pass_at_k
