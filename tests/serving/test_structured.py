"""Structured decoding: patterns against `re`, masks against all sequences of tokens, and `generate` under a mask."""

import re
from itertools import chain, product

import numpy as np
import pytest
import torch

from softlookup.model import Config, DecoderLM
from softlookup.model.decoding.generate import generate
from softlookup.serving import StructuredStep, TokenMasks, compile_pattern

PATTERNS = (
    "",
    "a",
    "ab|ba",
    "(a|b)*ab",
    "a+b?",
    "(ab)+|b",
    "(a*b*)*",
    "((a|)b)?a",
    "(a?){3}",
    "a{2}",
    "(ab?){1,3}",
    "[ab]c",
    "[^a]*",
    "[a-c]{0,2}",
    ".b",
    r"\d\.?",
    r"[\d\-]+",
    r"[]a]+",
    r"\w\s?",
    r"[a\]]b|\n",
    "|a",
)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_compile_pattern_matches_what_fullmatch_matches(pattern):
    automaton = compile_pattern(pattern)
    long, short = (product("ab", repeat=n) for n in range(7)), (product("abc1.-] \n", repeat=n) for n in range(3))
    for letters in chain(*long, *short):
        text = "".join(letters)
        assert automaton.matches(text) == bool(re.fullmatch(pattern, text, re.ASCII)), text


@pytest.mark.parametrize("pattern", PATTERNS)
def test_automaton_reaches_a_final_state_from_every_state(pattern):
    automaton = compile_pattern(pattern)
    live = automaton.final.copy()
    for _ in live:
        live |= np.array([any(target >= 0 and live[target] for target in row) for row in automaton.next_state])
    assert live.all()


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("a)", "closing parenthesis"),
        ("(a", "not closed"),
        ("(?:a)", "another kind"),
        ("*a", "where a character should stand"),
        ("a**", "repetition of a repetition"),
        ("a{2", "neither"),
        ("a{3,2}", "neither"),
        ("a{,2}", "without its count"),
        ("[a", "ends too early"),
        ("[b-a]", "range"),
        ("[a-\\d]", "range"),
        ("\\", "ends too early"),
        (r"\b", "not supported"),
        ("^a", "where a character"),
        # What would take too long is refused before it is made.
        ("(a|b)*a(a|b){22}", "has more than 10,000 states"),
        ("a{1000000}", "written out, have more than 20,000 characters"),
        ("a{1000000000}", "a count of 10 digits"),
        ("a{" + "9" * 5000 + "}", "a count of 5000 digits"),
        ("((a{1000}){1000}){1000}", "written out, have more than 20,000 characters"),
        ("a{0,1000000}", "written out, have more than 20,000 characters"),
        ("(a?){0,1000}", "needs more than 2,000,000 steps"),
        ("(|a){100000}", "written out, have more than 20,000 characters"),
        ("(" * 100_000 + "a" + ")" * 100_000, "more than 40 groups within each other"),
        ("[\0-\U0010ffff]", "a class of more than 100,000 characters"),
        ("|".join("abcdefghij" * 10_000), "written out, have more than 20,000 characters"),
        ("a?" * 1000, "needs more than 2,000,000 steps"),
    ],
)
def test_compile_pattern_refuses_what_it_cannot_read_or_what_would_take_too_long(pattern, problem):
    with pytest.raises(ValueError, match=problem) as caught:
        compile_pattern(pattern)
    assert len(str(caught.value)) < 300


@pytest.mark.one_in(8)
@pytest.mark.parametrize(
    ("pattern", "n_states", "text"),
    [
        ("a{0,1000}", 1001, "a" * 1000),
        ("((a{10}){10}){10}", 1001, "a" * 1000),
        ("(){999999999}a", 2, "a"),
        ("((a*)*)*", 2, "aaa"),
        ("(" * 30 + "a" + ")" * 30, 2, "a"),
        ("[\u4e00-\u9fff]{1,20}", 21, "\u4e00" * 20),
        ("(a*)*b" * 300, 601, "b" * 300),
        ('[^"]{1,300}', 301, "x" * 300),
        ("(a|b)*a(a|b){8}", 512, "aba" * 3),
        ("a" * 9000, 9001, "a" * 9000),
        ("|".join(map(str, range(1000))), 4, "997"),
    ],
)
def test_compile_pattern_reads_large_patterns_with_few_states(pattern, n_states, text):
    automaton = compile_pattern(pattern)
    assert len(automaton.final) == n_states
    assert automaton.matches(text) and not automaton.matches(text + "\n")


def test_token_masks_refuse_more_entries_than_memory_holds():
    with pytest.raises(ValueError, match="has 9,001 states, and there are 20,000 tokens"):
        TokenMasks("a" * 9000, ["a"] * 20_000, 0)


def test_token_masks_of_a_long_pattern():
    masks = TokenMasks("a{1000}b", ["a", "aa", "b", "end"], 3)
    assert masks.masks[[0, 998, 999, 1000]].astype(int).tolist() == [
        [1, 1, 0, 0],
        [1, 1, 0, 0],
        [1, 0, 0, 0],
        [0, 0, 1, 0],
    ]


TOKENS = ["a", "b", "", "ab", "ba", "bb", "c", "<end>"]
END = 7


@pytest.mark.parametrize("pattern", ["(ab)*", "a|bb?", "(a|b){3}", "ab*c|b", "(bba)+c?", "x|ab", "a*"])
def test_token_masks_allow_exactly_the_beginnings_of_texts_that_fit(pattern):
    masks = TokenMasks(pattern, TOKENS, END)
    plain = [token for token in range(len(TOKENS)) if token != END]
    complete = {
        ids
        for length in range(7)
        for ids in product([token for token in plain if TOKENS[token]], repeat=length)
        if re.fullmatch(pattern, "".join(TOKENS[token] for token in ids))
    }
    beginnings = {ids[:end] for ids in complete for end in range(len(ids) + 1)}
    states = {(): 0}
    for length in range(3):  # completions of 6 tokens show every beginning of up to 3
        for ids in [ids for ids in states if len(ids) == length]:
            allowed = masks.allowed_tokens(states[ids])
            assert allowed.tolist() == [(*ids, t) in beginnings if t != END else ids in complete for t in range(8)]
            for token in np.flatnonzero(allowed).tolist():
                if token != END:
                    states[*ids, token] = masks.advance(states[ids], token)
    if () in complete:
        assert masks.advance(0, END) == masks.advance(-1, 0) == -1
        assert masks.allowed_tokens(-1).tolist() == [token == END for token in range(8)]


def test_token_masks_leave_out_what_the_tokens_cannot_complete():
    masks = TokenMasks("az|bb", ["a", "b", "</s>"], 2)
    assert masks.allowed_tokens(0).tolist() == [False, True, False]
    with pytest.raises(ValueError, match="token 0 is not allowed in state 0"):
        masks.advance(0, 0)


def test_token_masks_refuse_a_pattern_that_the_tokens_cannot_write():
    with pytest.raises(ValueError, match="the 2 tokens cannot write any text that fits the pattern 'ab'"):
        TokenMasks("ab", ["a", "b"], 1)
    with pytest.raises(ValueError, match="end_id is 2"):
        TokenMasks("a", ["a", "b"], 2)
    with pytest.raises(
        ValueError, match="token 1 holds U.FFFD, which stands for a part of a character; wanted tokens of whole ones"
    ):
        TokenMasks(".", ["a", "b\ufffd", "\ufffd"], 2)


@pytest.mark.parametrize("drop_finished", [True, False])
def test_structured_step_writes_what_fits_the_pattern(drop_finished):
    torch.manual_seed(0)
    lm = DecoderLM(Config(10, d_model=8, n_heads=2, n_layers=1, max_length=40)).eval()  # two tokens more than masks
    written = generate(
        StructuredStep(lm, TokenMasks("(ab){1,3}c|bba", TOKENS, END)),
        torch.tensor([[1, 2], [9, 8], [0, 0], [5, 5]]),
        max_new_tokens=12,
        end_id=END,
        temperature=1.0,
        generator=torch.Generator().manual_seed(1),
        state=lm.start(),
        drop_finished=drop_finished,
    )
    texts = [
        "".join(TOKENS[token] for token in ids[: length - 1])
        for ids, length in zip(written.new_ids.tolist(), written.lengths.tolist(), strict=True)
    ]
    assert all(re.fullmatch("(ab){1,3}c|bba", text) for text in texts) and len(set(texts)) > 1


def test_structured_step_leaves_allowed_logits_as_they_are():
    torch.manual_seed(0)
    lm = DecoderLM(Config(10, d_model=8, n_heads=2, n_layers=1, max_length=40)).eval()
    masks = TokenMasks("(a|b)+", TOKENS, END)
    with torch.no_grad():
        free, _ = lm.step(torch.tensor([[3, 1]]), lm.start())
        logits, _ = StructuredStep(lm, masks)(torch.tensor([[3, 1]]), lm.start())
    allowed = torch.tensor([*masks.allowed_tokens(0), False, False])
    assert torch.equal(logits[0, allowed], free[0, allowed]) and (logits[0, ~allowed] == -torch.inf).all()


def test_structured_step_refuses_a_model_with_fewer_tokens():
    def step(ids, state):
        return torch.zeros(1, 5), state

    with pytest.raises(ValueError, match="the step has 5 tokens, the masks 8"):
        StructuredStep(step, TokenMasks("a", TOKENS, END))(torch.tensor([[0]]))
