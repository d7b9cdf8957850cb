"""What commands on the checkout need: where it is, and what lies in it."""

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from softlookup_command.shared import refuse

if TYPE_CHECKING:
    from softlookup_judge.checking.catalogue import Catalogue


def checkout() -> Path:
    """The course's checkout."""
    from softlookup_judge.authoring import find_root

    try:
        return Path(find_root()).resolve()
    except FileNotFoundError as error:
        refuse(str(error))


def beside(name: str) -> ModuleType:
    """Import ``benchmarks`` or ``attacks`` from the checkout, before other packages' folders of such names."""
    from softlookup_judge.authoring.build import NoCheckout, find_root

    package = name.partition(".")[0]
    try:
        root = find_root().resolve()
    except NoCheckout:
        root = Path.cwd()
    if not (root / package / "__init__.py").is_file():
        refuse(
            f"{root} has no {package}/, which is a part of the course's repository and not of the installed library: "
            "run this in a clone of the repository"
        )
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    return import_module(name)


def sources(root: Path, catalogue: "Catalogue | None" = None) -> dict[str, Any]:
    """The checkout's assignments and those of own tasks, with solutions, by name: the public variants."""
    from softlookup_judge.authoring import read_solution, with_own
    from softlookup_judge.checking.catalogue import STANDARD

    catalogue = catalogue or STANDARD
    names = with_own(root, catalogue)
    return {name: read_solution(root / "solutions" / f"{name}.py", catalogue=catalogue) for name in names}
