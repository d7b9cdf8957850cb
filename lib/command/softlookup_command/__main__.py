"""``python -m softlookup_command``."""

from softlookup_command.commands import main

main()
