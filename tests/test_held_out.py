"""The law of habit against families that it had not seen: what it beats, and what it does not."""

from statistics import median

import pytest

from lib.recipe import held_out
from lib.recipe.held_out import CHOSEN, group_errors, median_error, residuals, rules, thirds
from lib.recipe.lr_law import GPT3_TABLE
from lib.recipe.power_laws import fit
from lib.recipe.published_runs import COMPARABLE, published_run

QUANTITIES = ("peak_lr", "global_batch_tokens")


@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("rival", ["a constant", "GPT-3's table"])
@pytest.mark.parametrize("group", ["family", "lineage"])
def test_the_law_beats_a_constant_and_gpt3s_table(quantity, rival, group):
    assert median_error(quantity, CHOSEN, group) < median_error(quantity, rival, group)


def test_the_median_errors_that_the_chapter_tells():
    assert median_error("peak_lr", CHOSEN) == pytest.approx(0.26, abs=0.02)
    assert median_error("peak_lr", "a constant") == pytest.approx(0.85, abs=0.02)
    assert median_error("peak_lr", "GPT-3's table", without="GPT-3") == pytest.approx(0.98, abs=0.03)
    assert median_error("global_batch_tokens", CHOSEN) == pytest.approx(0.34, abs=0.02)


@pytest.mark.parametrize("group", ["family", "lineage"])
def test_a_run_is_foretold_by_a_fit_that_has_not_seen_its_group(group):
    for residual in residuals("peak_lr", CHOSEN, group)[::10]:
        others = [run for run in COMPARABLE if getattr(run, group) != residual.group]
        expected = fit("peak_lr", "params and tokens", others).at(residual.run.n_params, residual.run.n_tokens)
        assert residual.foretold == pytest.approx(expected)
        assert residual.used == residual.run.peak_lr


@pytest.mark.parametrize("rule", rules("peak_lr"))
def test_every_comparable_run_is_foretold_once_and_in_order(rule):
    assert [residual.run for residual in residuals("peak_lr", rule)] == list(COMPARABLE)


def test_an_error_is_a_factor_either_way():
    for residual in residuals("peak_lr", CHOSEN):
        assert residual.error >= 0
        assert residual.error == pytest.approx(max(residual.ratio, 1 / residual.ratio) - 1)


def test_every_group_counts_once():
    errors = group_errors("peak_lr", CHOSEN)
    assert set(errors) == {run.family for run in COMPARABLE}
    assert max(errors, key=errors.get) == "SmolLM"
    assert set(group_errors("peak_lr", CHOSEN, "lineage")) == {run.lineage for run in COMPARABLE}


def test_gpt3s_table_has_seen_its_own_family():
    assert group_errors("peak_lr", "GPT-3's table")["GPT-3"] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_law_beats_a_constant_and_size_alone_whichever_families_are_missing(seed):
    fit, constant, size = (thirds("peak_lr", rule, 40, seed) for rule in (CHOSEN, "a constant", "size alone"))
    assert median(fit) == pytest.approx(0.34, abs=0.05)
    for rival in (constant, size):
        assert sum(ours < theirs for ours, theirs in zip(fit, rival, strict=True)) >= 38


def test_no_run_is_foretold_by_a_fit_to_its_own_family():
    made = [run for run in COMPARABLE if run.family in ("Llama", "OLMo")]

    def make(quantity, runs):
        assert not {run.family for run in runs} & {"Llama", "OLMo"}
        return lambda n_params, n_tokens: 1e-4

    assert [r.run for r in held_out._missed("peak_lr", make, "family", ["Llama", "OLMo"])] == made


@pytest.mark.parametrize("name", ["BLOOM 176B", "GPT-NeoX 20B"])
def test_runs_that_took_their_rate_from_gpt3s_table_are_held_out_with_it(name):
    run = published_run(name)
    rate = GPT3_TABLE["peak_lr"].at(run.n_params, run.n_tokens)
    assert run.peak_lr == pytest.approx(rate, rel=0.07)
    assert run.lineage == "GPT-3"


def test_no_other_lineage_has_a_run_with_a_rate_of_gpt3s_table():
    others = [run for run in COMPARABLE if run.lineage != "GPT-3"]
    assert min(run.peak_lr / GPT3_TABLE["peak_lr"].at(run.n_params, run.n_tokens) for run in others) > 1.3
