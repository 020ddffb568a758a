"""Whether runs can tell the constants of a law apart: known designs, and what a change of units may not change."""

import math
import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.runs import Runs, of_law, published
from lib.runs.identifiability import Design, condition_number, same_losses, singular_values
from lib.scaling import ScalingLaw, law

BESIROGLU, HOFFMANN = law("Besiroglu 2024"), law("Hoffmann 2022")
DECADE = [1e8 * 10 ** (k / 5) for k in range(6)]


def design(n_params, n_tokens):
    return Design(runs=of_law(BESIROGLU, n_params, n_tokens))


def isoflop(budgets, n_sizes=5, factor=2.5):
    """Sizes and tokens on isoFLOP lines, spread about the best size of each."""
    steps = [factor ** (2 * k / (n_sizes - 1) - 1) for k in range(n_sizes)]
    sizes = [(c, BESIROGLU.optimum(c)[0] * step) for c in budgets for step in steps]
    return [n for _, n in sizes], [c / 6 / n for c, n in sizes]


# The verdicts and orders of magnitude of shared/cases/fits.json, identifiability.kappa_values.


def test_six_models_on_one_decade_with_the_same_tokens_are_refused():
    found = design(DECADE, [1e10] * 6)
    assert (found.verdict, found.kappa) == ("refuse", math.inf)
    assert found.explanation == "1 different token count: at least 3, or many laws fit"


def test_one_decade_with_tokens_equal_within_a_percent_is_refused():
    found = design(DECADE, [1e10 * f for f in (1.0, 1.004, 0.994, 1.007, 0.991, 1.003)])
    assert found.verdict == "refuse"
    assert 1e5 < found.kappa < 1e8


def test_a_grid_of_three_by_two_has_a_rank_of_four_and_is_refused():
    sizes, tokens = zip(*product((1e8, 1e9, 1e10), (1e9, 1e12)), strict=True)
    found = design(sizes, tokens)
    assert found.verdict == "refuse"
    assert found.kappa > 1e12
    assert found.explanation == "2 different token counts: at least 3, or many laws fit"


def test_one_budget_is_refused_and_three_are_not():
    assert 5e3 < design(*isoflop([1e20])).kappa < 1e5
    assert design(*isoflop([1e20])).verdict == "refuse"
    assert 40 < design(*isoflop([1e19, 1e20, 1e21])).kappa < 60


def test_six_models_spread_well_are_taken():
    sizes, tokens = [1e8, 1e8, 1e9, 1e10, 1e10, 1e9], [1e9, 1e12, 2e10, 1e10, 1e12, 3e11]
    assert design(sizes, tokens).kappa < 50
    assert design(sizes, tokens).verdict == "ok"


@pytest.mark.parametrize(
    ("kappa", "verdict"),
    [(49.9, "ok"), (50, "notice"), (149, "notice"), (150, "warn"), (9_999, "warn"), (10_000, "refuse")],
)
def test_the_thresholds_are_those_of_the_criterion(kappa, verdict, monkeypatch):
    found = design([1e8, 1e8, 1e9, 1e10, 1e10, 1e9], [1e9, 1e12, 2e10, 1e10, 1e12, 3e11])
    monkeypatch.setitem(vars(found), "nominal_kappa", kappa)
    assert found.verdict == verdict


def test_released_suites_are_refused_alone_and_taken_together():
    assert Design(runs=published("Cerebras-GPT")).verdict == "refuse"  # 20 tokens a parameter, all of them
    assert Design(runs=published("Pythia")).verdict == "refuse"  # 300 billion tokens, all of them
    assert Design(runs=published("Cerebras-GPT", "Pythia")).verdict == "ok"


def test_a_fitted_law_counts_where_it_is_the_worse():
    runs = published("Cerebras-GPT", "Pythia")
    flat = ScalingLaw(name="flat", E=1e-5, A=130.0, B=4.4, alpha=0.26, beta=0.046)
    assert Design(runs=runs).verdict == "ok"
    assert Design(runs=runs, law=flat).verdict == "warn"
    assert Design(runs=runs, law=flat).kappa == Design(runs=runs, law=flat).fitted_kappa > 1000


def test_exponents_that_fit_six_runs_equally_predict_otherwise_far_away():
    # shared/cases/fits.json, notes: beta of .15, .285 and .5 predict 1.771, 1.850 and 1.904 at (1e11, 1e13).
    twins = [same_losses(HOFFMANN, (1e9, 1e12), beta) for beta in (0.15, 0.285, 0.5)]
    for n, d in product((1e8, 1e9, 1e10), (1e9, 1e12)):
        assert [twin.loss(n, d) for twin in twins] == pytest.approx([HOFFMANN.loss(n, d)] * 3, rel=1e-12)
    assert [round(twin.loss(1e11, 1e13), 3) for twin in twins] == [1.771, 1.850, 1.904]


designs = st.lists(st.tuples(st.floats(1e7, 1e11), st.floats(1e8, 1e13)), min_size=6, max_size=12, unique=True)


@given(runs=designs, k=st.floats(1e-3, 1e3), m=st.floats(1e-3, 1e3))
def test_the_unit_of_parameters_and_tokens_does_not_matter(runs, k, m):
    n, d = zip(*runs, strict=True)
    other = ScalingLaw(
        name="other units",
        E=BESIROGLU.E,
        A=BESIROGLU.A * k**BESIROGLU.alpha,
        B=BESIROGLU.B * m**BESIROGLU.beta,
        alpha=BESIROGLU.alpha,
        beta=BESIROGLU.beta,
    )
    kappa = condition_number(n, d, BESIROGLU)
    if kappa < 1e6:
        assert condition_number([k * v for v in n], [m * v for v in d], other) == pytest.approx(kappa, rel=1e-6)


@given(runs=designs, order=st.randoms())
def test_the_order_of_the_runs_does_not_matter(runs, order):
    shuffled = order.sample(runs, len(runs))
    one, two = (condition_number(*zip(*rows, strict=True), BESIROGLU) for rows in (runs, shuffled))
    if one < 1e6:
        assert two == pytest.approx(one, rel=1e-6)


matrices = st.lists(st.lists(st.floats(-10, 10), min_size=6, max_size=6), min_size=1, max_size=5)


@given(columns=matrices, turn=st.floats(-3, 3))
def test_singular_values_keep_the_sum_of_squares_and_do_not_see_a_rotation(columns, turn):
    values = singular_values(columns)
    assert values == sorted(values, reverse=True)
    assert math.fsum(v * v for v in values) == pytest.approx(math.fsum(x * x for c in columns for x in c), abs=1e-9)
    cos, sin = math.cos(turn), math.sin(turn)
    turned = [[cos * c[0] - sin * c[1], sin * c[0] + cos * c[1], *c[2:]] for c in columns]
    assert singular_values(turned) == pytest.approx(values, abs=1e-6)


def test_singular_values_of_a_hilbert_matrix():
    # Condition number of the Hilbert matrix of order 5: 4.76607e5 (Higham 2002, Accuracy and Stability, table 28.1).
    values = singular_values([[1 / (i + j + 1) for i in range(5)] for j in range(5)])
    assert values[0] / values[-1] == pytest.approx(4.766e5, rel=1e-4)


def test_a_twin_that_would_need_a_negative_floor_is_refused():
    low = ScalingLaw(name="low", E=0.01, A=400.0, B=400.0, alpha=0.3, beta=0.28)
    with pytest.raises(ValueError, match=r"^E = -"):
        same_losses(low, (1e9, 1e10), 0.01)


def test_two_equal_token_counts_are_refused():
    with pytest.raises(ValueError, match=r"token_counts = 1e\+09 twice"):
        same_losses(HOFFMANN, (1e9, 1e9), 0.3)


def test_too_few_runs_are_refused_by_their_number():
    assert design([1e8, 1e9, 1e10], [1e9, 1e10, 1e11]).explanation.startswith("3 runs for 5 constants")
    assert Design(runs=Runs(n_params=[1e8], n_tokens=[1e9], loss=[3.0])).explanation.startswith("1 run for 5")


@pytest.mark.parametrize("beta", [1e9, 1e-300, 5e-324])
def test_an_exponent_that_no_float_can_show_is_refused(beta):
    with pytest.raises(ValueError, match=r"^beta = .*: an exponent that a float can hold"):
        same_losses(HOFFMANN, (0.5, 1e9), beta)


@pytest.mark.parametrize(
    ("columns", "error", "said"),
    [
        (None, TypeError, "columns = None (NoneType): a sequence of columns"),
        (5.0, TypeError, "columns = 5.0 (float): a sequence of columns"),
        ([], TypeError, "columns = [] (list): a sequence of columns"),
        ([[1.0, 2.0], [1.0]], ValueError, "columns[1] = 1 entries: 2, as the first"),
        ([[1.7e308, 1.7e308]], ValueError, "columns = inf: a finite number"),
    ],
)
def test_what_is_no_matrix_is_refused(columns, error, said):
    with pytest.raises(error, match=f"^{re.escape(said)}"):
        singular_values(columns)


def test_singular_values_of_numbers_near_the_ends_of_a_float():
    assert singular_values([[3e200, 0.0], [0.0, 4e200]]) == pytest.approx([4e200, 3e200])
    assert singular_values([[3e-200, 0.0], [0.0, 4e-200]]) == pytest.approx([4e-200, 3e-200])
