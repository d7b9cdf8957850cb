"""Puts solutions/ into the installed library, which computes known mistakes with them (see ``data/notebook.py``)."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

SOLUTIONS = Path(__file__).resolve().parents[2] / "solutions"


class WithSolutions(build_py):
    """What setuptools builds, and the published solutions beside it."""

    def run(self) -> None:
        """Build, then copy; a checkout that is installed as it lies needs no copy."""
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib, "softlookup_judge", "solutions")
            target.mkdir(parents=True, exist_ok=True)
            for pattern in ("*.py", "*.toml"):
                for path in sorted(SOLUTIONS.glob(pattern)):
                    shutil.copyfile(path, target / path.name)


if __name__ == "__main__":
    setup(cmdclass={"build_py": WithSolutions})
