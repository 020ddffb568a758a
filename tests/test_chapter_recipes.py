"""The numbers that the chapter on recipes shows, recomputed from the data file by hand, without `lib`."""

import re
import tomllib
from math import exp, log, sqrt
from random import Random
from statistics import median

import numpy as np
import pytest

from tests.glued import glued

approx = pytest.approx
SIZE = sqrt(1e22 / 120)
TOKENS = 20 * SIZE


@pytest.fixture(scope="module")
def chapter(root):
    """What the chapter glues; and its text."""
    return glued(root, "notebooks/recipes.md")


@pytest.fixture(scope="module")
def runs(root):
    """(family, lineage, log N, log D, log of the rate, batch or None) of each dense AdamW run, standard rules."""
    rows = []
    for run in tomllib.loads((root / "lib/data/recipes.toml").read_text()).values():
        words = {key: value["value"] if isinstance(value, dict) else value for key, value in run.items()}
        usual = words.get("parametrization", "standard") == "standard" and not words.get("sparse", False)
        if usual and words["optimizer"] == "AdamW":
            logs = [log(words[key]) for key in ("n_params", "n_tokens", "peak_lr")]
            batch = words.get("global_batch_tokens")
            rows.append((words["family"], words.get("lineage") or words["family"], *logs, batch))
    return rows


def columns(rows, terms):
    return np.array([[1.0, *(row[2 + k] for k in terms)] for row in rows])


def held_out(rows, terms, group=0, wanted=None):
    """Median over groups of the median error of each, foretold by a fit to the others."""
    wanted = wanted or (lambda row: row[4])
    errors = []
    for name in dict.fromkeys(row[group] for row in rows):
        kept, out = [r for r in rows if r[group] != name], [r for r in rows if r[group] == name]
        fit = np.linalg.lstsq(columns(kept, terms), [wanted(r) for r in kept])[0]
        off = np.abs(columns(out, terms) @ fit - [wanted(r) for r in out])
        errors.append(median(exp(v) - 1 for v in off))
    return median(errors)


def test_how_many_runs_were_copied_from_one_table(chapter, runs):
    found, _ = chapter
    assert (found["n_runs"], found["n_copied"]) == (len(runs), sum(row[1] == "GPT-3" for row in runs))
    assert found["n_families"] == len({row[0] for row in runs})
    assert (found["ratio_low"], found["ratio_high"]) == approx(
        (min(exp(r[3] - r[2]) for r in runs), max(exp(r[3] - r[2]) for r in runs))
    )


def test_the_errors_against_families_held_out(chapter, runs):
    found, _ = chapter
    assert found["error_fit"] == approx(held_out(runs, (0, 1)))
    assert found["error_constant"] == approx(held_out(runs, ()))
    assert found["error_size"] == approx(held_out(runs, (0,)))
    assert found["lineage_fit"] == approx(held_out(runs, (0, 1), group=1))
    assert found["lineage_constant"] == approx(held_out(runs, (), group=1))
    with_batch = [row for row in runs if row[5]]
    assert found["batch_fit"] == approx(held_out(with_batch, (0, 1), wanted=lambda row: log(row[5])))


def test_the_errors_where_a_third_of_the_families_is_missing(chapter, runs):
    found, _ = chapter
    draw, names = Random(1), sorted({row[0] for row in runs})
    mine = {terms: [] for terms in ((0, 1), (), (0,))}
    for _ in range(60):  # deals of its own: the same law, other luck
        order = draw.sample(names, len(names))
        third = {name: order.index(name) % 3 for name in names}
        dealt = [(*row, third[row[0]]) for row in runs]
        for terms, errors in mine.items():
            missed = {}
            for k in range(3):
                kept, out = [r for r in dealt if r[-1] != k], [r for r in dealt if r[-1] == k]
                fit = np.linalg.lstsq(columns(kept, terms), [r[4] for r in kept])[0]
                for row, off in zip(out, np.abs(columns(out, terms) @ fit - [r[4] for r in out]), strict=True):
                    missed.setdefault(row[0], []).append(exp(off) - 1)
            errors.append(median(map(median, missed.values())))
    fit, constant, size = mine.values()
    assert found["deals_middle"] == approx(median(fit), abs=0.03)
    assert found["deals_low"] < median(fit) < found["deals_high"]
    assert found["n_deals_won"] / found["n_deals"] > 0.95
    assert sum(ours < min(theirs) for ours, *theirs in zip(fit, constant, size, strict=True)) > 0.95 * len(fit)


def test_how_the_rules_from_sweeps_come_nearer_to_habit(chapter, runs):
    found, _ = chapter
    fit = np.linalg.lstsq(columns(runs, (0, 1)), [row[4] for row in runs])[0]
    for name, compute in (("small", 1e20), ("large", 1e24)):
        size = sqrt(compute / 120)
        habit = exp(fit @ [1, log(size), log(20 * size)])
        assert found[f"{name}_step"] == approx(1.79 * size**-0.713 * (20 * size) ** 0.307 / habit)
        assert found[f"{name}_deepseek"] == approx(0.3118 * compute**-0.125 / habit)


def test_the_four_answers_for_1e22_flop(chapter, runs):
    found, _ = chapter
    fit = np.linalg.lstsq(columns(runs, (0, 1)), [row[4] for row in runs])[0]
    habit = exp(fit @ [1, log(SIZE), log(TOKENS)])
    deepseek, step = 0.3118 * 1e22**-0.125, 1.79 * SIZE**-0.713 * TOKENS**0.307
    between = log(SIZE / 6.66e9) / log(12.85e9 / 6.66e9)  # rows of GPT-3's table: 1.2e-4 and 1.0e-4
    gpt3 = 1.2e-4 * (1.0 / 1.2) ** between
    assert found["spread"] == approx(deepseek / gpt3)
    assert found["over_habit_step"] == approx(step / habit)
    assert found["over_habit_deepseek"] == approx(deepseek / habit)
    assert found["carry"] == approx(0.1 ** (fit[1] + fit[2]))


def test_the_batch(chapter):
    found, _ = chapter
    assert found["batch"] == approx(512 * 4096 / 1e6)
    layers = 46 * (4 * 4096**2 + 3 * 4096 * 10_240 + 2 * 4096) + 4096
    loss = (8.8e13 / layers) ** 0.076  # Kaplan's N leaves out the vocabulary
    assert found["critical"] == approx(2e8 / loss ** (1 / 0.21) / 1e6)
    assert found["batch_share"] == approx(found["batch"] / found["critical"])
    assert found["one_percent"] == approx((2 / 1.98) ** (1 / 0.21) - 1)
    assert found["growth_ten"] == approx(10**0.47)
    assert found["deepseek_batch"] == approx(0.2920 * 1e22**0.3271 / 1e6)
    assert found["step_batch"] == approx(0.58 * TOKENS**0.571 / 1e6)
    ramp = 12e9 * (log(3.2e6 / 32e3) / (3.2e6 - 32e3) - 1 / 3.2e6)
    assert found["ramp_steps"] == approx(ramp)


def test_the_schedules(chapter):
    found, _ = chapter
    assert found["share_cosine"] == approx(0.01 / 2 + 0.99 * 0.55)
    assert found["share_line"] == approx(0.01 / 2 + 0.99 * 0.5)
    assert found["share_stable"] == approx(1 - 0.005 - 0.2 / 2)
    assert 1 - 0.005 - found["equal_decay"] * 0.99 / 2 == approx(found["share_cosine"])
    assert found["equal_peak"] == approx(found["share_cosine"] / found["share_stable"])


def test_the_small_runs(chapter):
    found, _ = chapter
    assert found["sweep_share"] == approx(found["n_trials"] * 0.01)
    assert found["small_share"] == approx(found["sweep_share"] + 0.05 + 0.01)
    assert found["left"] == approx(10 / (1 + found["small_share"]))


def test_the_seed_and_the_exercise(chapter):
    found, _ = chapter
    assert (found["seed_width"], found["seed_heads"]) == (7040, 55)
    assert found["seed_lr"] == approx(3e-4 * found["over_habit_step"] / (1.79 * SIZE**-0.713 * TOKENS**0.307))
    assert found["wide_batch"] == 96 * found["wide_accumulation"]
    assert found["wide_tokens"] == approx(found["wide_batch"] * 4096 / 1e6)
    assert found["near_spread"] == approx(4.0)


def test_every_letter_of_the_chapter_is_on_the_notation_page(root, chapter):
    def letters(text):
        rows = re.findall(r"^\| (\$[^|]*) \|", text.split("## The same letters elsewhere")[0], re.MULTILINE)
        return {part.strip("$ ") for row in rows for part in row.split(",")}

    assert letters(chapter[1]) <= letters((root / "book/notation.md").read_text())


def test_every_number_that_is_shown_is_glued_and_the_other_way_round(chapter):
    found, text = chapter
    assert set(re.findall(r"\{glue:text\}`(\w+)", text)) == set(found)
