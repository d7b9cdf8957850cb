"""As `oracles`, for the figures that count operations and bytes, draw tokens, search and cut texts."""

import json
from functools import cache
from typing import Any

import numpy as np
from book_browser import ROOT
from oracles import Oracle, near, widget_state
from oracles_changed import compared_layers, glanced
from oracles_patching import patched_passes
from oracles_routed import routed_token
from oracles_slides import pressed_keys

from softlookup import roofline as rl
from softlookup.reference import grpo_path
from softlookup.roofline import config_json
from softlookup.serving import Guest, timeline
from softlookup.text import BytePairTokenizer, CharacterTokenizer, Vocabulary, WordTokenizer
from softlookup_course.widgets import (
    Learned,
    answer_shift,
    beam_tree,
    benchmark_luck,
    cache_growth,
    config_reader,
    cooks_and_van,
    cost_switches,
    kernel_player,
    loss_detective,
    pipeline_chart,
    rank_player,
    rate_explorer,
    roofline_explorer,
    sampling_explorer,
    score_spread,
    sharded_memory,
    tensor_parallel_cut,
    training_watch,
    whisper_row,
    work_and_bytes,
)
from softlookup_course.widgets import batching_explorer as batching
from softlookup_course.widgets import memory_explorer as memory
from softlookup_course.widgets.played_kernels import KERNELS
from softlookup_course.widgets.played_programs import PROGRAMS
from softlookup_course.widgets.tokenizer import CUTS, tokens_of

FASTER = {"faster_units": "computing", "faster_memory": "moving"}
COUNTING, INFERENCE, SERVING = "book/12_counting.html", "book/10_inference.html", "book/16_serving.html"
MANY_DEVICES = "book/19_many_devices.html"


@cache
def measured(name: str) -> dict[str, Any]:
    return json.loads((ROOT / "book" / "measured" / f"{name}.json").read_text(encoding="utf-8"))


def batching_explorer(shown: dict[str, Any]) -> None:
    choices = shown["asked"]
    batch, length = batching.BATCHES[int(choices["batch"])], batching.LENGTHS[int(choices["length"])]
    stage = {"writing": batching.WRITING, "reading": batching.READING}[choices["stage"]]
    expected = batching.describe(shown["model"], shown["machine"], stage, batch, length)
    for part in ("dense", "attention"):
        for key, value in expected[part].items():
            near(shown["cells"][f"{part}-{key}"], value, key)
    for key in ("weight_bytes", "cache_bytes", "flops", "seconds", "tokens_per_s", "ridge"):
        near(float(shown["data"][key.replace("_", "")]), expected[key], key)
    assert (shown["data"]["fits"] == "true") == expected["fits"]


def steps_of_a_layer(shown: dict[str, Any]) -> None:
    tokens = cooks_and_van.TOKENS[int(shown["asked"]["tokens"])]
    expected = cooks_and_van.step_seconds(shown["model"], shown["machine"], tokens)
    hidden = ("scores", "softmax", "mix") if shown["asked"]["fused"] else (cooks_and_van.FUSED,)
    expected = {step: times for step, times in expected.items() if step not in hidden}
    assert [step for step, _ in shown["times"]] == list(expected) and shown["step"] in expected
    for step, times in shown["times"]:
        near(times, expected[step], step, atol=0)
    near(float(shown["data"]["total"]), sum(map(max, expected.values())), "total", atol=0)
    counts = [int(shown["data"][name]) for name in ("flops", "bytes")]
    assert counts == cooks_and_van.counted(shown["model"], tokens)[shown["step"]]
    waiting = [cooks_and_van.STEPS[step][0] for step, (cooks, van) in expected.items() if van > cooks]
    assert ("every step waits" if len(waiting) == len(expected) else ", ".join(waiting)) in shown["words"]


def memory_explorer(shown: dict[str, Any]) -> None:
    choices = shown["asked"]
    batch, length = memory.BATCHES[int(choices["batch"])], memory.LENGTHS[int(choices["length"])]
    if choices["use"] == "writing":
        size = memory.NUMBER_BYTES[choices["numbers"]]
        expected = memory.describe_writing(shown["model"], batch, length, size)
        room = rl.hardware(shown["machine"].rpartition(", ")[0]).memory_bytes
        assert int(shown["data"]["most"]) == memory.largest_batch(shown["model"], room, length, size)
    else:
        options = {name: choices[name] for name in ("fused", "recompute")}
        expected = memory.describe_learning(shown["model"], batch, length, choices["recipe"], **options)
    expected = {name: value for name, value in expected.items() if value}
    assert shown["parts"] == expected | {"all": sum(expected.values())}
    memory_bytes = rl.hardware(shown["machine"].rpartition(", ")[0]).memory_bytes
    assert (shown["data"]["fits"] == "true") == (sum(expected.values()) <= memory_bytes)


def beam_search(shown: dict[str, Any]) -> None:
    searches = widget_state(INFERENCE, "searches")["searches"]
    search = next(search for search in searches if search["beams"] == shown["beams"])
    steps = search["steps"][: shown["step"]]
    how = [("ended" if beam["ended"] else "kept" if beam["kept"] else "dropped") for beam in steps[-1]]
    expected = [
        [beam["total"], what, ",".join(map(str, beam["ids"]))] for beam, what in zip(steps[-1], how, strict=True)
    ]
    assert shown["rows"] == expected
    ranked = beam_tree.finished(steps, float(shown["alpha"]))
    assert [ids for _, ids in shown["ends"]] == [",".join(map(str, ids)) for _, ids in ranked]
    near([score for score, _ in shown["ends"]], [score for score, _ in ranked], "scores")


def cache_in_steps(shown: dict[str, Any]) -> None:
    state, sizes = widget_state(INFERENCE, "prompt", "options"), shown["sizes"]
    names = {"layers": "n_layers", "heads": "n_kv_heads", "width": "head_width", "each": "each"}
    n, cached = len(state["tokens"]), shown["cached"] == "true"
    step = int(shown["data"]["step"])
    expected = cache_growth.describe(
        n, state["prompt"], step, cached=cached, **{names[name]: int(value) for name, value in sizes.items()}
    )
    assert {name: int(shown["data"][name]) for name in expected} == expected
    assert [shown["boxes"], shown["inside"]] == [expected["kept"], expected["through"]]


def config(shown: dict[str, Any]) -> None:
    read, data = config_json.QUOTED[shown["data"]["model"]], shown["data"]
    expected = config_reader.describe(read, int(data["length"]), int(shown["each"]))
    assert {name: int(data[name]) for name in expected} == expected
    assert shown["held"] == [rows.rows(int(data["length"])) for rows in config_json.cache_rows(read)]
    assert shown["parts"] == {name: number for name, number in config_reader.summarize(read)["parts"].items() if number}
    assert data["model"] in shown["words"]


def switches(shown: dict[str, Any]) -> None:
    llama, length = config_json.QUOTED["Llama 2 7B"], int(shown["data"]["length"])
    expected = cost_switches.describe(llama, shown["pressed"], length)
    assert {name: int(shown["data"][name]) for name in expected} == expected
    memory = expected["stored"] + expected["cache"]
    assert (shown["data"]["fits"] == "true") == (memory <= rl.hardware("H100 SXM").memory_bytes)
    seconds = (expected["met"] + expected["cache"]) / rl.hardware("H100 SXM").bandwidth_bytes_per_s
    assert f"at least {float(f'{1e3 * seconds:.2g}'):g} ms, the time of the bytes" in shown["said"]
    for change in shown["pressed"]:
        assert cost_switches.CHANGES[change] in shown["said"]


def sampling(shown: dict[str, Any]) -> None:
    choice, at = widget_state(INFERENCE, "choices")["choices"][shown["place"]], shown["sliders"]
    k, p = (None if at["k"] > 50 else int(at["k"])), (None if at["p"] == 1 else at["p"])
    expected = sampling_explorer.describe(choice["logits"], at["tau"], k, p, at["u"])
    near(shown["probabilities"], expected["probabilities"], "probabilities")
    assert [shown["kept"], shown["drawn"]] == [expected["kept"], expected["drawn"]]


def learning_rates(shown: dict[str, Any]) -> None:
    expected = rate_explorer.describe(int(shown["width"]), int(shown["warmup"]), int(shown["step"]))
    near([shown["rate"], shown["peak"]], [expected["rate"], expected["peak"]], "rate and peak")
    runs = [run for run in rate_explorer.curves(measured("schedules")) if run["peak"] == shown["chosen"]]
    assert shown["losses"] == [
        [run["warmup"], "no number" if run["loss"] is None else f"{run['loss']:.2f}"] for run in runs
    ]


def detective(shown: dict[str, Any]) -> None:
    runs = loss_detective.curves(measured("faults"), 1)
    culprit, suspect = loss_detective.CASES[shown["place"]], shown["suspect"]
    run, healthy = runs[culprit], runs["healthy"]
    first, end, training = run["validation"][0], run["validation"][-1], run["training"][-1]
    assert shown["clues"] == {"first": first, "end": end, "training": training, "healthy": healthy["validation"][-1]}
    if suspect is None:
        assert shown["verdict"] == {"right": "", "end": ""}
        return
    right = suspect == culprit
    end = run["true"][-1] if right else runs[suspect]["validation"][-1]
    assert (shown["verdict"]["right"] == "true", float(shown["verdict"]["end"])) == (right, end)
    assert loss_detective.SUSPECTS[suspect]["because" if right else "would"] in shown["said"]


def roof(shown: dict[str, Any]) -> None:
    record = measured("roofline")
    is_measured = shown["machine"] == record["machine"]
    machine = rl.measured_hardware(record) if is_measured else rl.hardware(shown["machine"])
    sizes = [shown["sizes"][letter] for letter in "BSNH"]
    expected = roofline_explorer.describe(machine, shown["numbers"], *sizes, shown["phase"])
    assert [[row[0], row[3]] for row in shown["rows"]] == [[t["name"], t["bound"]] for t in expected]
    for place, name in ((1, "flops"), (2, "bytes"), (4, "seconds")):
        near([row[place] for row in shown["rows"]], [t[name] for t in expected], name)


def work(shown: dict[str, Any]) -> None:
    machine = rl.hardware("A100 80GB SXM")
    doubled = {name: 2 if shown["doubled"][lane] else 1 for name, lane in FASTER.items()}
    expected = work_and_bytes.describe(machine, work_and_bytes.SIDES[shown["place"]], **doubled)
    assert [row[:3] for row in shown["rows"]] == [[row["name"], row["flops"], row["bytes"]] for row in expected]
    for place, name in enumerate(("computing", "moving", "least"), start=3):
        near([row[place] for row in shown["rows"]], [row[name] for row in expected], name, atol=0)
    printed = work_and_bytes.describe(machine, work_and_bytes.SIDES[shown["place"]])
    for (*_, bars), now, before in zip(shown["rows"], expected, printed, strict=True):
        near(bars, [100 * now[lane] / before["least"] for lane in ("moving", "computing")], "bars", atol=1e-3)
    waiting = [row["name"] for row in expected if row["moving"] >= row["computing"]]
    assert all(name in shown["said"].partition(" for memory")[0] for name in waiting)


@cache
def learned_texts() -> list[Learned]:
    """What the tokenizer's figure was built with."""
    made = []
    for record in widget_state("book/03_tokens_and_embeddings.html", "learned")["learned"]:
        tokenizer = BytePairTokenizer(record["alphabet"], [tuple(pair) for pair in record["merges"]])
        words = record["words"] and WordTokenizer(Vocabulary(record["words"]))
        characters = record["characters"] and CharacterTokenizer(Vocabulary(record["characters"]))
        titles = (record["title"], record["about"])
        made.append(Learned(*titles, tokenizer, record["times"], words or None, characters or None))
    return made


def cut_text(shown: dict[str, Any]) -> None:
    expected = tokens_of(learned_texts()[shown["source"]], shown["text"], CUTS[shown["cut"]], int(shown["merges"]))
    assert [tuple(pair) for pair in shown["tokens"]] == expected


def served(shown: dict[str, Any]) -> None:
    state, choices = widget_state(SERVING, "guests", "records"), shown["asked"]
    guests = [
        Guest(guest["name"], guest["arrives"] / 1e3, guest["prompt"], guest["answer"]) for guest in state["guests"]
    ]
    model, _, machine = state["about"].partition(" on ")
    records = {
        way: timeline.describe(guests, model, machine, way, int(choices["slots"]), int(choices["budget"]))
        for way in timeline.TITLES
    }
    assert shown["rows"] == {
        way: [record[name] for name in ("first", "pause", "total", "rate")] for way, record in records.items()
    }
    record, at = records[shown["way"]], shown["at"]
    steps = [row for begins, _, rows in record["steps"] if begins < at for row in rows]
    assert shown["steps"] == steps
    followed = choices["guest"]
    assert shown["faint"] == (sum(guest != int(followed) for _, guest, _ in steps) if followed else 0)
    if at < record["total"]:
        became = list(zip(guests, record["guests"], strict=True))
        waiting = [guest.name for guest, times in became if 1e3 * guest.arrival_s <= at < times["enters"]]
        running = [guest.name for guest, times in became if times["enters"] <= at < times["ends"]]
        complete = [guest.name for guest, times in became if times["ends"] <= at]
        for title, names in (("Waiting", waiting), ("Served", running), ("Complete", complete)):
            assert f"{title}: {', '.join(names) or 'nobody'}." in shown["said"]
        assert not followed or f"{guests[int(followed)].name} arrives at" in shown["said"]
        return
    assert (f"{guests[int(followed)].name} arrives at" if followed else "on average") in shown["said"]


@cache
def launches(name: str) -> dict[int, dict[str, Any]]:
    described = kernel_player.describe(KERNELS[name], rl.hardware("A100 80GB SXM"))
    return {launch["tile"]: launch for launch in described}


def kernel(shown: dict[str, Any]) -> None:
    launch, counts = launches(shown["kernel"])[shown["tile"]], shown["counts"]
    steps = [[[int(n) for n in part.split()] for part in line.split(";")] for line in launch["steps"]]
    past = steps[: shown["step"]]
    moves = [move for _, *moves in past for move in moves]
    assert shown["steps"] == len(steps)
    now = {"read": 0, "written": 0, "flops": sum(head[3] for head, *_ in past)}
    reached: list[set[tuple[int, int, int]]] = [set(), set()]
    for array, stored, moved, *sizes in moves:
        now["written" if stored else "read"] += moved
        for row, column, rows, columns in zip(*(sizes[place::4] for place in range(4)), strict=True):
            reached[stored] |= {(array, row + r, column + c) for r in range(rows) for c in range(columns)}
    assert {name: counts[name] for name in now} == now
    assert {name: counts[f"all-{name}"] for name in now} == {name: launch[name] for name in now}
    on_chip = [head[2] for head, *_ in past]
    assert (counts["now"], counts["most"], counts["all-most"]) == (
        on_chip[-1] if past else 0,
        max(on_chip, default=0),
        launch["chip"],
    )
    assert shown["cells"] == [len(reached[0] - reached[1]), len(reached[1])]
    state = launch["states"][past[-1][0][4]].split("|") if past else ["", ""]
    loaded = [part.split() for part in state[0].split(";") if part]
    computed = [part for part in state[1].split(";") if part]
    assert shown["tiles"] == sum(len(part) // 4 for part in loaded) + len(computed)
    near([float(shown["roof"][name]) for name in ("intensity", "rate")], [launch["intensity"], launch["rate"]], "roof")
    assert f"reads {launch['read']:,} bytes" in shown["words"] and shown["play"] == "Play"
    assert (f"{moves[-1][2]:,} bytes" in shown["said"]) if past and past[-1][1:] else shown["said"]


@cache
def rank_films(name: str) -> dict[int, dict[str, Any]]:
    return {film["world"]: film for film in rank_player.describe(PROGRAMS[name])}


def ranks(shown: dict[str, Any]) -> None:
    film, counts = rank_films(shown["program"])[int(shown["world"])], shown["counts"]
    size, step = int(shown["size"]), int(shown["step"])
    scale = size / film["unit"]
    assert shown["steps"] == film["steps"] and shown["play"] == "Play"
    rows = [tuple(map(int, line.split())) for line in film["messages"]]
    arrows = sorted([src, dst, size * n_bytes // film["unit"]] for at, src, dst, n_bytes in rows if at == step)
    assert sorted(shown["arrows"]) == arrows
    sent, links = [0] * film["world"], {(src, dst): 0 for _, src, dst, _ in rows}
    for at, src, dst, n_bytes in rows:
        sent[src] += n_bytes * (at <= step)
        links[src, dst] += n_bytes * (at <= step)
    near([counts["busiest"], counts["most"]], [scale * max(links.values()), scale * max(sent)], "bytes")
    near([counts["all-busiest"], counts["all-most"]], [scale * film["busiest"], scale * film["most"]], "bytes")
    assert (counts["count"], counts["all-count"]) == (sum(at <= step for at, *_ in rows), len(rows))
    seconds = film["times"][film["sizes"].index(size)][shown["link"]]
    assert (counts["time"], counts["all-time"]) == (seconds[step - 1] if step else 0, seconds[-1])
    have = [list(masks) for masks in film["start"]]
    at_first = sum(mask.bit_count() for masks in have for mask in masks)
    grown = 0
    for arrivals in film["arrivals"][:step]:
        grown = 0
        for rank, block, mask in (map(int, each.split()) for each in arrivals.split(";") if each):
            grown += mask.bit_count() - have[rank][block].bit_count()
            have[rank][block] = mask
    every = sum(mask.bit_count() for masks in have for mask in masks)
    assert shown["cells"] == [at_first, every - at_first - grown, grown]
    assert f"{film['busiest'] / film['unit']:.2f} times" in shown["words"]
    assert (f"Step {step}: {len(arrows)} message" in shown["said"]) if step else shown["said"]


def pipeline(shown: dict[str, Any]) -> None:
    run = pipeline_chart.describe(shown["schedule"], int(shown["stages"]), int(shown["micro"]))
    time, activations = float(shown["time"]), [int(count) for count in shown["held"].split()]
    assert shown["length"] == run["length"] and shown["play"] == "Play"
    assert f"{100 * run['idle']:.1f} % of the time is idle" in shown["words"]
    expected, alive = [], []
    for line in run["tasks"]:
        words = line.split()
        begins = zip(words[::2], map(float, words[1::2]), strict=True)
        tasks = [(name, begin, begin + {"F": 1, "B": 2}[name[0]]) for name, begin in begins]
        expected += [(name, begin, min(end, time) - begin) for name, begin, end in tasks if begin < time]
        begun = sum(name[0] == "F" and begin < time for name, begin, _ in tasks)
        alive.append(begun - sum(name[0] == "B" and end <= time for name, _, end in tasks))
    assert activations == (alive if time < run["length"] else run["alive"])
    assert [name for name, *_ in shown["tasks"]] == [name for name, *_ in expected]
    if time:
        unit = shown["idle"] / time
        first = shown["tasks"][0][1]
        near([x - first for _, x, _ in shown["tasks"]], [unit * begin for _, begin, _ in expected], "begin")
        near([width for *_, width in shown["tasks"]], [unit * length for *_, length in expected], "width")


def shards(shown: dict[str, Any]) -> None:
    stage, world = int(shown["stage"]), int(shown["world"])
    row = sharded_memory.describe(sharded_memory.PARAMETERS, stage, world)
    near([float(shown["total"]), float(shown["sent"])], [sum(row["bytes"]), row["sent"]], "bytes")
    assert shown["pressed"] == [stage] and f"Stage {stage}: {sharded_memory.STAGES[stage]}" in shown["words"]
    tall = 250 / 16
    for kind, each, is_cut in zip(sharded_memory.KINDS, (2, 2, 12), row["sharded"], strict=True):
        height = max(each * tall / world, 1.5) if is_cut else each * tall - 2
        near(shown["filled"][kind], [height] * min(world, 8), kind)


def cut_network(shown: dict[str, Any]) -> None:
    """All cells by numpy's products of slices; the bytes by the formulas of rings, for numbers of four bytes."""
    first, second = shown["first"], shown["second"]
    x, w_in, w_out = map(np.array, (tensor_parallel_cut.X, tensor_parallel_cut.W_IN, tensor_parallel_cut.W_OUT))
    z = x @ w_in
    halves = {"columns": (np.s_[:, :2], np.s_[:, 2:]), "rows": (np.s_[:1], np.s_[1:])}[first]
    out_halves = {"columns": (np.s_[:, :1], np.s_[:, 1:]), "rows": (np.s_[:2], np.s_[2:])}[second]
    for rank in (0, 1):
        columns, hidden = np.s_[:, 2 * rank : 2 * rank + 2], np.maximum(z, 0)
        used = x if first == "columns" else x[:, [rank]]
        h = hidden[columns] if second == "rows" else hidden
        expected = {"x": used, "in": w_in[halves[rank]], "z": used @ w_in[halves[rank]], "h": h}
        expected |= {"out": w_out[out_halves[rank]], "y": h @ w_out[out_halves[rank]]}
        for name, part in expected.items():
            assert shown["cells"][f"{name}{rank}"] == part.ravel().tolist(), (name, rank)
    rounds = {("columns", "rows"): 0, ("rows", "columns"): 2}.get((first, second), 1)
    ends = 2 if second == "rows" else 1
    assert shown["bytes"] == {"between": rounds * z.size * 4 // 2, "after": ends * x.size * 4 // 2}
    total = sum(shown["bytes"].values())
    assert int(shown["total"]) == total and f"each rank sends {total} bytes" in shown["words"]
    assert "Both ranks then have the rows (6, 4) and (7, 1)." in shown["words"] and shown["checked"] == [first, second]
    assert ("ReLU(2) + ReLU(−2) is 2, and ReLU(2 + (−2)) is 0" in shown["words"]) == (first == "rows")


def shifted(shown: dict[str, Any]) -> None:
    texts, reference, right, _ = zip(*answer_shift.ANSWERS, strict=True)
    index, at = int(shown["reward"]), int(shown["at"])
    rewards = np.array([right, answer_shift.flawed_rewards()][index])
    if shown["mode"] == "beta":
        weights = np.array(reference) * np.exp(rewards / answer_shift.BETAS[at - 1] if at else 0 * rewards)
        policy = weights / weights.sum()
        assert shown["shown"] == (f"{answer_shift.BETAS[at - 1]:g}" if at else "before")
    else:
        policy = grpo_path(reference, rewards, steps=at, rate=answer_shift.RATE)[-1]
        assert shown["shown"] == str(at)
    room = shown["room"]
    near(shown["bars"], [max(0.5, room * round(p, 6)) for p in policy], "probabilities")
    near(shown["before"][: len(texts)], [shown["room"] * p for p in reference], "probabilities before")
    mean = float(shown["words"].removeprefix("Mean reward ").split(",")[0])
    assert abs(mean - policy @ rewards) < 0.0051, shown["words"]
    assert f"“{texts[int(policy.argmax())]}”" in shown["words"]
    assert answer_shift.REWARDS[index] in shown["pressed"] and len(shown["pressed"]) == 2


def luck_of_benchmarks(shown: dict[str, Any]) -> None:
    way, gain, at = (int(shown[name]) for name in ("way", "gain", "at"))
    questions, true = benchmark_luck.QUESTIONS[at], benchmark_luck.GAINS[gain]
    worse, better = benchmark_luck.WORSE, benchmark_luck.WORSE + true
    apart = 1 - way * benchmark_luck.SHARED
    ahead, behind = (1 - apart) * true + apart * better * (1 - worse), apart * worse * (1 - better)
    deviation = np.sqrt((ahead + behind - true**2) / questions)
    leads = np.array(shown["leads"])
    assert (len(leads), shown["lost"], shown["ties"]) == (100, (leads < 0).sum(), (leads == 0).sum())
    wider = max(1.0, 100 / questions)  # a column holds leads up to so many points
    assert abs(leads.mean() - 100 * true) < 0.6 * wider and abs(leads.std() - 100 * deviation) < 0.7 * wider
    assert f"In {shown['lost']} of 100 benchmarks the worse model wins, in {shown['ties']} " in shown["words"]
    assert shown["words"].endswith(f"in truth it is +{100 * true:g}.") and shown["shown"] == f"{questions:,}"
    assert shown["pressed"] == [benchmark_luck.WAYS[way], f"{100 * true:g}"]


def fine_tuning(shown: dict[str, Any]) -> None:
    record = measured("after_pretraining")
    run = record["sft"][: int(shown["at"]) + 1]
    step = run[-1]
    assert (shown["run"], shown["shown"], shown["answers"]) == ("0", str(step["step"]), step["samples"])
    kinds = list(step["by_kind"])
    scores = "; ".join(f"{kind}: {step['by_kind'][kind]:.0%}" for kind in kinds)
    assert shown["words"].replace("\N{NO-BREAK SPACE}", "") == f"Step {step['step']}. {scores.capitalize()}."
    assert all(question in prompt for question, prompt in zip(shown["questions"], record["prompts"], strict=True))
    right = {text for prompt in record["prompts"] for text in training_watch.read_question(prompt)[1]}
    expected = [("✓", "right") if text in right else ("✗", "wrong") for text in step["samples"]]
    assert [tuple(verdict) for verdict in shown["verdicts"]] == expected
    fractions = [each["by_kind"][kind] for kind in kinds for each in run]
    near(shown["heights"], [26 + 150 * (1 - fraction) for fraction in fractions], "marks")


def spread_scores(shown: dict[str, Any]) -> None:
    run = score_spread.describe(int(shown["width"]))
    kinds = [run[name] for name in ("raw", "divided")]
    scores, weights = (np.array([x for kind in kinds for x in kind[name]]) for name in ("scores", "weights"))
    near([score for score, _ in shown["scores"]], scores, "scores")
    near(shown["weights"], np.stack([weights, 84 * weights], axis=1), "weights and their bars")
    left, right = np.split(np.array(shown["scores"]), 2)
    steps = [np.diff(half[:, 1]) / np.diff(half[:, 0]) for half in (left, right)]
    near(np.concatenate(steps) / steps[0][0], np.ones(14), "one scale for all dots", 1e-6)
    runs = [score_spread.describe(width) for width in score_spread.HEAD_WIDTHS]
    steepest = max(each[name]["gradient"] for each in runs for name in ("raw", "divided"))
    near(shown["gradients"], [shown["room"] * kind["gradient"] / steepest for kind in kinds], "gradients")
    assert shown["shown"] == str(run["width"])
    for kind in kinds:
        assert f"{max(kind['weights']):.2f}" in shown["words"] and f"{100 * kind['sure']:.0f}" in shown["words"]


def whispered(shown: dict[str, Any]) -> None:
    weight, n, at = float(shown["weight"]), int(shown["n"]), int(shown["at"])
    chain = whisper_row.describe(weight, n)
    assert shown["set"] == [f"{weight:.1f}", str(n), f"{at + 1} of {n}"] and shown["children"] == 2 * n
    near(np.array(shown["left"]) / chain["left"][: at + 1], np.ones(at + 1), "what is left", 1e-3)  # four digits
    *bars, direct = shown["heights"]
    near(np.array(bars), 62 * np.array(shown["left"]), "bars")
    near(direct, 62 / n, "the bar of attention")
    state, factor = (f"{float(f'{chain[name][at]:.4g}'):.2f}" for name in ("states", "factors"))
    assert f"State {state};" in shown["words"] and f"{factor}. Attention" in shown["words"]


MACHINES = [
    Oracle("bat", COUNTING, batching_explorer),
    Oracle("cav", COUNTING, steps_of_a_layer),
    Oracle("mem", COUNTING, memory_explorer),
    Oracle("bmt", INFERENCE, beam_search),
    Oracle("kvc", INFERENCE, cache_in_steps),
    Oracle("cfg", "book/15_what_changed_more.html", config),
    Oracle("csw", "book/15_what_changed_parts.html", switches),
    Oracle("lyc", "book/15_what_changed.html", compared_layers),
    Oracle("mdt", "book/15_what_changed_glance.html", glanced),
    Oracle("xpr", "book/15_what_changed.html", routed_token),
    Oracle("smp", INFERENCE, sampling),
    Oracle("lrx", "book/09_training.html", learning_rates),
    Oracle("dtv", "book/09_training.html", detective),
    Oracle("rfl", "book/11_roofline.html", roof),
    Oracle("wab", "book/11_roofline.html", work),
    Oracle("sdt", "book/14_slides_recomputed.html", pressed_keys),
    Oracle("svt", SERVING, served),
    Oracle("ptg", "book/17_looking_inside.html", patched_passes),
    Oracle("kpl", "book/18_kernels.html", kernel),
    Oracle("rpl", MANY_DEVICES, ranks),
    Oracle("shm", MANY_DEVICES, shards),
    Oracle("ppl", MANY_DEVICES, pipeline),
    Oracle("tpc", MANY_DEVICES, cut_network),
    Oracle("ans", "book/20_after_pretraining.html", shifted),
    Oracle("trw", "book/20_after_pretraining.html", fine_tuning),
    Oracle("bml", "book/20_after_pretraining_evaluation.html", luck_of_benchmarks),
    Oracle("scs", "book/04_one_head.html", spread_scores),
    Oracle("whp", "book/01_motivation.html", whispered),
    Oracle("slt", "book/03_tokens_and_embeddings.html", cut_text),
]
"""The other figures."""
