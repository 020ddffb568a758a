"""Published speeds: speed and figure of a row must agree under the convention that the row names."""

import re

import pytest

from lib.compute.speeds import SPEEDS, speed

# Rows whose two columns no convention reconciles; their remark says so. They are kept: a reader meets such tables.
APART = {"Llama 3 405B, Megatron-LM": 0.0084, "Llama 3 70B, Megatron-Bridge 26.04": -0.0221}
ROWS = [(row, figure) for row in SPEEDS.values() for figure in row.figures if row.tokens_per_second_per_gpu]


def last_digit(number):
    """Half a unit in the last digit of a number as it stands in the data, relative to it."""
    digits = re.sub(r"\D", "", f"{number:.15g}".split("e")[0]).lstrip("0")
    return 0.5 / int(digits)


@pytest.mark.parametrize(("row", "figure"), [pytest.param(*row, id=f"{row[0].name}-{row[1].unit}") for row in ROWS])
def test_speed_and_figure_agree_within_their_rounding(row, figure):
    whole = round(row.tokens_per_second_per_gpu * (row.n_gpus if row.name == "PaLM 540B" else 1))
    rounding = last_digit(figure.value) + last_digit(whole // 100 if row.name == "PaLM 540B" else whole)
    off = row.ratio(figure) - 1
    if row.name in APART:
        assert off == pytest.approx(APART[row.name], abs=2e-4)
        assert row.remark
    else:
        assert abs(off) < rounding


def test_a_row_without_a_speed_says_so():
    (meta,) = [row for row in SPEEDS.values() if row.tokens_per_second_per_gpu is None]
    assert meta.remark.startswith("no speed was printed")


def test_palm_s_shape_has_the_published_size():
    assert speed("palm 540b").model.n_params == pytest.approx(540.35e9, rel=2e-5)  # Chowdhery et al. 2022, Table 1


def test_an_unknown_speed_is_refused_with_the_nearest():
    with pytest.raises(ValueError, match=r"^speed = 'PaLM 54B': one of .*; did you mean 'PaLM 540B'"):
        speed("PaLM 54B")
