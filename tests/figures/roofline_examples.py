"""An example of each figure about roofs and streams."""

from softlookup_course import figures

CHAIN = [("x = A + B", ("A", "B"), ("x",)), ("E = x * C", ("x", "C"), ("E",))]
ROOFLINE = {
    "roofline": (
        figures.roofline,
        (
            {"a, short": (312e12, 2039e9)},
            [("add", 1 / 12), ("fused", 0.15), ("big", 900)],
        ),
    ),
    "measured_roof": (
        figures.measured_roof,
        (
            {"float32": (80e9, 20e9), "float64": (40e9, 20e9)},
            {"float32": [(0.1, 1.9e9), (90.0, 79e9)], "float64": [(0.1, 2e9), (50.0, 30e9)]},
        ),
    ),
    "loop_passes": (
        figures.loop_passes,
        ([("two", CHAIN), ("one", [("E = (A + B) * C", ("A", "B", "C"), ("E",))])], ("A", "B", "C", "x", "E")),
    ),
    "kitchen": (figures.kitchen, ({"A": 64, "B": 64}, {"A B": 64}, 128)),
    "moved_floor": (
        figures.moved_floor,
        (
            {
                "plain": {"small": (2e7, 9e-4), "large": (4e8, 1e-3)},
                "graph": {"small": (2e7, 5e-5), "large": (4e8, 2e-4)},
            },
            {"plain": 9e-4, "graph": 5e-5},
            3e12,
        ),
    ),
    "launch_floor": (
        figures.launch_floor,
        ({"GPU": [(1e-6, 1.1e-5), (9e-5, 1e-4)], "CPU": [(1e-5, 1.2e-5)]}, {"GPU": 1e-5, "CPU": 0.0}),
    ),
    "machine_times": (
        figures.machine_times,
        (["1 x 64", "64 x 64"], {"a": [(0.01, 0.012), (0.02, 0.05)], "b": [(4e-5, None), (9e-7, None)]}),
    ),
    "program_order": (
        figures.program_order,
        ({"rows": [(0, 0), (0, 1), (0, 2)], "groups": [(0, 0), (1, 0), (0, 1)]}, (3, 3)),
    ),
    "sectors": (figures.sectors, ([1, 8],)),
    "warps": (figures.warps, (1024, 4, 32, 4)),
    "product_box": (figures.product_box, ([1, 8, 64, 512], [1e-7, 8e-7, 6.4e-6, 5.1e-5], [1e-6, 1e-6, 1.1e-6, 2e-6])),
    "prediction_errors": (
        figures.prediction_errors,
        (
            {
                "stream": [("add", 0.08, 1.02, 0.97, 1.1), ("scale", 0.12, 1.12, 1.1, 1.2)],
                "product": [("2 x 8 x 8", 1.0, 1.9, 1.8, 2.1)],
            },
        ),
    ),
    "models_at_a_glance": (
        figures.models_at_a_glance,
        (
            {"full": [(7e9, 7e5, "2024"), (2e9, 3e5, "2025")], "latent": [(3.8e10, 9e4, "2025")]},
            {"a latent model": (3.8e10, 9e4)},
        ),
    ),
    "stream_sizes": (
        figures.stream_sizes,
        ([3 << 12, 3 << 16, 3 << 20, 3 << 24], [12e9, 50e9, 60e9, 20e9], 21e9, 32 << 20),
    ),
}
