"""The command ``softlookup``. This file imports nothing, so that a missing package is told in a sentence."""
