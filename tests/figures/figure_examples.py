"""What each figure is tried with: its arguments."""

import numpy as np

from softlookup import reference
from softlookup_course.figures.page import grid

RNG = np.random.default_rng(7)
Q, K, V = RNG.normal(size=(3, 4, 3))
WORDS = ["a", "word", "needs", "company"]
WIDTHS = 2 ** np.arange(2, 8)
INPUT = np.linspace(-3, 3, 61)
CONTEXTS = 10.0 ** np.arange(5)
RECORD = {
    "warmups": [0, 10],
    "peaks": [0.001, 0.01],
    "runs": [
        {"warmup": w, "peak": p, "seed": s, "loss": None if (w, p, s) == (0, 0.01, 2) else 1.0 + w * p + s, "curve": []}
        for w in (0, 10)
        for p in (0.001, 0.01)
        for s in (1, 2)
    ],
}
TOKENS = ["_la", "_l'", "_le", "_une"]
CHAIN = [("x = A + B", ("A", "B"), ("x",)), ("E = x * C", ("x", "C"), ("E",))]
LONG = {
    "lengths": [256, 1024, 4096],
    "seconds": {
        "full": [0.001, 0.02, None],
        "tiled": [0.002, 0.02, 0.3],
        "torch": [0.0005, 0.004, 0.05],
        "local": [0.001, 0.004, 0.016],
        "linear": [0.001, 0.002, 0.004],
    },
    "bytes": {
        "full": [5e5, 1e7, None],
        "tiled": [2e5, 9e5, 3e6],
        "torch": [4096, 0, 4096],
        "local": [1e5, 4e5, 2e6],
        "linear": [0, 1e5, 4e5],
    },
}
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
TURNS = 100.0 ** (1 - np.arange(8) / 4)
FIGURES = {
    "pipeline": (),
    "accepted_wrong": ([("one", 40, 20, 0), ("another", 30, 3, 1)],),
    "stages": (Q, K, V, WORDS),
    "variance": (WIDTHS, WIDTHS * 1.1, np.full(6, 1.1)),
    "query_and_keys": (WORDS, Q, K, 3),
    "gradient_size": (2.0 ** np.arange(6), np.exp(-np.arange(6.0)), np.exp(-2 * np.arange(6.0)), {"here": 4.0}),
    "weighted_mean": ([(["a", "b", "c"], grid("0 0; 2 0; 0 2"), np.array([0.2, 0.5, 0.3]))], ("east", "north")),
    "gradient_flow": (WORDS, ["one", "two", "three"], (Q, K, V), V[::-1]),
    "score_memory": (4.0 ** np.arange(2, 6), 64, 4),
    "step_cost": (2 ** np.arange(6, 12), 3 + 0.001 * 2 ** np.arange(6, 12), 3 + 0.1 * 2 ** np.arange(6, 12)),
    "merging": ([["▁", "a", "b", "c"], ["▁", "ab", "c"], ["▁ab", "c"]],),
    "one_hot_product": (WORDS, [1, 3, 1], np.arange(8.0).reshape(4, 2)),
    "vector_lengths": (WIDTHS, np.ones(6), WIDTHS**0.5, (WIDTHS / 2) ** 0.5),
    "vocabulary_size": ([90, 500, 4000], [52.0, 22.0, 12.0], 54.0, 11.5, 192),
    "lookup_table": (["b", "d"], ["a", "b", "c"], ["1", "2", "3"], grid("0 1 0; 0 0 0"), ["2", "nothing"]),
    "temperature_curves": (["a", "b", "c"], np.logspace(-1, 1, 9), np.linspace([0.9, 0.1, 0], [0.4, 0.3, 0.3], 9)),
    "common_direction": ([("a", "as"), ("b", "bs"), ("c", "cs")], RNG.normal(size=(3, 5)), RNG.normal(size=(3, 5)) + 3),
    "signal_paths": (WORDS,),
    "gradient_reach": (
        np.arange(1, 41),
        {"RNN": 0.7 ** np.arange(40), "GRU": 0.9 ** np.arange(40), "attention": np.ones(40)},
    ),
    "layer_operations": (
        2 ** np.arange(4, 12),
        64,
        {"LSTM": np.full(8, 16.0 * 64**2), "attention": 8.0 * 64**2 + 4 * 64 * 2 ** np.arange(4, 12)},
        {"LSTM": 128},
    ),
    "many_hands": (
        10.0 ** np.arange(7),
        {"RNN": np.maximum(1e6 / 10.0 ** np.arange(7), 500), "attention": np.maximum(3e6 / 10.0 ** np.arange(7), 40)},
    ),
    "layer_times": (2 ** np.arange(4, 9), {"LSTM": 2.0 ** np.arange(1, 6), "attention": 0.5 * 4.0 ** np.arange(5)}),
    "logit_lens": (WORDS, np.linspace(0, 0.9, 16).reshape(4, 4)),
    "comparison": (grid("1 2; 3 4"), grid("1 2; 3.5 4"), "M"),
    "open_product": (grid("2 0 1; 1 3 0"), grid("0 1; 1 0; 1 1"), ("the", "cat"), ("cat", "sat")),
    "verdict_rows": ({"one subject": (3, 1, 2), "a long subject": (12, 0, 0)}, ("right", "so-so", "wrong")),
    "blending": (2, 4, 4, 3),
    "cost_by_heads": ([1, 2, 4], [64, 64, 64], [512, 512, 512], [100, 200, 400]),
    "head_groups": (),
    "head_maps": (reference.attention_weights(np.stack([Q, K]), np.stack([K, Q])), WORDS, ["head 0", "head 1"]),
    "heads_needed": (np.array([[0.1, 0.6], [0.2, 0.3]]), np.array([[0.001, 0.0], [0.01, -0.002]]), 0.12),
    "input_slices": (4, 2, 2),
    "splitting": (),
    "mask_panels": (
        [np.tri(5) > 0] * 3,
        ["triu(1)", "2", "3"],
        *[[["un", "chien", "noir", "court", "vite"], None, None]] * 2,
    ),
    "cross_map": (np.eye(3)[:2], ["un", "chien"], ["a", "black", "dog"], "head 0"),
    "decoder_parts": (),
    "stretched": (np.array([3.0, 1.0, 2.0]), np.array([1.0, 5.0, -2.0])),
    "chain": (2.0, 3.0, 1.0),
    "surprise": ({"sure": 1.0, "one in ten": 0.1},),
    "reading_order": (2, 3),
    "position_stripes": (reference.sinusoidal(40, 16),),
    "clock_hands": (reference.sinusoidal(8, 8),),
    "position_ways": (),
    "distance_curve": ({8: reference.sinusoidal(21, 8) @ reference.sinusoidal(1, 8)[0]},),
    "distance_terms": ({"T5": {"": np.array([0.1, 0.9, 0.0])}, "Shaw": {"one": np.zeros(3), "two": np.ones(3)}}, 2),
    "latency_curves": (
        [0.2, 1.2],
        {"first": {"p50": [1.0, 9.0], "p95": [2.0, 20.0]}},
        {"first": {"p50": [1.1, 8.0], "p95": [2.2, 30.0]}},
    ),
    "layer_maps": ({"scores": np.eye(3, 4), "shares": np.ones((3, 4)) / 2}, ["0", "1", "2", "3"], "head", "scores"),
    "layers_by_word": (np.eye(4, 3), ["a", "small", "boat"], "shares"),
    "weight_and_effect": (np.eye(3, 2), np.full((3, 2), 0.2), {(0, 0): "head 0.0", (2, 1): "head 2.1"}, "France"),
    "feature_directions": ({"dense": np.eye(3, 2), "sparse": RNG.normal(size=(3, 2))},),
    "relative_grids": (
        {"j - i": np.subtract.outer(-np.arange(4), -np.arange(4)), "ALiBi": reference.alibi_bias(8, 4, 4)[0]},
    ),
    "first_token": ([[0.1, 0.9], [0.6, 0.5]], {"whole": 40.0, "window": 90.0}),
    "phase_moves": (200.0, {"products": (780.0, 1.0), "sums": (0.2, 0.2)}),
    "rotary_pairs": (8, 5),
    "latent_scores": (),
    "changed_parts": (
        {"keys": {"memory": ["latent", "few bits"]}, "network": {"work": ["experts"]}},
        ["memory", "work"],
        ["latent"],
    ),
    "ring_slots": (4, 2, 6),
    "block_tables": ({"A": [4, 0], "B": [4, 2, 1]}, [6, 9], 5, 4),
    "draft_round": ([0.6, 0.3, 0.1], [0.4, 0.1, 0.5]),
    "turned_pairs": (np.array([2.0, 1.0]), np.array([1.0, 1.5]), 0.5, ((0, 2), (3, 5))),
    "beyond_length": (
        8,
        4,
        {"rotary": {"curve": [[1.0, 0.9, 0.2, 0.1], [1.0, 0.8, 0.3, 0.1]]}},
        {"alibi": {"curve": [[1.0, 1.0, 1.1, 1.1]]}, "rotary": {"curve": [[0.8, 1.5, 3.0, 4.0]]}},
    ),
    "work_by_context": (CONTEXTS, 13e9, 5e5 * CONTEXTS),
    "memory_by_part": (
        {
            "a long name": {"weights": 13e9, "gradients": 13e9, "states": 80e9, "activations": 0.0},
            "short": {"weights": 13e9, "gradients": 0.0, "states": 0.0, "activations": 30e9},
        },
        [("80 GB", 80e9)],
    ),
    "layer_areas": (
        {
            "one": {"q": (8, 8), "k": (8, 2), "v": (8, 2), "output": (8, 8), "scores": (8, 8), "mix": (8, 8)}
            | {"gate": (8, 20), "up": (8, 20), "down": (20, 8)}
        },
        8,
    ),
    "product_passes": (2, 3, 5),
    "model_parts": (
        {
            "large": {"attention": 2e9, "network": 4e9, "output": 1e8, "table": 1e8},
            "small": {"attention": 3e7, "network": 6e7, "output": 0.0, "table": 4e7},
        },
        ("table",),
    ),
    "batch_machines": (
        {
            "dense layer": {
                "GPU": ([(1, 3e12), (64, 1.9e14)], [(1, 3.1e12), (64, 2e14)]),
                "a sheet": ([(1, 2e12), (64, 1.2e14)], []),
            },
            "attention": {
                "GPU": ([(1, 3e12), (64, 3e12)], [(1, 8e11), (64, 3e12)]),
                "a sheet": ([(1, 2e12), (64, 2e12)], []),
            },
        },
    ),
    "batches_under_roof": (
        (312e12, 2e12),
        {
            "s = 50": {"dense": [(1, 50.0), (8, 300.0)], "attention": [(1, 0.99), (8, 0.99)]},
            "s = 1000": {"dense": [(1, 670.0), (8, 1500.0)], "attention": [(1, 1.0), (8, 1.0)]},
        },
    ),
    "predicted_and_measured": (
        {
            "dense": {"writing": [(1, 1e10, 9e9), (64, 8e10, 5e10)]},
            "attention": {"writing": [(1, 1e10, 4e9), (64, 1e10, 4e9)]},
        },
    ),
    "activations": (INPUT, {"ReLU": INPUT.clip(0), "GELU": INPUT / (1 + np.exp(-1.7 * INPUT))}, ["GELU"]),
    "drifting": (
        np.linspace([1.0, 0.9], [0.7, 0.6], 5).T,
        np.ones((2, 5)),
        np.linspace(0.1, 0.4, 5),
        np.linspace(1, 0.3, 5),
    ),
    "gradient_by_layer": ({"post-LN": 2.0 ** np.arange(6), "pre-LN": np.ones(6), "no road": 9.0 ** np.arange(6)},),
    "pre_post_norm": (),
    "norm_runs": (
        {
            "rates": [0.001, 0.003],
            "warmups": [0, 10],
            "depths": [1, 2],
            "guessing": 2.0,
            "runs": [
                {"rate": rate, "warmup": warmup, "depth": depth, "order": order, "loss": rate * 500 + depth + i}
                for rate in (0.001, 0.003)
                for warmup in (0, 10)
                for depth in (1, 2)
                for i, order in enumerate(("post", "pre"))
            ],
        },
    ),
    "norm_steps": (WORDS, [("x", RNG.normal(size=(4, 3))), ("y", RNG.normal(size=(4, 3)))]),
    "shifted_labels": (["<s>", "a", "dog", "</s>"], 1),
    "loss_stages": ({"first": [[10, 4.0], [20, 2.0]], "second": [[5, 1.9], [9, 1.5]]},),
    "learning_curves": (
        {
            "one": {"training": [[1, 3.0], [5, 1.0]], "validation": [[1, 3.0], [5, 1.2]]},
            "two": {"training": [[1, 3.0], [5, 2.0]], "validation": [[1, 3.0], [5, 2.5]]},
            "three": {"reported": [[1, 3.0], [5, 0.1]]},
        },
    ),
    "rate_curves": (np.arange(1, 50), {"D = 4": np.arange(49.0), "D = 9": np.arange(49.0) ** 0.5}),
    "adam_steps": ([4.0, 0.5, -2.0], [1.0, 0.75, 0.25]),
    "clipped": ([2.0, 1.0], 1.0),
    "decisions": (
        [2.1, 2.2],
        {"size": {"half": [2.4, 2.5], "twice": [2.15, 2.05]}, "weights": {"large": [4.0, 4.1]}},
        2.6,
    ),
    "smoothing": (100, 0.1),
    "memory_bars": ({"float32": {"weights": 4, "Adam": 8, "copy": 0}, "half": {"weights": 2, "Adam": 8, "copy": 4}},),
    "peaks": (RECORD,),
    "top_p": (TOKENS, [0.5, 0.2, 0.15, 0.05], 0.75),
    "next_tokens": (
        ["a dog", "the dog"],
        {"trained": [{"runs": 0.4}, {"sat": 0.3}], "bare": [{"is": 0.2}, {"is": 0.2}]},
    ),
    "passes": (2, 3),
    "reading_times": ({"in pieces": ([1, 4, 16], [4.0, 1.0, 0.3]), "side by side": ([1, 2, 8], [4.0, 2.2, 0.7])},),
    "sharpened": (TOKENS, (0.5, 1.0), np.array([[0.8, 0.1, 0.05, 0.0], [0.5, 0.2, 0.15, 0.05]])),
    "roofline": ({"a, short": (312e12, 2039e9)}, [("add", 1 / 12), ("fused", 0.15), ("big", 900)]),
    "measured_roof": (
        {"float32": (80e9, 20e9), "float64": (40e9, 20e9)},
        {"float32": [(0.1, 1.9e9), (90.0, 79e9)], "float64": [(0.1, 2e9), (50.0, 30e9)]},
    ),
    "loop_passes": (
        [("two", CHAIN), ("one", [("E = (A + B) * C", ("A", "B", "C"), ("E",))])],
        ("A", "B", "C", "x", "E"),
    ),
    "kitchen": ({"A": 64, "B": 64}, {"A B": 64}, 128),
    "moved_floor": (
        {"plain": {"small": (2e7, 9e-4), "large": (4e8, 1e-3)}, "graph": {"small": (2e7, 5e-5), "large": (4e8, 2e-4)}},
        {"plain": 9e-4, "graph": 5e-5},
        3e12,
    ),
    "launch_floor": ({"GPU": [(1e-6, 1.1e-5), (9e-5, 1e-4)], "CPU": [(1e-5, 1.2e-5)]}, {"GPU": 1e-5, "CPU": 0.0}),
    "machine_times": (["1 x 64", "64 x 64"], {"a": [(0.01, 0.012), (0.02, 0.05)], "b": [(4e-5, None), (9e-7, None)]}),
    "program_order": ({"rows": [(0, 0), (0, 1), (0, 2)], "groups": [(0, 0), (1, 0), (0, 1)]}, (3, 3)),
    "sectors": ([1, 8],),
    "warps": (1024, 4, 32, 4),
    "product_box": ([1, 8, 64, 512], [1e-7, 8e-7, 6.4e-6, 5.1e-5], [1e-6, 1e-6, 1.1e-6, 2e-6]),
    "prediction_errors": (
        {
            "stream": [("add", 0.08, 1.02, 0.97, 1.1), ("scale", 0.12, 1.12, 1.1, 1.2)],
            "product": [("2 x 8 x 8", 1.0, 1.9, 1.8, 2.1)],
        },
    ),
    "stream_sizes": ([3 << 12, 3 << 16, 3 << 20, 3 << 24], [12e9, 50e9, 60e9, 20e9], 21e9, 32 << 20),
    "wins_by_order": ([0.0, 2.0], [[0.6, 0.6, 0.6], [0.9, 0.55, 0.2]], [0.45, 0.7]),
    "cut_up": (RNG.random((4, 6)), 2),
    "pair_grid": (RNG.random((2, 3, 6, 6)), ["a red dog", "a blue cat"], np.array([[0.8, -0.1], [0.3, 0.6]])),
    "shares_by_arm": ({"one": [97.0, 98.0, 96.5], "another": [91.0, 90.0, 93.0]},),
    "occlusion": ([0, 2, 4], {"map": [98, 60, 20], "at random": [98, 90, 70]}),
    "long_attention": (LONG,),
    "tile_flow": (4096, 4096, 64, 128),
    "batch_limits": (
        [1, 4, 16],
        {"no cache": ([220.0, 880.0, 3500.0], 66000.0), "long": ([200.0, 500.0, 900.0], 1600.0)},
    ),
    "paged_memory": (GUESTS, 7, 4),
    "preemption": (STEPS, 4, 4),
    "serving_loop": (STATES,),
    "row_of_children": (["The", "cat", "says", "it"], 1, 3),
    "student_path": (),
    "marked_tables": ({"X": np.eye(2), "Y": np.ones((2, 3))}, {"X": np.eye(2) > 0}),
    "gains_by_task": (["one", "two"], {"as printed": np.array([9.0, -1]), "again": np.array([-1.0, 0])}, "one"),
    "teacher_forcing": (["start", "a", "red", "cat"],),
    "chapters": (
        {0: "First", 1: "Second", 2: "Third", 90: "Last"},
        {0: (0, 0), 1: (0, 1), 2: (3, 1), 90: (3, 3)},
        [(1, 0, True), (2, 0, True), (90, 2, False), (90, 1, True)],
        [0, 1],
    ),
    "recall_curves": ([4, 16, 64], {"adds": [0.5, 0.6, 0.4], "erases first": [1, 0.9, 0.4]}, 16),
    "memory_answers": (
        [("a", 1.0), ("b", 3.0), ("a", 5.0)],
        {"sum": np.array([[1, 0], [1, 3], [6, 3]]), "delta": np.array([[1, 0], [1, 3], [5, 3]])},
    ),
    "chosen_keys": ([0.6, 0.2, 0.0, 1.2], [True, True, True, False], {"masked first": [0, 1], "chosen first": [3, 0]}),
    "singular_values": ({"before": [0.9, 0.1, 0.0], "after": [1.1, 0.9, 0.2]},),
    "rotary_ramp": (TURNS, 1 - 0.75 * np.clip((np.log(32) - np.log(TURNS)) / np.log(32), 0, 1), (32.0, 1.0)),
    "latent_queries": ([1.0, 0.3], reference.rotary(np.full((4, 2), 0.5))),
}
