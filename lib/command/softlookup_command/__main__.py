"""``python -m softlookup_command``."""

from softlookup_command import main

main()
