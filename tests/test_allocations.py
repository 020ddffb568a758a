"""How published runs spent their compute, held against the laws."""

import pytest

from lib.scaling import law
from lib.scaling.allocations import PUBLISHED, Allocation, Comparison, published


@pytest.mark.parametrize(
    ("name", "n_params", "n_tokens"),
    [
        ("Chinchilla", 70e9, 1.4e12),  # Hoffmann et al. 2022, Table 4
        ("GPT-3", 174.6e9, 300e9),  # Brown et al. 2020, Table D.1
        ("Gopher", 280e9, 300e9),  # Rae et al. 2021, Table 1 and section 3.2
        ("llama 3.1 405b", 405_853_388_800, 15.6e12),  # Grattafiori et al. 2024, section 1
    ],
)
def test_published_allocations(name, n_params, n_tokens):
    run = published(name)
    assert (run.n_params, run.n_tokens) == (n_params, n_tokens)
    assert run.source


def test_by_its_refit_chinchilla_is_within_five_percent_of_the_best_size():
    assert Comparison(run=published("Chinchilla"), law=law("Besiroglu 2024")).size_ratio == pytest.approx(
        0.96, abs=0.01
    )


def test_gpt3_was_three_times_too_large_for_its_compute():
    beside = Comparison(run=published("GPT-3"), law=law("Besiroglu 2024"))
    assert beside.size_ratio == pytest.approx(3.3, abs=0.05)
    assert beside.compute_share == pytest.approx(0.61, abs=0.01)


@pytest.mark.parametrize("name", ["Besiroglu 2024", "Hoffmann 2022", "Muennighoff 2023"])
def test_no_published_run_beats_a_laws_best(name):
    for run in PUBLISHED.values():
        beside = Comparison(run=run, law=law(name))
        assert beside.cost >= 0
        assert 0 < beside.compute_share <= 1
        assert beside.best.compute_flops == pytest.approx(run.compute_flops)


def test_an_allocation_of_nothing_is_refused():
    with pytest.raises(ValueError, match="n_tokens = 0"):
        Allocation(n_params=1e9, n_tokens=0)


def test_a_misspelt_run_gets_the_nearest_name():
    with pytest.raises(ValueError, match="did you mean 'Chinchilla'"):
        published("chinchila")
