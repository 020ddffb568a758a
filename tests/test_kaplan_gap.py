"""Why Kaplan's law and Hoffmann's differ: the published steps between them."""

import dataclasses

import pytest

from lib.scaling.kaplan_gap import CORRECTIONS


def test_each_step_lowers_the_exponent_from_kaplans_to_hoffmanns():
    # Porian et al. 2024, Table 1, RefinedWeb
    exponents = [step.exponent for step in CORRECTIONS]
    assert exponents == [0.835, 0.706, 0.602, 0.571, 0.497]
    assert [step.interval for step in CORRECTIONS] == [
        (0.82, 0.85),
        (0.69, 0.72),
        (0.59, 0.62),
        (0.56, 0.59),
        (0.49, 0.50),
    ]
    assert all(low <= step.exponent <= high for step in CORRECTIONS for low, high in [step.interval])


def test_the_best_size_at_chinchillas_compute_falls_with_them():
    # Porian et al. 2024, Figure 1, at 5.88e23 FLOP
    assert [step.n_params for step in CORRECTIONS] == [3e12, 787e9, 292e9, 183e9, 77e9]


def test_sizes_and_exponents_of_the_steps_fit_each_other():
    """Each line goes through the runs, 1.25e16 to 2.56e19 FLOP: led back there, the five agree within a factor of 4."""
    middle = (1.25e16 * 2.56e19) ** 0.5
    back = [step.n_params * (middle / 5.88e23) ** step.exponent for step in CORRECTIONS]
    assert max(back) / min(back) < 4


@pytest.mark.parametrize(
    ("field", "bad"), [("exponent", 1.5), ("n_params", -1.0), ("interval", (0.5, 1.2)), ("name", 3)]
)
def test_a_step_refuses_what_it_cannot_be(field, bad):
    with pytest.raises((TypeError, ValueError), match=f"^{field}"):
        dataclasses.replace(CORRECTIONS[0], **{field: bad})
