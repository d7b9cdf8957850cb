"""Chapter 20: right answers written otherwise."""

from right_answers_20_sft import SFT

RIGHT = {**SFT}
