"""What a GPU trains with is decided by what the card has; what does not fit or cannot be recorded stops no run."""

import io
import json
from dataclasses import asdict, replace

import pytest
import torch
from rich.console import Console
from tiny_translation import TINY, some_pairs
from tiny_translation import run as run_tiny

from softlookup.model import Config, Transformer
from softlookup.training import command, on_gpu, translation
from softlookup.training.command import train_command
from softlookup.training.data import Batch, BucketedBatches
from softlookup.training.loop import summed_loss, train
from softlookup.training.on_gpu import Card, batch_that_fits, bytes_per_token, card_of, default_recipe, training_plan
from softlookup.training.plain_loss import PlainLoss
from softlookup.training.recipe import Recipe

LARGE = Card("Large", 79 * 10**9, has_bfloat16=True, has_compiler=True)
BEGIN = "Large, 79 GB free: "


@pytest.mark.parametrize(
    "card, options, chosen, sentence",
    [
        (None, {}, (False, False, False), ""),
        (
            LARGE,
            {},
            (True, True, True),
            BEGIN + "the plain model, compiled by torch; products in bfloat16; a CUDA graph ",
        ),
        (
            replace(LARGE, has_bfloat16=False, has_compiler=False),
            {},
            (True, False, True),
            "not compiled, since triton is not installed; products in float32, since it has no bfloat16; a CUDA graph",
        ),
        (
            LARGE,
            {"processes": 2},
            (True, True, False),
            "no CUDA graphs, since processes exchange gradients within a step",
        ),
        (LARGE, {"processes": 2, "weights_are_cut": True}, (False, False, False), "the plain model as it is, since "),
        (LARGE, {"consistency": 0.5}, (False, False, False), "the fast path, since the recipe's consistency takes two"),
    ],
)
def test_each_card_gets_the_plan_that_it_can_follow_with_reasons(card, options, chosen, sentence):
    plan = training_plan(card, **options)
    assert (plan.plain, plan.compiled, plan.captured) == chosen
    assert sentence in plan.sentence and "\n" not in plan.sentence
    assert ("recorded" in plan.sentence or "CUDA graph " in plan.sentence) == plan.captured


def test_a_cpu_is_no_card_and_a_gpu_is_asked_for_its_facts(monkeypatch):
    assert card_of("cpu") is None
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (5 * 10**9, 8 * 10**9))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "Small")
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: including_emulation)
    monkeypatch.setattr(on_gpu, "find_spec", lambda name: None if name == "triton" else name)
    assert card_of("cuda") == Card("Small", 5 * 10**9, has_bfloat16=False, has_compiler=False)


@pytest.mark.parametrize("free, tokens", [(0, 2000), (7999, 2000), (8000, 4000), (63_999, 16_000), (10**9, 32_000)])
def test_batches_grow_with_the_memory_up_to_a_limit(free, tokens):
    """`free` counts padded tokens: half of them may be filled."""
    assert batch_that_fits(Recipe(), free * bytes_per_token(Recipe())) == tokens


def test_the_estimate_is_above_what_a_forward_pass_keeps():
    recipe = Recipe()
    model = Transformer(
        Config(
            500, d_model=recipe.d_model, n_heads=recipe.n_heads, n_layers=recipe.n_layers, d_hidden=recipe.d_hidden,
            max_length=40, pre_norm=True, dropout=recipe.dropout,
        )
    )  # fmt: skip
    ids = torch.randint(4, 500, (8, 40))
    sizes = {}

    def pack(tensor):
        sizes[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        states = model.states(ids, ids)
    weights = {p.untyped_storage().data_ptr() for p in model.parameters()}
    measured = sum(size for place, size in sizes.items() if place not in weights) / (2 * ids.numel())
    assert measured < bytes_per_token(recipe) < 4 * measured, states.shape


def test_the_default_recipe_grows_on_a_gpu_alone_and_a_run_keeps_its_batches(tmp_path):
    assert default_recipe(None, tmp_path) == Recipe()
    large = default_recipe(LARGE, tmp_path)
    assert large == replace(Recipe(), tokens_per_batch=32_000)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "settings.json").write_text(json.dumps({"tokens_per_batch": 8000}))
    assert default_recipe(LARGE, tmp_path).tokens_per_batch == default_recipe(None, tmp_path).tokens_per_batch == 8000


def test_the_command_says_what_was_chosen_and_trains_by_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "texts").mkdir()
    for side, language in enumerate(("en", "fr")):
        (tmp_path / "texts" / f"train.{language}").write_text("".join(pair[side] + "\n" for pair in some_pairs()))
    (tmp_path / "tiny.json").write_text(json.dumps(asdict(replace(TINY, consistency=0.0))))
    card = replace(LARGE, has_compiler=False)
    for module in (command, translation):
        monkeypatch.setattr(module, "card_of", lambda device: card)
    options = []
    monkeypatch.setattr(translation, "train", lambda *args, **rest: (options.append(rest), train(*args, **rest))[1])
    console = Console(file=io.StringIO(), width=400)
    assert train_command("texts", recipe="tiny.json", console=console) == 0
    output = console.file.getvalue()
    assert output.count("Large, 79 GB free: the plain model, not compiled") == 1 and "no recipe is given" not in output
    assert options[0]["captured"] and "could not be recorded" not in output and "validation BLEU" in output
    recipes = []
    monkeypatch.setattr(command, "_run", lambda corpus, out, recipe, *rest: recipes.append((recipe, corpus.notes)))
    train_command("texts", console=console, out="other")
    ((recipe, notes),) = recipes
    assert recipe.tokens_per_batch == 32_000
    assert notes[-1] == (
        "no recipe is given: batches of 32,000 tokens in place of 2,000, as large as fit into the GPU's memory, "
        "up to 16 times"
    )


def test_a_gpus_run_learns_what_a_cpus_does(tmp_path, monkeypatch):
    recipe = replace(TINY, dropout=0.0, consistency=0.0)
    losses = run_tiny(tmp_path / "cpu", recipe).losses
    monkeypatch.setattr(translation, "card_of", lambda device: replace(LARGE, has_compiler=False))
    monkeypatch.setattr(translation, "quick_dtype", lambda device: torch.float32)
    assert run_tiny(tmp_path / "gpu", recipe).losses == pytest.approx(losses, rel=1e-3)


SMALL = Config(29, d_model=16, n_heads=2, n_layers=1, d_hidden=32, max_length=12, dropout=0.0, pre_norm=True)


def some_ids(n=40):
    rng = torch.Generator().manual_seed(0)
    lengths = torch.randint(3, 9, (n, 2), generator=rng).tolist()
    return [tuple(torch.randint(4, 29, (length,), generator=rng).tolist() for length in both) for both in lengths]


@pytest.mark.parametrize("captured", [False, True])
@pytest.mark.parametrize("backward", [False, True])
def test_a_batch_that_does_not_fit_is_computed_in_parts_with_the_same_losses(captured, backward):
    def run(room):
        torch.manual_seed(0)
        model, notes, sizes = Transformer(SMALL), [], [0]

        def exhausted(grad):
            if sizes[-1] > room:
                raise torch.OutOfMemoryError("CUDA out of memory")

        # The first to be read is the last to get its gradient: others have theirs when memory runs out.
        model.embedder.tokens.table.register_hook(exhausted)

        def objective(model, batch, epsilon):
            sizes.append(batch.size)
            if not backward:
                exhausted(None)
            return summed_loss(model, batch, epsilon)

        state = train(
            model,
            BucketedBatches(some_ids(), pad_id=0, tokens_per_batch=80),
            optimizer=torch.optim.Adam(model.parameters(), lr=1e-2),
            steps=6,
            objective=objective,
            captured=captured,
            note=notes.append,
        )
        return state.losses, notes

    losses, notes = run(room=10**9)
    assert notes == []
    for room in (60, 20):
        parts, notes = run(room)
        assert parts == pytest.approx(losses, rel=1e-4)
        assert notes[:captured] == ["memory ran out: steps are no longer recorded"] * captured
        assert notes[captured:] and all("tokens did not fit into memory: parts of" in note for note in notes[captured:])
    with pytest.raises(torch.OutOfMemoryError):
        run(room=3)


def test_pieces_are_the_rows_of_a_batch_in_their_order():
    batch = Batch(torch.arange(1, 31).view(10, 3), torch.arange(1, 21).view(10, 2))
    assert batch.size == 50 and batch.pieces(None) == batch.pieces(50) == [batch]
    for room, rows in ((49, 9), (20, 4), (5, 1), (1, 1)):
        pieces = batch.pieces(room)
        assert max(len(piece.target_ids) for piece in pieces) == rows
        assert torch.equal(torch.cat([piece.target_ids for piece in pieces]), batch.target_ids)
        assert torch.equal(torch.cat([piece.source_ids for piece in pieces]), batch.source_ids)
    assert [len(piece.target_ids) for piece in Batch(batch.target_ids).pieces(10)] == [3, 3, 3, 1]


@pytest.mark.parametrize("longest", [None, 12])
def test_a_filled_batch_has_few_shapes_and_the_same_loss(longest, device):
    torch.manual_seed(0)
    model = Transformer(SMALL).to(device)
    loss = PlainLoss(model)
    shapes = set()
    for batch in BucketedBatches(some_ids(), pad_id=0, tokens_per_batch=130).epoch(0):
        batch = batch.to(device)
        filled = batch.filled(longest)
        assert filled.tokens == batch.tokens and filled.pad_id == batch.pad_id
        rows, width = batch.target_ids.shape
        assert torch.equal(filled.target_ids[:rows, :width], batch.target_ids)
        shapes.add((filled.target_ids.shape[1] - 1, filled.source_ids.shape[1]))
        torch.testing.assert_close(loss.summed(filled), loss.summed(batch), rtol=1e-5, atol=1e-4)
    assert shapes <= {(t, s) for t in (4, 8) for s in (4, 8)}
