"""Fits: they find a law that made the data, and say when the data cannot tell."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.recipe.power_laws import TERMS, PowerLaw, fit
from lib.recipe.published_runs import COMPARABLE, PublishedRun

approx = pytest.approx
powers = st.floats(-1, 1)


def runs_of(law, sizes=((1e8, 3e9), (1e9, 3e11), (2e10, 4e11), (7e10, 1.5e13))):
    return [
        PublishedRun(
            name=f"{n_params:g}",
            family="made",
            lineage="made",
            n_params=n_params,
            n_tokens=n,
            peak_lr=law.at(n_params, n),
        )
        for n_params, n in sizes
    ]


@given(coefficient=st.floats(1e-6, 1e3), of_params=powers, of_tokens=powers)
def test_a_fit_finds_the_law_that_made_the_data(coefficient, of_params, of_tokens):
    law = PowerLaw(name="made", coefficient=coefficient, params_exponent=of_params, tokens_exponent=of_tokens)
    found = fit("peak_lr", "params and tokens", runs_of(law))
    assert found.params_exponent == approx(of_params, abs=1e-9)
    assert found.tokens_exponent == approx(of_tokens, abs=1e-9)
    assert found.at(9e9, 2e11) == approx(law.at(9e9, 2e11), rel=1e-9)


def test_a_fit_to_compute_gives_both_the_same_power():
    law = PowerLaw(name="made", coefficient=0.3118 * 6**-0.125, params_exponent=-0.125, tokens_exponent=-0.125)
    found = fit("peak_lr", "compute", runs_of(law))
    assert (found.coefficient, found.params_exponent, found.tokens_exponent) == approx(
        (law.coefficient, -0.125, -0.125)
    )


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("quantity", ["peak_lr", "global_batch_tokens"])
def test_the_fit_is_that_of_numpy(quantity, terms):
    runs = [run for run in COMPARABLE if run.get(quantity) is not None]
    size, tokens = (np.log([getattr(run, name) for run in runs]) for name in ("n_params", "n_tokens"))
    columns = {"params": [size], "tokens": [tokens], "compute": [size + tokens], "nothing": []}
    matrix = np.column_stack([np.ones(len(runs)), *columns.get(terms, [size, tokens])])
    expected = matrix @ np.linalg.lstsq(matrix, np.log([run.get(quantity) for run in runs]))[0]
    law = fit(quantity, terms)
    assert [math.log(law.at(run.n_params, run.n_tokens)) for run in runs] == approx(expected, rel=1e-9)


def test_a_constant_is_the_geometric_mean():
    law = fit("peak_lr", "nothing")
    assert math.log(law.coefficient) == approx(np.mean([math.log(run.peak_lr) for run in COMPARABLE]))
    assert law.formula == f"{law.coefficient:.4g}"


def test_runs_that_do_not_tell_size_from_tokens_are_refused():
    law = PowerLaw(name="made", coefficient=1e-3)
    in_step = runs_of(law, [(1e8, 2e9), (1e9, 2e10), (1e10, 2e11)])  # 20 tokens a parameter, all of them
    with pytest.raises(ValueError, match=r"runs = 3 runs: enough of them, unlike .*: params and tokens"):
        fit("peak_lr", "params and tokens", in_step)
    with pytest.raises(ValueError, match="at least one that prints global_batch_tokens"):
        fit("global_batch_tokens", "nothing", in_step)
