"""What each step of a layer asks of a processor: operations to do beside bytes to fetch, and which takes longer."""

from collections.abc import Mapping

from matplotlib.figure import Figure

from softlookup.figures.cost import with_unit
from softlookup.figures.theme import Palette


def step_times(steps: Mapping[str, tuple[float, float]], peak: float, bandwidth: float, *, palette: Palette) -> Figure:
    """Draw for each step how long its operations take at the peak, and how long its bytes at the bandwidth.

    Args:
        steps: For each step its operations, and the bytes that it moves.
        peak: The processor's peak, operations per second.
        bandwidth: Of its memory, bytes per second.

    Returns:
        One panel with two bars for each step, the operations or bytes written at their ends. The shorter bar is pale.
    """
    figure = Figure(figsize=(6.4, 0.8 + 0.62 * len(steps)))
    axes = figure.subplots()
    times = [(operations / peak, moved / bandwidth) for operations, moved in steps.values()]
    longest = 1e6 * max(max(pair) for pair in times)
    descriptions = []
    for row, ((name, (operations, moved)), pair) in enumerate(zip(steps.items(), times, strict=True)):
        computing, fetching = (1e6 * seconds for seconds in pair)
        bars = (
            (-0.19, computing, f"cooks: {operations / 1e9:.2g} GFLOP", palette.key),
            (0.19, fetching, f"van: {with_unit(float(f'{moved:.2g}'))}", palette.value),
        )
        for apart, width, words, color in bars:
            faded = 1.0 if width == max(computing, fetching) else 0.4
            axes.barh(row + apart, width, height=0.34, color=color, alpha=faded)
            axes.text(width + 0.012 * longest, row + apart, words, color=color, va="center", size=8.5)
        waits = "memory" if fetching > computing else "computing"
        descriptions.append(f"{name} {computing:.2g} and {fetching:.2g}, {waits} longer")
    axes.set_yticks(range(len(steps)), list(steps))
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(steps) - 0.45, -0.55)
    axes.set_xlim(0, longest * 1.3)
    axes.set_xlabel("µs at least")
    figure.set_label(f"Microseconds at least for computing and for memory, by step: {'; '.join(descriptions)}.")
    return figure
