"""Mutants of chapter 20 that are right."""

from equal_mutants_20_sft import SFT

EQUAL = [*SFT]
