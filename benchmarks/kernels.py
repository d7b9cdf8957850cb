"""What Triton's compiler makes of chapter 18's published kernels: ``softlookup bench kernels``.

Triton compiles for a GPU that need not be there. Registers and the stack come from the machine code, and so do the
instructions, which are counted as they stand there, not as often as a loop runs them. Beside them stands what
``softlookup.tiles`` counts for a program of the same tiles. Nothing is timed.
"""

import ast
import importlib.util
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.harness import ROOT, benchmark
from softlookup import tiles

MISSING = "Triton is not installed, so nothing can be compiled. On Linux: pip install 'softlookup[kernels]'."

SOLUTION = ROOT / "solutions" / "18_kernels.py"

_STAGES = 3
"""Triton's default: how many steps of a loop have their tiles on the chip at once."""

_OPCODE = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+ )?(?!NOP\b)(\w+)", re.MULTILINE)
_LOADED = re.compile(r"\btt\.load .*: tensor<\d+x!tt\.ptr<\w+>, #(\w+)>")
_LOCAL = {"LDL", "STL"}  # what did not fit into registers
_GLOBAL = {"LDG", "LDGSTS", "STG"}
_TENSOR = {"HMMA", "HGMMA"}


@dataclass(frozen=True)
class _Program:
    """A kernel with the sizes of its tiles, and how many numbers each array of a single program has."""

    name: str
    tiles: dict[str, int]
    arrays: dict[str, tuple[str, int]]  # name -> dtype and numbers
    scalars: dict[str, int | float]
    warps: int


@dataclass(frozen=True)
class _Plan:
    """What is compiled, and for which generations of GPUs (90 is the H100, 80 the A100)."""

    programs: tuple[_Program, ...]
    generations: tuple[int, ...]


def _product(tile: int, warps: int) -> _Program:
    inner = 64
    arrays = {"a": ("fp16", tile * inner), "b": ("fp16", inner * tile), "c": ("fp32", tile * tile)}
    return _Program("product", {"BM": tile, "BN": tile, "BK": inner}, arrays, {"m": tile, "n": tile, "k": inner}, warps)


def _attention(tile: int, warps: int) -> _Program:
    width = 64
    arrays = {name: ("fp32", tile * width) for name in "qkvo"}
    return _Program("attention", {"H": width, "B": tile}, arrays, {"scale": 0.125, "T": tile, "S": tile}, warps)


def _softmax(tile: int, warps: int) -> _Program:
    return _Program("softmax_rows", {"BLOCK": tile}, {name: ("fp32", tile) for name in "xy"}, {"n": tile}, warps)


_SIZES = ((64, 4), (128, 4), (128, 8))
_WHOLE = _Plan(
    (
        *(_softmax(*size) for size in ((1024, 4), (32768, 4), (32768, 8))),
        *(_product(*size) for size in _SIZES),
        *(_attention(*size) for size in _SIZES),
    ),
    (90, 80),
)
_QUICK = _Plan((_softmax(1024, 4),), (90,))


@dataclass(frozen=True)
class CompiledKernel:
    """One kernel in the machine code of one generation: per thread, per program, and counted in its text.

    Of a kernel that loads a tile in one dimension, ``layout`` says in Triton's words how its numbers are divided among
    threads and warps.
    """

    kernel: str
    tiles: dict[str, int]
    generation: int
    warps: int
    stages: int
    registers: int
    stack_bytes: int
    shared_bytes: int
    instructions: int
    global_instructions: int
    tensor_instructions: int
    spill_instructions: int
    chip_bytes: int
    layout: dict[str, int] | None


@dataclass(frozen=True)
class CompiledKernels:
    """All of them, and what compiled them; ``ptxas``, NVIDIA's assembler, by generation."""

    triton: str
    ptxas: dict[str, str]
    kernels: tuple[CompiledKernel, ...]


@benchmark("kernels", _WHOLE, quick=_QUICK)
def bench_kernels(plan: _Plan) -> CompiledKernels:
    """Compile the published kernels and read the machine code.

    If Triton is not installed, a ModuleNotFoundError says how to install it.
    """
    if importlib.util.find_spec("triton") is None:
        raise ModuleNotFoundError(MISSING)
    import triton
    from triton.backends.nvidia.compiler import get_ptxas

    with TemporaryDirectory() as name:
        folder = Path(name)
        compiled = _published(folder, jit=triton.jit, cdiv=triton.cdiv, tl=triton.language)
        counted = _published(folder, jit=tiles.jit, cdiv=tiles.cdiv, tl=tiles.tl)
        kernels = tuple(
            _compiled(getattr(compiled, program.name), program, generation, _chip_bytes(counted, program), folder)
            for generation in plan.generations
            for program in plan.programs
        )
    assemblers = {str(generation): get_ptxas(generation).version for generation in plan.generations}
    return CompiledKernels(triton.__version__, assemblers, kernels)


def _published(folder: Path, **language: Any) -> ModuleType:
    """The functions of the solution as a module that has these names; compilers read their text in its file."""
    statements = ast.parse(SOLUTION.read_text(encoding="utf-8")).body
    file = folder / "published.py"
    functions = [ast.unparse(node) for node in statements if isinstance(node, ast.FunctionDef)]
    file.write_text("\n\n\n".join(functions) + "\n", encoding="utf-8")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    vars(module).update(language)
    spec.loader.exec_module(module)
    return module


def _chip_bytes(published: ModuleType, program: _Program) -> int:
    """What the chapter counts for a single program that fills its tiles."""
    dtypes = {"fp16": np.float16, "fp32": np.float32}
    arrays = {name: np.zeros(numbers, dtypes[dtype]) for name, (dtype, numbers) in program.arrays.items()}
    grid = (1, 1) if "BN" in program.tiles else (1,)
    return int(getattr(published, program.name)[grid](**arrays, **program.scalars, **program.tiles).chip_bytes)


def _compiled(kernel: Any, program: _Program, generation: int, chip_bytes: int, folder: Path) -> CompiledKernel:
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    names = kernel.arg_names
    types = {name: f"*{dtype}" for name, (dtype, _) in program.arrays.items()}
    types |= {name: "fp32" if isinstance(value, float) else "i32" for name, value in program.scalars.items()}
    source = ASTSource(
        fn=kernel,
        signature={name: types.get(name, "constexpr") for name in names},
        constexprs={(names.index(name),): size for name, size in program.tiles.items()},
        # A launch finds out by itself that arrays begin at multiples of 16 bytes, and sizes are multiples of 16.
        attrs={(at,): [["tt.divisibility", 16]] for at, name in enumerate(names) if types.get(name, "fp32") != "fp32"},
    )
    options = {"num_warps": program.warps, "num_stages": _STAGES, "enable_fp_fusion": True}
    built = triton.compile(source, target=GPUTarget("cuda", generation, 32), options=options)
    code = folder / "kernel.cubin"
    code.write_bytes(built.asm["cubin"])
    usage = _read(triton, "-res-usage", code)
    opcodes = _OPCODE.findall(_read(triton, "-sass", code))
    return CompiledKernel(
        kernel=program.name,
        tiles=program.tiles,
        generation=generation,
        warps=program.warps,
        stages=_STAGES,
        registers=_number_after("REG", usage),
        stack_bytes=_number_after("STACK", usage),
        shared_bytes=built.metadata.shared,
        instructions=len(opcodes),
        global_instructions=_how_many(opcodes, _GLOBAL),
        tensor_instructions=_how_many(opcodes, _TENSOR),
        spill_instructions=_how_many(opcodes, _LOCAL),
        chip_bytes=chip_bytes,
        layout=_layout(built.asm["ttgir"]),
    )


def _layout(text: str) -> dict[str, int] | None:
    """How the first tile in one dimension that is loaded is divided, in Triton's text with layouts (TTGIR)."""
    loaded = _LOADED.search(text)
    if loaded is None:
        return None
    layout = re.search(rf"^#{loaded[1]} = #ttg\.blocked<(.*)>", text, re.MULTILINE)
    assert layout is not None, f"the text has no layout {loaded[1]}"
    return {name: int(size) for name, size in re.findall(r"(\w+Per\w+) = \[(\d+)\]", layout[1])}


def _read(triton: Any, what: str, code: Path) -> str:
    """What NVIDIA's cuobjdump, which comes with Triton, says of machine code."""
    command = [triton.knobs.nvidia.cuobjdump.path, what, str(code)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _number_after(name: str, usage: str) -> int:
    match = re.search(rf"\b{name}:(\d+)", usage)
    assert match is not None, f"cuobjdump names no {name}: {usage}"
    return int(match[1])


def _how_many(opcodes: Sequence[str], names: set[str]) -> int:
    return sum(opcode in names for opcode in opcodes)
