"""Runs: one table of sizes, tokens and losses, and the published suites."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.architecture import Transformer, model
from lib.runs import SUITES, Runs, of_law, published
from lib.scaling import law

SMALL = Runs(n_params=[1e8, 1e9, 1e10], n_tokens=[2e9, 2e10, 2e11], loss=[3.5, 2.6, 2.2], groups=["C4", "Pile", "C4"])


def test_the_losses_are_those_of_the_table():
    # Cerebras/modelzoo, Cerebras_GPT/README.md, table of 0-shot evaluations, column "PILE test xent".
    assert published("Cerebras-GPT").loss == (2.608, 2.349, 2.181, 1.997, 1.834, 1.704, 1.572)
    assert published("Pythia").loss == (2.504, 2.186, 1.971, 1.845, 1.793, 1.720, 1.626, 1.582)
    assert published("Pythia deduped").loss == (2.549, 2.204, 1.989, 1.858, 1.889, 1.724, 1.644, 1.601)
    assert published("GPT-NeoX").loss == (1.519,)


def test_cerebras_gpt_has_twenty_tokens_a_parameter():
    runs = published("Cerebras-GPT")
    assert [d / n for n, d in zip(runs.n_params, runs.n_tokens, strict=True)] == pytest.approx([20] * 7, rel=1e-4)


def test_sizes_of_cerebras_gpt_follow_from_the_shapes_on_its_page():
    # Table of models: layers, d_model, heads, d_ffn; vocabulary 50,257, 2,048 learned positions, tied, with biases.
    shapes = (
        (10, 768, 12, 3072),
        (14, 1088, 17, 4352),
        (18, 1536, 12, 6144),
        (24, 2048, 16, 8192),
        (32, 2560, 20, 10240),
        (32, 4096, 32, 16384),
        (40, 5120, 40, 20480),
    )
    switches = dict.fromkeys(("tied", "qkv_bias", "attention_output_bias", "mlp_bias"), True)
    kinds = {"gated": False, "norm": "layer", "vocab_size": 50257, "learned_positions": 2048} | switches
    counted = [Transformer(n_layers=n, d_model=d, n_heads=h, d_ff=f, **kinds).n_params for n, d, h, f in shapes]
    assert list(published("Cerebras-GPT").n_params) == counted


@pytest.mark.parametrize("suite", ["Pythia", "Pythia deduped", "GPT-NeoX"])
def test_sizes_of_the_other_suites_follow_from_their_shapes(suite):
    runs = published(suite)
    for name, n_params in zip(runs.places, runs.n_params, strict=True):
        assert n_params == model(name.removesuffix(" deduped")).n_params


def test_all_suites_together_are_two_corpora():
    runs = published()
    assert len(runs) == 24
    assert runs.group_names == ("The Pile", "The Pile, deduplicated")
    assert {name: len(part) for name, part in runs.by_group().items()} == {
        runs.group_names[0]: 16,
        runs.group_names[1]: 8,
    }
    assert set(SUITES.values()) == set(runs.group_names)


def test_a_suite_is_found_whatever_its_spelling_and_near_names_are_offered():
    assert published("cerebras gpt") == published("Cerebras-GPT")
    with pytest.raises(ValueError, match="did you mean 'Pythia'"):
        published("Pithia")


def test_runs_of_a_law_lie_on_it_and_noise_is_as_large_as_said():
    exact = of_law(law("besiroglu"), [1e9] * 500, [2e10] * 500)
    assert set(exact.loss) == {law("besiroglu").loss(1e9, 2e10)}
    noisy = of_law(law("besiroglu"), [1e9] * 500, [2e10] * 500, noise=0.01, seed=7)
    spread = [loss / exact.loss[0] - 1 for loss in noisy.loss]
    assert (sum(s * s for s in spread) / 500) ** 0.5 == pytest.approx(0.01, rel=0.15)
    assert noisy == of_law(law("besiroglu"), [1e9] * 500, [2e10] * 500, noise=0.01, seed=7)
    assert noisy != of_law(law("besiroglu"), [1e9] * 500, [2e10] * 500, noise=0.01, seed=8)


def test_the_range_is_the_box_and_the_largest_compute():
    box = SMALL.range
    assert (box.n_params, box.n_tokens) == ((1e8, 1e10), (2e9, 2e11))
    assert box.compute_at_most == pytest.approx(1.2e22)


@given(places=st.lists(st.integers(0, 2), min_size=1, max_size=9))
def test_taken_runs_keep_their_columns_together(places):
    taken = SMALL.take(places)
    for k, place in enumerate(places):
        for column in ("n_params", "n_tokens", "loss", "groups", "places"):
            assert getattr(taken, column)[k] == getattr(SMALL, column)[place]


def test_groups_hold_every_run_once():
    parts = SMALL.by_group()
    assert sorted(place for part in parts.values() for place in part.places) == sorted(SMALL.places)
    assert parts["C4"].loss == (3.5, 2.2)
    assert SMALL.without([1]).groups == ("C4", "C4")
    alone = Runs(n_params=[1e8], n_tokens=[1e9], loss=[3.0], name="mine.csv")
    assert alone.by_group() == {"mine.csv": alone}


@pytest.mark.parametrize("verb", ["take", "without"])
@pytest.mark.parametrize(
    ("places", "error", "said"),
    [
        (None, TypeError, "places = None (NoneType): a sequence, whole numbers"),
        ("01", TypeError, "places = '01' (str): a sequence"),
        ({0, 1}, TypeError, "places = {0, 1} (set): a sequence"),
        ([0, "a"], TypeError, "places[1] = 'a' (str): a whole number, 0 or more"),
        ([True], TypeError, "places[0] = True (bool)"),
        ([0.0], TypeError, "places[0] = 0.0 (float)"),
        ([-1], ValueError, "places[0] = -1: a whole number, 0 or more"),
        ([3], ValueError, "places = 3: below 3, the number of runs"),
    ],
)
def test_places_that_no_run_has_are_refused(verb, places, error, said):
    with pytest.raises(error, match=re.escape(said)):
        getattr(SMALL, verb)(places)


def test_no_run_at_all_is_refused():
    with pytest.raises(ValueError, match="places = 0 of 3 runs"):
        SMALL.take([])
    with pytest.raises(ValueError, match="places = 0 of 3 runs"):
        SMALL.without(range(3))


@pytest.mark.parametrize("noise", [1.5, 1e308, [0.01]])
def test_noise_beyond_the_loss_itself_is_refused(noise):
    with pytest.raises((TypeError, ValueError), match=r"^noise"):
        of_law(law("besiroglu"), [1e9], [2e10], noise=noise)


def test_long_warmups_are_found_by_their_share():
    runs = Runs(n_params=[1e8] * 3, n_tokens=[1e9, 2e9, 1e10], loss=[4, 3.6, 3.1], warmup_tokens=[1e9, 1e9, 1e9])
    assert runs.in_warmup() == (0,)
    assert runs.in_warmup(0.5) == (0, 1)
    assert SMALL.in_warmup(0.01) == ()


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"loss": [3.5, 2.6]}, ValueError, "loss = 2 entries: 3, one for each run"),
        ({"loss": [3.5, -2.6, 2.2]}, ValueError, "loss[1] = -2.6: a finite number above 0"),
        ({"n_tokens": [2e9, "2e10", 2e11]}, TypeError, "n_tokens[1] = '2e10' (str): a finite number above 0"),
        ({"n_params": 1e9}, TypeError, "n_params = 1000000000.0 (float): a sequence"),
        ({"n_params": "123"}, TypeError, "n_params = '123' (str): a sequence"),
        ({"groups": ["C4"]}, ValueError, "groups = 1 entries: 3"),
        ({"groups": ["C4", 5, "C4"]}, TypeError, "groups[1] = 5 (int): text"),
        ({"warmup_tokens": [0.0, -1.0, 0.0]}, ValueError, "warmup_tokens[1] = -1: a finite number, 0 or more"),
        ({"name": 5}, TypeError, "name = 5 (int): text"),
        ({"n_params": []}, ValueError, "n_params = 0 entries: at least one run"),
        ({"n_params": {1e8, 1e9, 1e10}}, TypeError, "(set): a sequence"),
        ({"loss": SMALL}, TypeError, "(Runs): a sequence, one entry a run"),
    ],
)
def test_columns_that_are_not_what_they_should_be_are_refused(changes, error, message):
    columns = {name: getattr(SMALL, name) for name in ("n_params", "n_tokens", "loss", "groups")}
    with pytest.raises(error, match=re.escape(message)):
        Runs(**(columns | changes))
