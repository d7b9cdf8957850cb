"""What a call of ``dist`` returns that returns nothing: used as a value, it says where the numbers are."""

from typing import Any, NoReturn

from softlookup_inside.ranks.recording import RankError


class NoResult:
    """Stands for the None that torch.distributed returns: false, printed as None; its ``wait()`` does nothing."""

    def __init__(self, name: str, filled: str = "") -> None:
        self._name, self._filled = name, filled

    def wait(self) -> None:
        """The call has ended."""

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "None"

    def _refuse(self, *args: Any) -> NoReturn:
        fills = f"fills {self._filled} and returns nothing" if self._filled else "returns nothing"
        raise RankError(f"{self._name} {fills}: write dist.{self._name}(…) as a line of its own, and use your array")

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):  # Python and numpy look for such names, and take it well if there are none
            raise AttributeError(name)
        self._refuse()


_BINARY = ("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor")
_OTHERS = ("neg", "pos", "abs", "lt", "le", "gt", "ge", "getitem", "setitem", "len", "iter", "float", "int", "index")
for _operator in (*_BINARY, *(f"r{name}" for name in _BINARY), *_OTHERS, "array"):
    setattr(NoResult, f"__{_operator}__", NoResult._refuse)
