"""The record of compiled kernels belongs to the published kernels, and a run without Triton ends in a sentence."""

import json
from dataclasses import fields
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks import kernels as bench
from benchmarks.harness import measured
from softlookup import tiles
from softlookup_command.commands import main
from tests.tiles.twice import COMPILED, import_triton

COMMITTED = json.loads((Path(bench.ROOT) / "book" / "measured" / "kernels.json").read_text(encoding="utf-8"))


def test_committed_record_counts_the_bytes_of_the_published_kernels(tmp_path):
    published = bench._published(tmp_path, jit=tiles.jit, cdiv=tiles.cdiv, tl=tiles.tl)
    programs = [(generation, program) for generation in bench._WHOLE.generations for program in bench._WHOLE.programs]
    assert len(COMMITTED["kernels"]) == len(programs)
    for row, (generation, program) in zip(COMMITTED["kernels"], programs, strict=True):
        assert set(row) == {field.name for field in fields(bench.CompiledKernel)}
        expected = program.name, program.tiles, generation, program.warps
        assert (row["kernel"], row["tiles"], row["generation"], row["warps"]) == expected
        assert row["chip_bytes"] == bench._chip_bytes(published, program), program


def test_opcodes_are_read_with_and_without_a_predicate():
    code = """
        /*0000*/                   LDC R1, c[0x0][0x28] ;    /* 0x00000a00ff017b82 */
        /*0010*/              @!P0 STG.E.128 desc[UR4][R2.64], R4 ;
        /*0020*/              @UP1 HGMMA.64x64x16.F32 R24, gdesc[UR8], R24 ;
        /*10030*/                  NOP;
    """
    assert bench._OPCODE.findall(code) == ["LDC", "STG", "HGMMA"]


def test_layout_is_that_of_the_first_tile_in_one_dimension_that_is_loaded():
    text = """
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [8], order = [0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
    %q = tt.load %p : tensor<64x64x!tt.ptr<f32>, #blocked2> loc(#loc5)
"""
    loaded = "    %a = tt.load %b, %there, %cst : tensor<1024x!tt.ptr<f32>, #blocked1> loc(#loc6)"
    assert bench._layout(text + loaded) == {"sizePerThread": 4, "threadsPerWarp": 32, "warpsPerCTA": 8}
    assert bench._layout(text) is None


def test_without_triton_the_command_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr(bench.importlib.util, "find_spec", lambda name: None)
    result = CliRunner().invoke(main, ["bench", "kernels"])
    assert result.exit_code != 0 and "softlookup[kernels]" in result.output


@pytest.mark.slow
def test_compiling_again_gives_the_committed_numbers():
    triton = import_triton(COMPILED)
    again = bench.bench_kernels(quick=True)
    assert measured(again) == measured(COMMITTED)
    if triton.__version__ == COMMITTED["triton"]:
        assert again["kernels"][0] in COMMITTED["kernels"]
