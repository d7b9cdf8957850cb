"""What the figures of chapter 16 are tried with."""

from softlookup_course import figures

GUESTS = {"Ada": ([0, 1, 5], 11), "Ben": ([2], 3), "Cleo": ([0, 3], 8)}
STEPS = [
    ({"Ada": [0, 1], "Ben": [2, 3]}, {"Ada": 8, "Ben": 8}),
    ({"Ada": [0, 1, 3]}, {"Ada": 1}),
    ({"Ben": [2, 0, 1]}, {"Ben": 5}),
]
STATES = {
    "waiting": ["Dan"],
    "running": ["Ada", "Cleo"],
    "finished": ["Ben"],
    "refused": [],
    "cancelled": ["Finn"],
    "failed": [],
}
SERVING = {
    "batch_limits": (
        figures.batch_limits,
        ([1, 4, 16], {"no cache": ([220.0, 880.0, 3500.0], 66000.0), "long": ([200.0, 500.0, 900.0], 1600.0)}),
    ),
    "paged_memory": (figures.paged_memory, (GUESTS, 7, 4)),
    "preemption": (figures.preemption, (STEPS, 4, 4)),
    "serving_loop": (figures.serving_loop, (STATES,)),
}
