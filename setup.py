"""Puts solutions/ into the installed library, which computes known mistakes with them (see pyproject.toml)."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class WithSolutions(build_py):
    """What setuptools builds, and the published solutions beside it."""

    def run(self) -> None:
        """Build, then copy; a checkout that is installed as it lies needs no copy."""
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib, "softlookup", "solutions")
            target.mkdir(parents=True, exist_ok=True)
            for kind in ("*.py", "*.toml"):
                for path in sorted(Path("solutions").glob(kind)):
                    shutil.copyfile(path, target / path.name)


setup(cmdclass={"build_py": WithSolutions})
