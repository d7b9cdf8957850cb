"""Mutants of chapter 3 that are right: task, changed statement, and why nothing tells them apart."""

TWO_AXES = "the task's arrays have two axes, so axis 1 is the last one"

EQUAL: list[tuple[str, ...]] = [
    ("03.pair-counts", "counts[pair] = times + counts.get(pair, 0)", "a sum does not depend on the order of its terms"),
    ("03.merge", "result.append(pair[0] + pair[-1])", "a pair has two halves: place 1 is the last"),
    ("03.embed", "x = table[ids] * math.sqrt(table.shape[1])", TWO_AXES),
]
