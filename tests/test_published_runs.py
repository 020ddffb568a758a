"""Published recipes: every row has its sources, every number a likely size, and rows of one family agree."""

import math
from dataclasses import replace

import pytest

from lib.recipe.published_runs import COMPARABLE, FIGURES, PUBLISHED_RUNS, habit, nearest, published_run

approx = pytest.approx
RUNS = list(PUBLISHED_RUNS.values())


def test_there_are_enough_families_to_hold_one_out():
    assert len(RUNS) >= 60
    assert len({run.family for run in COMPARABLE}) >= 12


def test_every_number_of_a_row_names_its_document():
    for run in RUNS:
        printed = {name for name in FIGURES if run.get(name) is not None}
        assert all(run.sources.get(name) for name in printed)


def test_the_numbers_of_a_row_have_likely_sizes():
    for run in RUNS:
        assert 1e7 < run.n_params < 2e12
        assert 1e9 < run.n_tokens < 1e14
        assert 1e-6 < run.peak_lr < 1e-2
        if run.global_batch_tokens is not None:
            assert 1e5 < run.global_batch_tokens < 1e8
        if (low := run.get("min_lr")) is not None:
            assert low < run.peak_lr
        if (share := run.warmup_share) is not None:
            assert 0 < share < 0.2


@pytest.mark.parametrize(
    ("name", "n_params", "n_tokens", "peak_lr", "batch"),
    [  # one row of each family, typed from the document
        ("GPT-3 175B", 175e9, 300e9, 0.6e-4, 3.2e6),
        ("Llama 65B", 65.2e9, 1.4e12, 1.5e-4, 4e6),
        ("Pythia 12B", 12e9, 299.9e9, 1.2e-4, 2.097e6),
        ("DeepSeek LLM 67B", 67e9, 2e12, 3.2e-4, 18.87e6),
        ("Llama 3 405B", 405e9, 15.6e12, 8e-5, 16e6),
        ("OLMo 2 13B", 13.7e9, 5e12, 9e-4, 8.39e6),
    ],
)
def test_rows_as_their_documents_print_them(name, n_params, n_tokens, peak_lr, batch):
    run = published_run(name)
    assert run.peak_lr == peak_lr
    assert run.n_params == approx(n_params, rel=0.02)
    assert run.n_tokens == approx(n_tokens, rel=0.01)
    assert run.global_batch_tokens == approx(batch, rel=0.01)


def test_what_takes_no_part_in_a_fit():
    left_out = {run.name for run in RUNS if not run.comparable}
    assert all(run.optimizer == "AdamW" and not run.sparse for run in COMPARABLE)
    assert "Apertus 8B" in left_out
    assert "DeepSeek-V3" in left_out
    assert {"PaLM 540B", "MPT 7B"} & set(PUBLISHED_RUNS) == set()


def test_the_nearest_runs_are_the_nearest():
    for run in COMPARABLE:
        assert math.isclose(nearest(run.n_params, run.n_tokens)[0].n_params, run.n_params, rel_tol=0.05)


@pytest.mark.parametrize("bad", [{"beta1": math.nan}, {"beta1": -0.9}, {"beta1": "0.9"}, {"momentum": 0.9}, [0.9]])
def test_a_setting_of_a_run_is_a_number_of_its_name(bad):
    with pytest.raises((TypeError, ValueError), match="setting"):
        replace(published_run("Llama 65B"), settings=bad)


def test_more_neighbours_than_there_are_runs_are_refused():
    assert len(nearest(7e9, 1e12, len(COMPARABLE))) == len(COMPARABLE)
    with pytest.raises(ValueError, match=r"n_best = 59: at most 58, the comparable published runs"):
        nearest(7e9, 1e12, 59)


def test_habits_count_who_prints_them():
    decay = habit("weight_decay")
    assert (decay.value, habit("beta1").value, habit("beta2").value, habit("grad_clip").value) == (0.1, 0.9, 0.95, 1.0)
    assert decay.n_runs <= decay.n_printed <= len(COMPARABLE)


def test_a_run_that_is_not_there_is_refused_with_the_nearest_name():
    with pytest.raises(ValueError, match=r"published_run = 'lama 65b': one of .*did you mean 'Llama 65B'"):
        published_run("lama 65b")
