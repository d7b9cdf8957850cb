"""In which order the programs of a product take its tiles, and what several of them read together."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from softlookup_course.figures.grid import draw_cell
from softlookup_course.figures.theme import Palette


def program_order(
    orders: Mapping[str, Sequence[tuple[int, int]]], shape: tuple[int, int], *, palette: Palette
) -> Figure:
    """Draw which strips of two matrices the first programs of each order read for their tiles of the product.

    For each order, by its name, the row and the column of the tile of program 0, 1 and so on; the product has ``shape``
    rows and columns of tiles. A panel for each: the tiles of the product c, with the programs' numbers in those that
    are taken; on the left the rows of the first matrix, a, that they read, above the columns of the second, b. A
    ValueError if there is no order, or a tile is outside of the product.
    """
    tiles = [tile for order in orders.values() for tile in order]
    if not tiles or not all(0 <= row < shape[0] and 0 <= column < shape[1] for row, column in tiles):
        raise ValueError(f"tiles {tiles} of a product of {shape[0]} x {shape[1]} tiles; wanted some, all inside of it")
    figure = Figure(figsize=(2.15 * len(orders), 2.75))
    panels = figure.subplots(1, len(orders), squeeze=False)[0]
    descriptions = []
    for axes, (name, order) in zip(panels, orders.items(), strict=True):
        rows, columns = {row for row, _ in order}, {column for _, column in order}
        _draw_panel(axes, order, shape, palette)
        count = f"{len(rows)} + {len(columns)} = {len(rows) + len(columns)} strips"
        axes.set_title(f"{name}:\n{count}", fontsize=10)
        descriptions.append(
            f"{name}, {len(order)} programs read strips of rows: {len(rows)}, of columns: {len(columns)}"
        )
    figure.set_label(f"A product of {shape[0]} x {shape[1]} tiles. {'; '.join(descriptions)}.")
    return figure


def _draw_panel(axes: Axes, order: Sequence[tuple[int, int]], shape: tuple[int, int], palette: Palette) -> None:
    height, width = shape
    axes.add_patch(Rectangle((0, 0), width, height, fill=False, edgecolor=palette.muted, linewidth=0.8))
    for row in range(height):
        _strip(axes, (-2.2, row), 1.6, 1, palette.query, any(row == taken for taken, _ in order), palette)
    for column in range(width):
        _strip(axes, (column, -2.2), 1, 1.6, palette.key, any(column == taken for _, taken in order), palette)
    for program, (row, column) in enumerate(order):
        draw_cell(axes, column, row, str(program), True, palette.mixed, palette)
    for name, x, y in (("a", -1.4, -0.6), ("b", -0.6, -1.4), ("c", width / 2, 0.75 * height)):
        axes.text(x, y, name, ha="center", va="center", size=10, color=palette.ink)
    axes.set(xlim=(-2.4, width + 0.1), ylim=(height + 0.1, -2.4), aspect="equal")
    axes.set_axis_off()


def _strip(
    axes: Axes, corner: tuple[float, float], width: float, height: float, color: str, is_read: bool, palette: Palette
) -> None:
    look = {"facecolor": color, "alpha": 0.55} if is_read else {"facecolor": "none"}
    axes.add_patch(Rectangle(corner, width, height, linewidth=0, **look))
    axes.add_patch(Rectangle(corner, width, height, fill=False, edgecolor=palette.muted, linewidth=0.6))
