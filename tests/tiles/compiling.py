"""A program that compiles kernels with Triton, for GPUs that need not be there, and prints what it refuses.

It is a process of its own, since Triton decides once in a process whether it interprets kernels or compiles them.
"""

import inspect
import json
import sys
import warnings
from collections.abc import Iterator
from typing import Any

from softlookup.tiles import Kernel
from softlookup.tiles.on_triton import by_triton
from softlookup_judge.checking.catalogue import tasks
from softlookup_judge.data.published import solution
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.questions import questions_at_home
from tests.tiles import conformance, kernels
from tests.tiles.twice import type_of

ARCHITECTURES = (80, 90)


def texts(verdict: str) -> Iterator[tuple[str, Kernel, Any, dict[str, Any]]]:
    """Small kernels that are taken or refused."""
    for text in conformance.texts(verdict):
        yield text, conformance.kernel_of(text), conformance.arguments(7), {}


def in_tests() -> Iterator[tuple[str, Kernel, Any, dict[str, Any]]]:
    """The kernels in the manner of Triton's tutorials."""
    for name, (kernel, _, args, named, _) in kernels.CASES.items():
        yield name, kernel, args, named


def published() -> Iterator[tuple[str, Kernel, Any, dict[str, Any]]]:
    """The published answers of chapter 18, in all variants."""
    for task in tasks(18):
        for number in range(len(task.variants)):
            variant = variant_of(task, number)
            case = questions_at_home(variant).cases[-1]
            if case.grid:
                name = f"{task.id}, variant {number}"
                yield name, conformance.defined(solution(variant))[task.name], case.args, {}


def right_answers() -> Iterator[tuple[str, Kernel, Any, dict[str, Any]]]:
    """The right answers of chapter 18 that are written otherwise."""
    from right_answers_18 import RIGHT

    for task in tasks(18):
        case = questions_at_home(variant_of(task)).cases[-1]
        for kernel in RIGHT[task.id] if case.grid else ():
            yield f"{task.id}: {kernel.function.__name__}", kernel, case.args, {}


GROUPS = {
    "taken": lambda: texts("taken"),
    "refused": lambda: texts("refused"),
    "in tests": in_tests,
    "published": published,
    "right answers": right_answers,
}


def refusal(triton: Any, kernel: Kernel, args: Any, named: dict[str, Any], architecture: int) -> str:
    """What Triton's compiler says of a kernel that it refuses; empty if it takes it."""
    signature: dict[str, str] = {}
    constants: dict[tuple[int], Any] = {}
    parameters = inspect.signature(kernel.function)
    bound = parameters.bind(*args, **named)
    bound.apply_defaults()
    for at, (name, value) in enumerate(bound.arguments.items()):
        signature[name] = type_of(value)
        if parameters.parameters[name].annotation is not inspect.Parameter.empty:
            signature[name], constants[at,] = "constexpr", value
    target = triton.backends.compiler.GPUTarget("cuda", architecture, 32)
    try:
        triton.compile(triton.compiler.ASTSource(by_triton(kernel, triton), signature, constants), target=target)
    except Exception as error:  # it has many ways to refuse
        cause: BaseException = error
        while cause.__cause__ is not None:
            cause = cause.__cause__
        return f"{type(cause).__name__}: {cause}"
    return ""


def main(groups: list[str]) -> None:
    """Print what is refused, by group and name, for each architecture."""
    import triton

    warnings.simplefilter("ignore")
    refusals = {
        group: {
            name: [refusal(triton, kernel, args, named, architecture) for architecture in ARCHITECTURES]
            for name, kernel, args, named in GROUPS[group]()
        }
        for group in groups
    }
    print(json.dumps(refusals))


if __name__ == "__main__":
    main(sys.argv[1:])
