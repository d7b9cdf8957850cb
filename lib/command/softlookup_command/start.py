"""The command ``softlookup``: a missing package gives a sentence that says what to install."""

import sys


def main() -> None:
    """Run the command line.

    A module that cannot be found ends it with a sentence and exit status 2: a package is to be installed, or a part of
    Python is not there on this operating system. A missing module of a part that is there keeps its traceback.
    """
    try:
        from softlookup_command.commands import main as commands

        commands()
    except ModuleNotFoundError as error:
        package, _, module = (error.name or "").partition(".")
        if not package or module and package.startswith("softlookup"):
            raise
        print(f"softlookup: {_sentence(package)}", file=sys.stderr)
        sys.exit(2)


def _sentence(package: str) -> str:
    if package in sys.stdlib_module_names:
        return (
            f"this command needs Python's module {package}, which {sys.platform} does not have: "
            "use Linux for it, on Windows under WSL."
        )
    return (
        f"the package {package} is not installed for {sys.executable}: "
        "run 'make setup' in the course's folder and use .venv/bin/softlookup, or install the package."
    )
