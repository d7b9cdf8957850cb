"""Cases of the comparison with stock nbgrader, in groups."""

from benchmarks.stock_cases.case import StockCase
from benchmarks.stock_cases.changed_cells import CHANGED_CELLS
from benchmarks.stock_cases.files import FILES
from benchmarks.stock_cases.formats import FORMATS
from benchmarks.stock_cases.marks import MARKS
from benchmarks.stock_cases.retold import DOCUMENTATION, RETOLD
from benchmarks.stock_cases.running import RUNNING

GROUPS: dict[str, tuple[StockCase, ...]] = {
    "the course of nbgrader's user guide": DOCUMENTATION,
    "nbgrader's own tests of autograde": RETOLD,
    "cells that students change": CHANGED_CELLS,
    "points and outputs": MARKS,
    "what cells do": RUNNING,
    "files and several notebooks": FILES,
    "formats": FORMATS,
}
