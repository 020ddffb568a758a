"""Fits: constants that are known, laws that hold for any runs, and what is refused."""

import csv
import os
import re
from dataclasses import replace
from itertools import product
from math import exp, log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, least_squares

from lib.fit import OBJECTIVES, bootstrap, fit_law, hold_out
from lib.fit.descent import HUBER_DELTA, Rows
from lib.fit.law import surface_of
from lib.runs import Runs, of_law, published
from lib.runs.identifiability import Design, same_losses, singular_values
from lib.runs.table import read_runs
from lib.scaling import ScalingLaw, law

SIZES, TOKENS = zip(*product((3e7, 1e8, 4e8, 2e9, 1e10), (1e9, 8e9, 6e10, 5e11)), strict=True)
GADRE = Path(__file__).resolve().parents[2] / "shared/data/gadre_overtraining_104models.csv"
LOSS = "loss_c4_eval_nats_per_token"

# Fits of Gadre's models, computed twice by independent methods: shared/cases/fits.json, fits_of_gadre_104_models.
# (E, A, B, alpha, beta), then the objective.
CONSTANTS = ("E", "A", "B", "alpha", "beta")
REFERENCE = {
    ("c4_original", "huber"): ((1.620024, 122.5531, 242.6089, 0.2525741, 0.2622292), 0.0005299541304503376),
    ("rpj", "huber"): ((1.720245, 106.091, 297.9755, 0.2430845, 0.2730054), 0.0004265108271538951),
    ("c4_original", "least squares"): ((1.536019, 125.2741, 162.6243, 0.2590095, 0.2318032), 0.02435091),
    ("rpj", "least squares"): ((1.527375, 61.9821, 285.2819, 0.2092103, 0.2634971), 0.02392124),
}


@pytest.fixture(scope="module")
def gadre():
    """Gadre's 104 models by corpus; the file lies beside the clone, not in it."""
    if not GADRE.exists() and os.environ.get("CI") != "true":
        pytest.skip(f"NOT CHECKED: the fits of Gadre's 104 models, for want of {GADRE}")
    runs, _ = read_runs(GADRE, loss=LOSS)
    return runs.by_group()


@pytest.fixture(scope="module")
def fits(gadre):
    """Fits of Gadre's models from 100 starts each, by corpus and objective, made once."""
    return {key: fit_law(gadre[key[0]], key[1]) for key in REFERENCE}


def constants(some_law):
    return [getattr(some_law, name) for name in CONSTANTS]


def truth(**changes):
    parts = {"E": 1.7, "A": 400.0, "B": 1500.0, "alpha": 0.33, "beta": 0.35}
    return ScalingLaw(name="the truth", **(parts | changes))


@pytest.mark.parametrize(("corpus", "objective"), REFERENCE)
def test_the_fits_of_104_models_have_the_reference_constants(fits, corpus, objective):
    wanted, objective_sum = REFERENCE[corpus, objective]
    fit = fits[corpus, objective]
    assert constants(fit.law) == pytest.approx(wanted, rel=1e-4)
    assert fit.objective_sum == pytest.approx(objective_sum, rel=1e-6)
    assert fit.n_at_best >= 95
    assert fit.warnings == ()


def test_the_least_squares_fits_have_the_reference_residuals(fits):
    assert fits["c4_original", "least squares"].rms == pytest.approx(0.02676197, rel=1e-5)
    assert fits["rpj", "least squares"].rms == pytest.approx(0.02614315, rel=1e-5)


# Those that spent at least half of their tokens in warm-up, as (millions of parameters, tokens a parameter).
IN_WARMUP = {(79, 5), (79, 10), (154, 5), (412, 5), (412, 10)}


def test_without_the_five_runs_in_warmup_the_fit_is_another(gadre, fits):
    # shared/cases/fits.json, notes: 60 to 72% of the squares come from five runs; without them E 1.713, A 215.5,
    # B 183.5, alpha .289, beta .249, and the rms falls from .027 to .012.
    runs = gadre["c4_original"]
    kinds = [(round(n / 1e6), round(d / n)) for n, d in zip(runs.n_params, runs.n_tokens, strict=True)]
    five = [place for place, kind in enumerate(kinds) if kind in IN_WARMUP]
    whole, fit = fits["c4_original", "least squares"], fit_law(runs.without(five), "least squares")
    assert constants(fit.law) == pytest.approx([1.713, 215.5, 183.5, 0.289, 0.249], rel=2e-3)
    assert fit.rms == pytest.approx(0.012, abs=5e-4)
    assert 0.60 <= sum(whole.residuals[k] ** 2 for k in five) / whole.objective_sum <= 0.72


@pytest.mark.parametrize(
    ("corpus", "n_held", "mean_error", "largest"), [("c4_original", 4, 0.0196, -0.0395), ("rpj", 5, 0.0118, -0.0199)]
)
def test_the_largest_of_104_models_are_predicted_as_well_as_known(gadre, corpus, n_held, mean_error, largest):
    # shared/cases/fits.json, extrapolation: the 30 runs below 2.4e20 FLOP predict the rest.
    held = hold_out(gadre[corpus], n_held)
    assert len(held.fit.runs) == 30
    assert held.mean_abs_error == pytest.approx(mean_error, abs=5e-5)
    assert dict(zip(held.held.n_params, held.errors, strict=True))[6889410560.0] == pytest.approx(largest, abs=5e-5)
    assert 35 <= held.reach <= 49
    assert all(label.startswith("extrapolated") for label in held.labels)


@pytest.mark.parametrize(("corpus", "kappa"), [("c4_original", 29.3), ("rpj", 32.5)])
def test_the_designs_of_104_models_have_the_reference_condition_numbers(fits, corpus, kappa):
    # shared/cases/fits.json, identifiability.kappa_values.
    fit = fits[corpus, "huber"]
    assert round(fit.design.kappa, 1) == kappa
    assert fit.design.verdict == "ok"


def test_intervals_of_a_fit_of_34_models_are_as_wide_as_known_and_miss_the_largest(gadre):
    # shared/cases/fits.json: standard errors of the c4 fit; the 80% interval of the 30 smaller runs, 2.05 to 2.33,
    # misses the 2.38 that the 6.9B model reached.
    found = bootstrap(fit_law(gadre["c4_original"], n_starts=10), n_resamples=120, n_starts=1)
    known = {"E": 0.275, "A": 0.7, "B": 1.1, "alpha": 0.05, "beta": 0.057}
    for name, error in known.items():
        assert found.standard_error(name) == pytest.approx(error, rel=0.3)
    held = hold_out(gadre["c4_original"], 4, n_starts=10)
    low, high = bootstrap(held.fit, n_resamples=60, n_starts=1).loss(held.held.n_params[-1], held.held.n_tokens[-1])
    assert (low, high) == pytest.approx((2.05, 2.33), abs=0.04)
    assert high < held.held.loss[-1]


@pytest.mark.parametrize(("seed", "data_term"), [(0, 1000.0), (1, 100.0), (1, 1000.0), (3, 100.0), (3, 1000.0)])
def test_every_start_finds_the_optimum_where_the_term_of_the_tokens_hardly_counts(seed, data_term):
    rng = np.random.default_rng(seed)
    n_params = np.exp(rng.uniform(log(3e7), log(1e10), 46))
    n_tokens = n_params * np.exp(rng.uniform(log(2), log(600), 46))
    hardly = truth(A=60.0, B=data_term, alpha=0.19, beta=0.56)
    fit = fit_law(of_law(hardly, n_params.tolist(), n_tokens.tolist(), noise=0.003, seed=seed))
    assert fit.n_at_best >= 99


def test_the_start_that_found_the_optimum_counts_where_none_but_it_arrives():
    """Losses over nine orders of magnitude, which no law has made: the fit tells how few starts agree."""
    n_params = [1.4e7, 5.6e4, 4.5e9, 4.5e9, 1.7e12, 1.4e7, 4.5e9, 4.5e9, 1.7e12]
    n_tokens = [2.0e5, 4.5e4, 5.1e6, 5.1e6, 5.1e6, 5.1e6, 2.0e5, 2.0e5, 5.1e6]
    loss = [5.4e7, 2.4e3, 6.2e7, 0.022, 2.9, 380.0, 1.1e6, 220.0, 4.8e5]
    fit = fit_law(Runs(n_params=n_params, n_tokens=n_tokens, loss=loss), "least squares", n_starts=20)
    assert 1 <= fit.n_at_best < 20


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_gradient_is_that_of_the_objective(objective):
    surface = surface_of(of_law(truth(), SIZES, TOKENS, noise=0.02), objective)
    theta = surface.theta(truth(alpha=0.3, E=1.6))
    numeric = approx_fprime(theta, lambda t: surface(t)[0], 1e-7)
    assert surface(theta)[1] == pytest.approx(numeric, rel=1e-4)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_another_minimiser_ends_in_the_same_optimum(objective):
    runs = of_law(truth(), SIZES, TOKENS, noise=0.01, seed=3)
    n, d, loss = (np.array(column) for column in (runs.n_params, runs.n_tokens, runs.loss))

    def residuals(t):
        return np.log(np.exp(t[2]) + np.exp(t[0] - t[3] * np.log(n)) + np.exp(t[1] - t[4] * np.log(d))) - np.log(loss)

    start = [log(300), log(1000), log(1.5), 0.3, 0.3]
    kind = {"huber": {"loss": "huber", "f_scale": HUBER_DELTA}, "least squares": {}}[objective]
    other = least_squares(residuals, start, x_scale="jac", ftol=1e-15, xtol=1e-15, gtol=1e-15, max_nfev=20_000, **kind)
    a, b, e, alpha, beta = other.x
    fit = fit_law(runs, objective, n_starts=20)
    cost = 2 * other.cost if objective == "least squares" else other.cost
    assert fit.objective_sum <= cost * (1 + 1e-6)
    assert constants(fit.law) == pytest.approx([exp(e), exp(a), exp(b), alpha, beta], rel=5e-3)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_each_descent_ends_where_it_would_have_ended_alone(objective):
    surfaces = [surface_of(of_law(truth(), SIZES, TOKENS, noise=0.01, seed=k), objective) for k in range(4)]
    starts = np.concatenate([one.starts(3, np.random.default_rng(5)) for one in surfaces])
    values, ends = Rows.ends([one for one in surfaces for _ in range(3)], starts)
    for k, start in enumerate(starts):
        value, end = Rows.ends([surfaces[k // 3]], start[np.newaxis])
        assert (value, *end.tolist()) == (values[k], ends[k].tolist())


laws = st.builds(
    truth,
    E=st.floats(1.0, 2.5),
    A=st.floats(100.0, 1000.0),
    B=st.floats(200.0, 3000.0),
    alpha=st.floats(0.25, 0.45),
    beta=st.floats(0.25, 0.45),
)


@settings(max_examples=8)
@given(law=laws, objective=st.sampled_from(OBJECTIVES))
def test_a_fit_finds_the_law_that_made_the_runs(law, objective):
    runs = of_law(law, SIZES, TOKENS)
    assume(Design(runs=runs, law=law).kappa < 150)
    fit = fit_law(runs, objective, n_starts=10)
    assert constants(fit.law) == pytest.approx(constants(law), rel=2e-3)
    assert max(map(abs, fit.residuals)) < 1e-5


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_minimiser_goes_to_the_bottom_of_a_tiny_objective(objective):
    """Its rule to stop is relative to 1 where the objective is below 1: unscaled it would stop at 1e-21."""
    assert fit_law(of_law(truth(), SIZES, TOKENS), objective, n_starts=10).objective_sum < 1e-25


@settings(max_examples=6)
@given(k=st.floats(1e-3, 1e3), m=st.floats(1e-3, 1e3), seed=st.integers(0, 99))
def test_the_unit_of_parameters_and_tokens_moves_only_a_and_b(k, m, seed):
    runs = of_law(truth(), SIZES, TOKENS, noise=0.01, seed=seed)
    other = Runs(n_params=[k * n for n in SIZES], n_tokens=[m * d for d in TOKENS], loss=runs.loss)
    one, two = fit_law(runs, n_starts=10).law, fit_law(other, n_starts=10).law
    assert (two.E, two.alpha, two.beta) == pytest.approx((one.E, one.alpha, one.beta), rel=1e-4)
    ratios = (two.A / (one.A * k**one.alpha), two.B / (one.B * m**one.beta))
    assert ratios == pytest.approx((1, 1), rel=2e-3)


@settings(max_examples=6)
@given(order=st.permutations(range(len(SIZES))), seed=st.integers(0, 99))
def test_the_order_of_the_runs_does_not_matter(order, seed):
    runs = of_law(truth(), SIZES, TOKENS, noise=0.01, seed=seed)
    one, two = fit_law(runs, n_starts=10), fit_law(runs.take(order), n_starts=10)
    assert constants(two.law) == pytest.approx(constants(one.law), rel=1e-4)
    assert two.objective_sum == pytest.approx(one.objective_sum, rel=1e-9)


@settings(max_examples=6)
@given(k=st.floats(1e-9, 1e9))
def test_losses_in_another_unit_scale_e_a_and_b(k):
    runs = of_law(truth(), SIZES, TOKENS, noise=0.01)
    other = Runs(n_params=SIZES, n_tokens=TOKENS, loss=[k * loss for loss in runs.loss])
    one, two = fit_law(runs, n_starts=10).law, fit_law(other, n_starts=10).law
    assert constants(two) == pytest.approx([k * one.E, k * one.A, k * one.B, one.alpha, one.beta], rel=1e-3)


def test_huber_leaves_five_bad_runs_of_forty_aside():
    sizes, tokens = zip(*product(np.geomspace(3e7, 1e10, 8), np.geomspace(1e9, 5e11, 5)), strict=True)
    runs = of_law(truth(), [float(n) for n in sizes], [float(d) for d in tokens], noise=5e-4)
    losses = [*runs.loss[:-5], *(1.05 * loss for loss in runs.loss[-5:])]
    spoilt = Runs(n_params=runs.n_params, n_tokens=runs.n_tokens, loss=losses)
    robust, plain = fit_law(spoilt, n_starts=20), fit_law(spoilt, "least squares", n_starts=20)
    assert abs(robust.law.beta - 0.35) < 0.01
    assert abs(plain.law.alpha - 0.33) > 5 * abs(robust.law.alpha - 0.33)


def test_the_same_seed_gives_the_same_fit():
    runs = of_law(truth(), SIZES, TOKENS, noise=0.01)
    assert fit_law(runs, n_starts=5, seed=1) == fit_law(runs, n_starts=5, seed=1)


def test_a_fitted_law_knows_its_range_and_says_when_it_is_left():
    fit = fit_law(of_law(truth(), SIZES, TOKENS), n_starts=5)
    assert fit.law.label(1e9, 1e10) == "within the fitted range"
    assert fit.law.label(1e12, 1e13).startswith("extrapolated: ")
    assert fit.law.origin.n_runs == len(SIZES)


def test_the_real_table_looks_sound_and_its_fit_is_not():
    """Sixteen models on the Pile: spread well enough by fixed constants, and yet E falls to nothing."""
    fit = fit_law(published("Cerebras-GPT", "Pythia", "GPT-NeoX"), n_starts=20)
    assert fit.design.nominal_kappa < 50
    assert fit.design.fitted_kappa > 150
    assert any(re.match(r"E = .*e-05: below 0\.5 nats", text) for text in fit.warnings)


def test_an_exponent_at_its_bound_is_said():
    steep = ScalingLaw(name="steep", E=1.7, A=4e22, B=1500.0, alpha=3.5, beta=0.35)
    sizes = [1e7, 1.3e7, 1.7e7, 2.2e7] * 5
    fit = fit_law(of_law(steep, sizes, [d for d in (1e9, 8e9, 6e10, 5e11, 4e12) for _ in range(4)]), n_starts=20)
    assert fit.stuck == ("alpha",)
    assert any("an exponent ended at its bound" in text for text in fit.warnings)


def test_as_many_runs_as_constants_are_fitted_with_a_warning():
    runs = of_law(truth(), [1e8, 1e10, 1e9, 3e7, 1e10], [1e9, 3e9, 1e10, 1e12, 1e12])
    assert any("as many runs as constants" in text for text in fit_law(runs, n_starts=10).warnings)


def test_runs_that_ended_in_warmup_are_named():
    runs = of_law(truth(), SIZES, TOKENS)
    warm = Runs(n_params=SIZES, n_tokens=TOKENS, loss=runs.loss, warmup_tokens=[8e9] * len(SIZES))
    (said,) = fit_law(warm, n_starts=5).warnings
    assert said.startswith("10 of 20 runs ended inside warm-up")
    assert "row 1, row 2, row 5" in said
    long = Runs(n_params=SIZES, n_tokens=TOKENS, loss=runs.loss, warmup_tokens=[0.6e9] * len(SIZES))
    assert fit_law(long, n_starts=5).warnings[0].startswith("5 of 20 runs spent half or more in warm-up")


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        (published("Cerebras-GPT"), "Cerebras-GPT: condition number 319,000: these runs cannot tell"),
        (published("Pythia"), "Pythia: 1 different token count: at least 3"),
        (
            published("Pythia", "Pythia deduped"),
            "runs of 2 corpora, The Pile; The Pile, deduplicated: losses on differ",
        ),
        (of_law(truth(), [1e8, 1e9, 1e10, 2e10], [1e9, 1e10, 1e11, 1e12]), "4 runs for 5 constants"),
        (of_law(truth(), [1e8, 1e9, 1e10] * 2, [1e10] * 3 + [1e12] * 3), "2 different token counts"),
        (of_law(truth(), [1e8, 2e8, 3e8, 5e8, 7e8, 1e9], [1e10] * 6), "1 different token count"),
        (of_law(truth(), [1e8] * 6, [1e9, 2e9, 1e10, 2e10, 1e11, 2e11]), "1 different size"),
    ],
)
def test_runs_that_cannot_tell_are_refused_with_the_reason(runs, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        fit_law(runs)


def test_a_hold_out_keeps_the_largest_and_refuses_to_keep_all():
    runs = of_law(truth(), SIZES, TOKENS)
    held = hold_out(runs, n_starts=5)
    assert sorted(held.held.compute) == sorted(runs.compute)[-2:]
    assert held.mean_abs_error < 1e-4
    with pytest.raises(ValueError, match="n_held = 20: fewer than the 20 runs"):
        hold_out(runs, n_held=20)


def test_a_hold_out_that_leaves_too_little_names_what_was_asked():
    with pytest.raises(ValueError, match=r"^n_held = 16 of 20 runs: those that are left: .* 4 runs for 5 constants"):
        hold_out(of_law(truth(), SIZES, TOKENS), n_held=16)


def test_a_fit_is_made_of_what_it_says():
    fit = fit_law(of_law(truth(), SIZES, TOKENS), n_starts=5)
    with pytest.raises(TypeError, match="runs = 5"):
        replace(fit, runs=5)
    with pytest.raises(ValueError, match="stuck = 'gamma'"):
        replace(fit, stuck=("gamma",))


@pytest.mark.parametrize("make", [fit_law, hold_out])
def test_starts_have_a_stated_limit(make):
    with pytest.raises(ValueError, match=r"^n_starts = 1000000000: at most 10,000"):
        make(of_law(truth(), SIZES, TOKENS), n_starts=10**9)


def test_one_loss_for_all_runs_is_refused_as_such():
    runs = Runs(n_params=SIZES, n_tokens=TOKENS, loss=[2.5] * len(SIZES))
    with pytest.raises(ValueError, match=r"loss = 2\.5 in every run"):
        fit_law(runs)


def test_arrays_where_one_number_or_a_list_is_meant_are_refused():
    with pytest.raises(TypeError, match=r"^beta \(array of float64\): one number"):
        same_losses(truth(), (1e9, 1e12), np.array([0.3, 0.4]))
    with pytest.raises(TypeError, match=r"^columns = array\(5\.\) \(ndarray\): a sequence of columns"):
        singular_values(np.array(5.0))


def test_the_published_laws_fit_themselves():
    for name in ("Besiroglu 2024", "Muennighoff 2023"):
        fit = fit_law(of_law(law(name), SIZES, TOKENS), n_starts=10)
        assert constants(fit.law) == pytest.approx(constants(law(name)), rel=1e-3)


def test_the_file_of_104_models_is_read_as_it_is(gadre):
    with GADRE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {name: len(runs) for name, runs in gadre.items()} == {"c4_original": 34, "rpj": 35, "rw_original": 35}
    assert sum(map(len, gadre.values())) == len(rows)
    assert gadre["rpj"].loss[0] == float(next(row[LOSS] for row in rows if row["training_set"] == "rpj"))
