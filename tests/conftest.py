"""What all tests share: shapes checked at run time, fixed seeds, one thread, and the devices there are."""

import gc
import random
import re
import shutil
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import hypothesis
import jaxtyping
import numpy as np
import pytest
import torch
from shape_checks import check_shapes

from softlookup_course.browser import FLAGS, NAMES

# What is imported before the first test stays: to look for garbage in it would take a fifth of the time.
gc.disable()

# Before anything imports them: every module of the library that annotates shapes has them checked, and these packages,
# where most do, as a whole.
_LIB = Path(__file__).parents[1] / "lib"
_SHAPED = [
    ".".join(path.relative_to(_LIB).with_suffix("").parts[1:])
    for path in sorted(_LIB.glob("*/softlookup*/**/*.py"))
    if re.search(r"(?m)^(?:from|import) jaxtyping", path.read_text(encoding="utf-8"))
]
_WHOLE = [f"softlookup.{room}" for room in ("reference", "model", "text", "training", "looking_inside")]
check_shapes([*_WHOLE, *_SHAPED])

hypothesis.settings.register_profile("softlookup", deadline=None, derandomize=True, database=None, max_examples=30)
hypothesis.settings.load_profile("softlookup")

torch.set_num_threads(1)

FIRST = ("hostile_class", "grading_faults", "plain_tests", "slides", "personal", "grading_road")
"""Files with a test of more than ten seconds: where one of them comes last, all other processes wait for it."""

CHROMIUM = Path(next(filter(None, map(shutil.which, NAMES)), "/usr/bin/chromium"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave every n-th item of a test marked ``one_in(n)`` to the quick run; the next such test begins one later.

    The files that take long come first.
    """
    places: dict[tuple[Path, str], Iterator[int]] = {}
    for item in items:
        if mark := item.get_closest_marker("one_in"):
            test = (item.path, item.originalname)  # type: ignore[attr-defined]
            if next(places.setdefault(test, count(len(places)))) % mark.args[0]:
                item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: item.path.stem.removeprefix("test_") not in FIRST)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """Collect garbage from now on, but not in what was imported, and seldom: it took a tenth of the time."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs a CUDA device where there is none, with a sentence."""
    if item.get_closest_marker("gpu") and not torch.cuda.is_available():
        pytest.skip("no CUDA device here")


@pytest.fixture(autouse=True)
def _seeds() -> None:
    random.seed(0)
    np.random.seed(0)
    if torch.cuda.is_available():
        torch.manual_seed(0)
    else:  # without a GPU that notes, with a traceback each time, what one would have to do
        torch.default_generator.manual_seed(0)


@pytest.fixture(autouse=True)
def _no_answer_checked_before() -> None:
    """A check knows how often a task failed before, as long as its process lives."""
    for module, function in (("home", "kernel_checker"), ("catalogue", "here")):
        if f"softlookup_judge.{module}" in sys.modules:
            getattr(sys.modules[f"softlookup_judge.{module}"], function).cache_clear()


@pytest.fixture(scope="session", params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> torch.device:
    """Give each device once."""
    return torch.device(request.param)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Headless Chromium for the whole run; playwright refuses a second one in the same process."""
    if not CHROMIUM.exists():
        pytest.skip(f"no Chromium at {CHROMIUM}: install the system's chromium package to run the browser tests")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def tiny_chat() -> Any:
    """A chat model of drawn weights, whose tokens are the 256 bytes and three special ones: SmolLM2's stand-in."""
    from softlookup.model import ChatModel, Config, DecoderLM
    from softlookup.text import ByteLevelTokenizer, Specials, Vocabulary
    from softlookup.text.pieces import byte_characters

    names = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    vocabulary = Vocabulary([*names, *byte_characters()], Specials(names[2], names[0], names[1], names[2]))
    torch.manual_seed(0)
    sizes = {"d_model": 16, "n_heads": 4, "n_kv_heads": 2, "n_layers": 2, "d_hidden": 24, "max_length": 200}
    parts = {"norm": "rms", "positions": "rotary_halves", "pre_norm": True, "activation": "swiglu", "tied": False}
    model = DecoderLM(Config(259, **sizes, **parts, pad_id=2, start_id=1, end_id=2))
    return ChatModel(model, ByteLevelTokenizer(vocabulary, [], names), system="Be brief.")


@pytest.fixture
def unchecked() -> Iterator[None]:
    """Switch the run-time shape check off, so that the library's own messages are what is seen."""
    before = jaxtyping.config.jaxtyping_disable
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", before)
