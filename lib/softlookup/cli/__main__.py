"""``python -m softlookup.cli``."""

from softlookup.cli import main

main()
