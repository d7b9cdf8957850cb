"""Hard lookups: in a Python dictionary, and as a matrix of zeros and ones."""

import numpy as np

from softlookup.checks.draws import Rng
from softlookup.checks.known import known
from softlookup.checks.soft_lookup.page import PAGE
from softlookup.checks.task import Case, Mistake, Task

FRUIT = ("banana", "lemon", "pear", "fig", "plum", "cherry", "mango", "kiwi")


def _hard_cases(rng: Rng) -> list[Case]:
    def prices(*names: str) -> dict[str, int]:
        return {name: int(rng.integers(5, 900)) for name in names}

    def case(label: str, store: dict[str, int], name: str) -> Case:
        # Not among the prices, and not 0: what is returned says where it comes from.
        return Case(label, (store, name, -int(rng.integers(2, 900))), frame="plain")

    some = [str(name) for name in rng.permutation(FRUIT)]
    free = prices("apple", *some[:3])
    free[some[1]] = 0
    return [
        case("a name that is there", prices("apple", *some[:3]), "apple"),
        case("a name that is not there", prices("apple", *some[:3]), "orange"),
        case("another name that is there", prices(*some[:4], "apple"), some[2]),
        case("something that costs 0", free, some[1]),
        case("a name that is a part of a key", prices("pineapple", *some[:2]), "apple"),
        case("a name that holds a key", prices("apple", *some[:2]), "pineapple"),
        case("a name that a key begins with", prices(*some[:2], "apple tart"), "apple"),
        case("a name that begins with a key", prices(*some[:2], "apple"), "apple tart"),
        case("a name misspelt", prices(*some[:2], "apple"), "aple"),
        case("a key and a longer one before it", prices("pineapple", "apple", some[0]), "apple"),
        case("a key and a shorter one before it", prices("apple", "pineapple", some[0]), "pineapple"),
        case("a name in capitals", prices("apple", *some[:2]), "Apple"),
        case("an empty dictionary", {}, "apple"),
    ]


def _hard(prices: dict[str, int], name: str, otherwise: int) -> int:
    return next((price for key, price in prices.items() if key == name), otherwise)


GET = "    if name in prices:\n        return prices[name]\n    return otherwise"
LOOP = "    for key, price in prices.items():\n        if {}:\n            return price\n    return otherwise"

HARD_LOOKUP = Task(
    id="02.hard-lookup",
    name="find_price",
    title="A hard lookup",
    points=2,
    minutes=3,
    difficulty=1,
    page=PAGE,
    anchor="soft-lookup-hard",
    returns=("price",),
    cases=_hard_cases,
    oracle=_hard,
    frame="plain",
    mistakes=(
        known(
            "zero-taken-for-missing",
            (GET, "    return prices.get(name) or otherwise"),
            says="A price of 0 is taken for a missing name: `or` and `if price` ask whether a number is 0. Ask whether "
            "the name is in the dictionary.",
        ),
        known(
            "part-of-a-key",
            (GET, LOOP.format("name in key")),
            says="A key that merely contains the name is taken for it (`apple` finds `pineapple`): a hard lookup "
            "takes equal keys alone.",
        ),
        known(
            "key-is-a-part",
            (GET, LOOP.format("key in name")),
            says="A key that is a part of the name is taken for it (`pineapple` finds `apple`): a hard lookup "
            "takes equal keys alone.",
        ),
        known(
            "zero-for-missing",
            ("return otherwise", "return 0"),
            says="Where the name is missing, 0 comes back, and 0 is a price: return `otherwise`.",
        ),
        known(
            "capitals-ignored",
            ("    if name in prices", "    name = name.lower()\n    if name in prices"),
            says="Capitals are ignored: to a dictionary `Apple` and `apple` are two keys.",
        ),
        Mistake(
            "dictionary-changed",
            "The dictionary is another one afterwards: `setdefault` adds a missing name to it, and `pop` takes "
            "one away. `get`, `in` and square brackets only look.",
            None,
            ((GET, "    return prices.setdefault(name, otherwise)"),),
            symptom="inputs-changed",
        ),
    ),
)


def _store_cases(rng: Rng) -> list[Case]:
    slide = np.arange(100, 111)
    gaps = rng.permutation(np.array([3, 8, 21, 104, 250]))
    small = np.array([2, 0, 3, 1])
    long = np.array([500_000, 2**24 + 1, 500_001, 2**24])
    return [
        Case("order_100 to order_110, asked for 104 and 106", (np.array([104, 106]), slide), frame="numpy"),
        Case("five orders in another order, three asked for", (gaps[[3, 0, 3]], gaps), frame="numpy"),
        Case("as many asked for as there are", (rng.permutation(small)[:4], small), frame="numpy"),
        Case("four orders numbered from 0, asked for 1, 0 and 2", (np.array([1, 0, 2]), small), frame="numpy"),
        Case("one that is not there", (np.array([gaps[1], 22, gaps[4]]), gaps), frame="numpy"),
        Case("nothing but strangers", (np.array([7, 105]), gaps), frame="numpy"),
        Case("a single order", (np.array([5, 6]), np.array([6])), frame="numpy"),
        # Neighbours that are equal within a tolerance, or in float32 (2 ** 24 and more), are two orders.
        Case("long numbers that differ by 1", (long[[2, 0, 3]] + [0, 0, 1], long), frame="numpy"),
    ]


def _store(asked: np.ndarray, orders: np.ndarray) -> np.ndarray:
    rows = [[1.0 if int(key) == int(query) else 0.0 for key in orders] for query in asked]
    return np.array(rows).reshape(len(asked), len(orders))


EQUAL = "(asked[:, None] == orders[None, :])"
TABLE = f"return {EQUAL}.astype(float)"

STORE = Task(
    id="02.store",
    name="order_weights",
    title="A hard lookup as a matrix",
    points=2,
    minutes=8,
    difficulty=2,
    page=PAGE,
    anchor="soft-lookup-store",
    returns=("weights",),
    cases=_store_cases,
    oracle=_store,
    frame="numpy",
    mistakes=(
        known(
            "weights-transposed",
            (EQUAL, "(orders[:, None] == asked[None, :])"),
            says="The table is transposed: row t belongs to what was asked in place t, column s to the order in place "
            "s.",
        ),
        known(
            "number-as-place",
            (TABLE, "return np.eye(len(orders))[asked]"),
            says="The number of an order is taken for its place in the store. A number is a name: compare it with the "
            "keys.",
        ),
        known(
            "counted-from-the-first",
            (TABLE, "return np.eye(len(orders))[asked - orders[0]]"),
            says="Places are counted from the first order's number: right only where the numbers follow each other "
            "without a gap. Compare with the keys.",
        ),
        known(
            "first-for-missing",
            (TABLE, f"return np.eye(len(orders))[{EQUAL}.argmax(axis=1)]"),
            says="An order that is not there gets the first one's weight: `argmax` of a row without any True is 0. "
            "Such a row is zeros.",
        ),
        known(
            "nearest-for-missing",
            (TABLE, "return np.eye(len(orders))[np.abs(asked[:, None] - orders[None, :]).argmin(axis=1)]"),
            says="An order that is not there gets the nearest number's weight. That is a soft thought, but numbers "
            "here are names, and order_105 is no mixture of its neighbours: such a row is zeros.",
        ),
        known(
            "inverted",
            ("==", "!="),
            says="The ones stand where the numbers differ: 1 belongs where they are equal.",
        ),
        known(
            "numbers-for-ones",
            (TABLE, f"return {EQUAL} * orders.astype(float)"),
            says="The order's number stands where a weight is wanted: 1 where the numbers are equal.",
        ),
    ),
)
