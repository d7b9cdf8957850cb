"""Mutants of chapter 20 that are right, by the part of the chapter."""

from equal_mutants_20_rewards import REWARDS
from equal_mutants_20_scores import SCORES
from equal_mutants_20_sft import SFT

EQUAL = [*SFT, *REWARDS, *SCORES]
