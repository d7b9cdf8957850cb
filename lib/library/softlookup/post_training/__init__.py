"""Post-training of language models: conversations as tokens, packed rows, and losses, from fine-tuning to rewards.

The names stand in ``__init__.pyi``; each is loaded at its first use.
"""

from softlookup_inside.lazily import attach

__all__ = attach(__name__)
