"""Formulas with the numbers put in: whoever types one into a calculator gets the number that it stands beside."""

import re
from math import sqrt

import pytest

from lib.architecture import model
from lib.compute.mfu import CONVENTIONS, MfuConvention
from lib.whatif import catalogue, reported
from lib.whatif.unfold import flops_per_token

SETTINGS = (
    ("worked-example", {}),
    ("worked-example", {"n_gpus": 2048, "days": 30, "accelerator": "h100", "mfu": 0.4, "corpus": "RedPajama"}),
    ("days-and-mfu", {}),
    ("days-and-mfu", {"model": "llama-3-405b", "n_tokens": "15.6T", "n_gpus": 16_384, "mfu": 0.41}),
    ("days-and-mfu", {"n_params": 1e8, "n_tokens": 1e9, "n_gpus": 1, "accelerator": "t4", "dtype": "fp16"}),
    ("mfu-conventions", {}),
    (
        "mfu-conventions",
        {"figure": 0.462, "unit": "MFU", "convention": "palm", "accelerator": "tpu v4", "dtype": "bf16"},
    ),
    ("mfu-conventions", {"figure": 13_812, "unit": "tokens/s", "model": "gpt-2 xl", "seq_len": 1024}),
    ("allocation", {}),
    ("allocation", {"law": "besiroglu", "compute": 1e26, "n_params": 1e11}),
    ("allocation", {"law": "hoffmann rounded", "compute": 1e19, "n_params": 1e9}),
)


def computed(formula):
    """What a printed formula comes to; None where it is put in words."""
    steps = formula.split("; ")[0] if formula.startswith("N = ") else formula.split("; ")[-1]
    asked = steps.split(" = ")[-1] if re.match(r"[ND]( / N)? = ", steps) else steps.split(" = ")[0]
    sum_ = asked.replace(",", "").replace(" x ", " * ").replace("^", "**")
    if re.search(r"[a-zA-Z]", re.sub(r"sqrt|[0-9.]e-?[0-9]", "", sum_)):
        return None
    return eval(sum_, {"sqrt": sqrt})


@pytest.mark.parametrize(("name", "settings"), SETTINGS)
def test_a_formula_gives_the_number_beside_it(name, settings):
    rows = [row for row in catalogue.answer(name, settings).rows if row.worked and not isinstance(row.value, str)]
    results = {row.label + row.group: (row.value, computed(row.worked), row.worked) for row in rows}
    checked = [found for found in results.values() if found[1] is not None]
    assert len(checked) >= 0.8 * len(results)
    for value, found, formula in checked:
        slack = 2e-5 if "nats" in formula or re.fullmatch(r"[\d.]+ - [\d.]+", formula) else 0.0
        assert found == pytest.approx(value, rel=6e-4, abs=slack), formula


COUNTS = (
    *CONVENTIONS.values(),
    *(
        MfuConvention(attention=attention, recompute=kind, params=params)
        for attention in ("none", "causal", "full")
        for kind in ("none", "selective", "full", "stopping_early", "whole_model")
        for params in ("total", "without_tables")
    ),
)


@pytest.mark.parametrize("name", ["llama-3-8b", "qwen3-0.6b", "gpt-2", "falcon-7b"])
def test_the_flops_of_a_token_unfold_to_their_parts(name):
    shape = model(name)
    for counted in COUNTS:
        wanted = counted.flops_per_token(shape, 8192)
        assert computed(flops_per_token(counted, shape, 8192)) == pytest.approx(wanted, rel=6e-4), counted


@pytest.mark.parametrize("name", ["days-and-mfu", "mfu-conventions", "worked-example"])
def test_wherever_attention_is_counted_its_heads_and_lengths_are_seen(name):
    rows = [row for row in catalogue.answer(name, {}).rows if "12 L H Q T" in row.convention]
    assert rows
    for row in rows:
        assert re.search(r"12 x [\d,]+ x [\d,]+ x [\d,]+ x [\d,]+", row.worked), row.label


def test_a_count_that_nobody_has_named_is_used_by_nobody():
    rows = reported.answer({"hfu": 0.4}, {"attention": "causal", "recompute": "full"}, None, {}).view.rows
    assert not [row.label for row in rows if row.convention.endswith("used by ")]


def test_tokens_are_not_counted_by_anybody():
    assert catalogue.answer("mfu-conventions", {"figure": 13_812, "unit": "tokens/s"}).title.startswith(
        "13,812 tokens/s are"
    )
    assert "by Megatron-LM" in catalogue.answer("mfu-conventions", {}).title


def test_whoever_counts_attention_says_of_which_shape():
    for name in ("days-and-mfu", "worked-example"):
        counted = [row for row in catalogue.answer(name, {}).rows if "L H Q T" in row.convention]
        assert counted
        assert all("shape" in " ".join(row.assumed) for row in counted), name
