"""Tasks on which requests are computed when: admission, batches that wait or do not, a scheduler's step, streaming."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import graded
from softlookup_judge.chapters.draws import Rng

Config = dict[str, int]


def _admit_cases(rng: Rng) -> list[Case]:
    def config(layers: int, heads: int, kv_heads: int, width: int) -> Config:
        return {
            "num_hidden_layers": layers,
            "num_attention_heads": heads,
            "num_key_value_heads": kv_heads,
            "head_dim": width,
        }

    llama, small = config(32, 32, 8, 128), config(3, 6, 2, 5)
    random_requests = [[int(a), int(b)] for a, b in rng.integers(100, 900, (40, 2))]
    giga = 10**9
    cases = {
        "8 billion parameters on 24 GB": (24 * giga, 16 * giga, 2 * giga, llama, 2, 16, [[1000, 300]] * 60),
        "80 GB, prompts of several lengths": (80 * giga, 16 * giga, 8 * giga, llama, 2, 16, random_requests * 12),
        "a small pool: the third does not fit, the fourth would": (
            30_000,
            12_000,
            1_000,
            small,
            2,
            4,
            [[30, 11], [40, 20], [60, 9], [2, 3]],
        ),
        "blocks are rounded up for each request": (13_000, 2_000, 600, small, 2, 8, [[9, 8], [9, 8], [9, 8], [9, 8]]),
        "every request just fills its blocks": (20_480, 1_280, 0, small, 4, 4, [[5, 3], [10, 6], [20, 4], [24, 8]]),
        "the first is too long": (9_000, 1_000, 500, small, 2, 4, [[90, 10], [3, 4]]),
        "the second lacks one block": (6_300, 1_000, 500, small, 2, 4, [[20, 8], [12, 4], [2, 2]]),
        "nobody waits": (9_000, 1_000, 500, small, 2, 4, []),
    }
    return [Case(label, args) for label, args in cases.items()]


@graded("16.admit", _admit_cases, frame="text")
def _admit(
    memory: int, weights: int, reserve: int, config: Config, bytes_each: int, block_size: int, queue: list[list[int]]
) -> Any:
    """By laying blocks into what is left until none fits, and taking them away one token at a time."""
    vectors = config["num_hidden_layers"] * config["num_key_value_heads"]
    block = len(("key", "value")) * vectors * config["head_dim"] * bytes_each * block_size
    blocks = divmod(memory - (weights + reserve), block)[0]
    blocks_used = 0
    for admitted, (prompt, new) in enumerate(queue):
        blocks_used += len(range(0, prompt + new, block_size))
        if blocks_used > blocks:
            return blocks, admitted
    return blocks, len(queue)


def _batch_cases(rng: Rng) -> list[Case]:
    lengths = [int(n) for n in rng.integers(2, 12, 7)]
    cases = {
        "one long text among short ones": ([0, 0, 0, 0, 0], [9, 2, 3, 4, 2], 2),
        "somebody arrives a step late": ([0, 1, 1, 6], [5, 2, 7, 3], 2),
        "the server stands still for a while": ([0, 0, 20, 21, 22], [3, 6, 2, 5, 4], 3),
        "more places than requests": ([0, 2, 3], [4, 4, 1], 8),
        "one place": ([0, 0, 5], [4, 3, 2], 1),
        "a batch that is never full": ([0, 4, 8], [6, 5, 2], 3),
        "drawn": ([0, 0, 1, 2, 2, 5, 30], lengths, 3),
        "three hundred requests": (np.sort(rng.integers(0, 90, 300)).tolist(), rng.integers(1, 40, 300).tolist(), 33),
        "long texts": ([0, 3, 500], [700, 300, 260], 2),
    }
    return [Case(label, args) for label, args in cases.items()]


@graded("16.batches", _batch_cases, frame="text")
def _batches(arrivals: list[int], lengths: list[int], slots: int) -> Any:
    """Step by step, twice: who may enter is the only difference."""
    ends = []
    for waits_for_all in (True, False):
        remaining, waiting, finished, step = list(lengths), list(range(len(lengths))), [0] * len(lengths), 0
        running: list[int] = []
        while waiting or running:
            if not (waits_for_all and running):
                room = slots - len(running)
                entering = [request for request in waiting if arrivals[request] <= step][:room]
                running += entering
                waiting = [request for request in waiting if request not in entering]
            step += 1
            for request in running:
                remaining[request] -= 1
                if remaining[request] == 0:
                    finished[request] = step
            running = [request for request in running if remaining[request] > 0]
        ends.append(finished)
    return ends[0], ends[1]


def _schedule_cases(rng: Rng) -> list[Case]:
    long = int(rng.integers(40, 90))
    cases = {
        "three decode, one begins": ([[9, 12], [5, 5], [7, 30]], [40], 16, 8),
        "a prefill in progress goes on before anyone begins": ([[50, 20], [6, 9]], [10, 30], 20, 8),
        "two prefills in progress": ([[30, 25], [40, 8], [6, 7]], [9], 32, 8),
        "the prompt ends within the budget, and the next begins": ([[12, 10], [3, 4]], [5, 2, 60], 24, 8),
        "a limit on running requests": ([[4, 6], [5, 5]], [3, 8, 2], 64, 3),
        "no place is free": ([[4, 6], [20, 10]], [3], 64, 2),
        "more decode than the budget holds": ([[4, 6], [5, 8], [2, 3], [9, 9]], [7], 3, 8),
        "a short prompt behind a long one": ([], [long, 3, 5], 32, 4),
        "all prompts fit": ([[8, 9]], [3, 5, 2], 64, 6),
        "nobody is running": ([], [12, 30], 20, 4),
        "nobody waits": ([[30, 4], [5, 6]], [], 16, 4),
        "decoding requests behind a prefill": ([[60, 10], [5, 9], [8, 8]], [20], 12, 8),
        "a prefill between two that decode": ([[5, 9], [60, 10], [8, 8]], [20], 12, 8),
        "one place for four": ([[4, 6], [30, 28]], [3, 2, 1, 4], 40, 3),
        "one place left": ([[7, 7], [80, 79]], [11, 4], 9, 3),
        "hundreds of requests": (
            [[70, done] for done in rng.integers(0, 140, 290).tolist()],
            rng.integers(1, 400, 70).tolist(),
            16_384,
            330,
        ),
        "the last token of a prompt is no decoding": ([[10, 9], [5, 6]], [4], 1, 8),
    }
    return [
        Case(label, ([[prompt, min(prompt, done)] for prompt, done in running], *limits))
        for label, (running, *limits) in cases.items()
    ]


@graded("16.schedule", _schedule_cases, frame="text")
def _schedule(running: list[list[int]], waiting: list[int], budget: int, most: int) -> Any:
    """By giving out the budget token by token, to the first who may have one more."""
    entering = waiting[: max(0, most - len(running))]
    wants = [(1 if done >= prompt else prompt - done) for prompt, done in running] + entering
    decoding = [i for i, (prompt, done) in enumerate(running) if done >= prompt]
    order = decoding + [i for i in range(len(wants)) if i not in decoding]
    n_tokens = [0] * (len(running) + len(waiting))
    queue = [i for i in order for _ in range(wants[i])]
    for i in queue[:budget]:
        n_tokens[i] += 1
    return n_tokens[: len(running)], n_tokens[len(running) :]


def _stream_cases(rng: Rng) -> list[Case]:
    letters = "".join("abcdefg"[i] for i in rng.integers(0, 7, 9))
    many = ["abcdefg"[i] for i in rng.integers(0, 7, 400)]
    cases = {
        "a stop string in three pieces": (["The end", "\n\nUs", "er", ": more"], ["\n\nUser:"]),
        "what looks like a stop string is none": (["a\n", "\nUse it", "."], ["\n\nUser:"]),
        "the stop string begins again": (["--", "-", "END", " x"], ["--END"]),
        "two stop strings, the earlier one counts": (["one ", "## two END", " three"], ["END", "##"]),
        "within one piece": (["Yes. STOP No."], ["STOP"]),
        "no stop string": ([letters[:4], letters[4:]], []),
        "the end of the text is the beginning of a stop string": (["go", " on<", "|e"], ["<|end|>"]),
        "the whole text is a stop string": (["<|", "end|>"], ["<|end|>"]),
        "two stop strings, one begins inside the other": (["x a", "b", "c", "d y"], ["abce", "bcd"]),
        "a single letter": (["He", "llo; ", "there; "], [";"]),
        "the second of the list begins in one piece and ends in another": (["a #", "# b"], ["END", "##"]),
        "a stop string of 40 letters": (
            [*"ab" * 25, *"abc" * 13, "a", "bc", "abd", "end"],
            ["abc" * 13 + "d", "ab" * 30],
        ),
        "hundreds of pieces, fifty stop strings": (many, [f"{n}</s>" for n in range(49)] + ["".join(many[300:307])]),
        "the longer stop string begins first, the shorter one is complete first": (["xabc", "d"], ["abcd", "bc"]),
        "both in one piece: the one that begins first": (["x", "abcd"], ["bc", "abcd"]),
        "a piece without letters": (["a#", "", "#", " b"], ["## "]),
        "the second of the list only begins": (["a #", " b E", "N", "d"], ["##", "END"]),
    }
    return [Case(label, args) for label, args in cases.items()]


@graded("16.stream", _stream_cases, frame="text")
def _stream(pieces: list[str], stops: list[str]) -> list[str]:
    """Letter by letter: whether a stop string stands at it, or could once more is written."""
    sent, outputs = 0, []
    for count in range(1, len(pieces) + 1):
        text = "".join(pieces[:count])
        unsent = range(sent, len(text))
        stop_starts = [at for at in unsent if any(text.startswith(stop, at) for stop in stops)]
        open_ends = [at for at in unsent if count < len(pieces) and any(stop.startswith(text[at:]) for stop in stops)]
        end = (stop_starts or open_ends or [len(text)])[0]
        outputs.append(text[sent:end])
        sent = end
        if stop_starts:
            break
    return outputs


Requests = list[list[float]]


def _simulate_cases(rng: Rng) -> list[Case]:
    # Nine digits: no step ends at an arrival, where rounding would decide who is there.
    arrivals = np.cumsum(rng.uniform(0.0, 0.3, 7)).round(9).tolist()
    hundred = (0.07 * np.arange(100) + rng.uniform(0.0, 0.01, 100)).round(9).tolist()
    random_requests = [
        [t, int(p), int(n)] for t, p, n in zip(arrivals, rng.integers(3, 40, 7), rng.integers(1, 9, 7), strict=True)
    ]
    cases: dict[str, tuple[Any, ...]] = {
        "two requests, one step apart": ([[0.0, 10, 3], [0.05, 6, 2]], 32, 4, 0.02, 0.004),
        "a prompt in chunks beside one that decodes": ([[0.0, 4, 8], [0.03, 50, 3]], 16, 4, 0.02, 0.001),
        "the server stands still in between": ([[0.5, 8, 2], [3.0, 5, 4], [3.01, 9, 1]], 12, 4, 0.03, 0.002),
        "two places for four": ([[0.0, 6, 4], [0.0, 5, 2], [0.0, 7, 3], [0.01, 3, 5]], 24, 2, 0.02, 0.003),
        "more requests than the budget holds": (
            [[0.0, 2, 5], [0.0, 1, 4], [0.0, 3, 3], [0.0, 2, 6], [0.1, 1, 2]],
            3,
            5,
            0.01,
            0.002,
        ),
        "a first chunk of one token": ([[0.0, 7, 4], [0.0, 5, 2], [0.2, 6, 3]], 8, 4, 0.02, 0.001),
        "one token each": ([[0.0, 9, 1], [0.0, 20, 1], [0.4, 3, 1]], 16, 3, 0.05, 0.002),
        "seven that were drawn": (random_requests, 20, 3, 0.025, 0.0015),
        "a hundred requests": (
            [[t, int(p), int(n)] for t, (p, n) in zip(hundred, rng.integers(1, 60, (100, 2)), strict=True)],
            64,
            17,
            0.0113,
            0.00031,
        ),
        "a long prompt and a long answer": ([[0.0, 700, 300], [0.004, 9, 2]], 512, 4, 0.0113, 0.00031),
        "one place, free before the next arrival": ([[0.0, 6, 2], [2.0, 4, 3], [2.01, 5, 1]], 16, 1, 0.02, 0.002),
    }
    return [Case(label, args) for label, args in cases.items()]


@graded("16.simulate", _simulate_cases, frame="plain")
def _simulate(requests: Requests, budget: int, most: int, fixed: float, each: float) -> Any:
    """Every request by its own clock: what it lacks, and one list of all that happens."""
    lacking = [[int(prompt), int(new) - 1] for _, prompt, new in requests]
    inside: list[int] = []
    happened: list[dict[str, float]] = [{} for _ in requests]
    clock = 0.0
    while any("complete" not in times for times in happened):
        there = [i for i, (arrival, *_) in enumerate(requests) if arrival <= clock and "complete" not in happened[i]]
        if not there:
            clock = min(arrival for i, (arrival, *_) in enumerate(requests) if not happened[i])
            continue
        entering = [i for i in there if i not in inside][: most - len(inside)]
        writing = [i for i in inside if lacking[i][0] == 0]
        wishes = [i for i in writing] + [i for i in inside + entering if i not in writing for _ in range(lacking[i][0])]
        computed = wishes[:budget]
        clock += fixed + each * len(computed)
        inside += [i for i in entering if i in computed]
        for i in dict.fromkeys(computed):
            prompt, new = lacking[i]
            lacking[i] = [prompt - computed.count(i), new] if prompt else [0, new - 1]
            if prompt and lacking[i][0] == 0:
                happened[i]["first"] = clock
            if lacking[i][0] == 0 and lacking[i][1] <= 0:
                happened[i]["complete"] = clock
                inside.remove(i)
    return tuple([times[what] - requests[i][0] for i, times in enumerate(happened)] for what in ("first", "complete"))
