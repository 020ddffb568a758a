"""The loader of facts: nothing without unit, source and date gets past it."""

import datetime
import re
import tomllib
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from lib import facts

FIGURES = {"peak_flops_bf16": "FLOP/s", "power_watts": "W", "ratio": ""}
WORDS = {"tied": bool, "norm": str}
LABELS = ("aliases", "note")
LIB = Path(facts.__file__).parent
DATA = LIB / "data"

ROW = """
["X1 80GB"]
aliases = ["x1", "x1-80"]
source = "X1 data sheet v3, p. 2"
read = 2026-11-20
tied = true
peak_flops_bf16 = { value = 500e12, unit = "FLOP/s", printed = "1,000 TFLOPS with sparsity" }
ratio = { value = 2, unit = "" }

["X1 80GB".power_watts]
value = 700
unit = "W"
source = "X1 board specification, table 4"
read = 2026-11-21
"""


def read(text):
    return facts.parse(text, FIGURES, WORDS, LABELS, file="chips.toml")


def test_a_fact_keeps_what_is_used_and_what_is_printed():
    assert read(ROW)["X1 80GB"].facts["peak_flops_bf16"] == facts.Fact(
        value=500e12,
        unit="FLOP/s",
        printed="1,000 TFLOPS with sparsity",
        source="X1 data sheet v3, p. 2",
        read=datetime.date(2026, 11, 20),
    )


def test_a_fact_with_its_own_source_keeps_it():
    entry = read(ROW)["X1 80GB"]
    assert entry.sources["power_watts"] == "X1 board specification, table 4"
    assert entry.sources["tied"] == "X1 data sheet v3, p. 2"
    assert entry.facts["power_watts"].read == datetime.date(2026, 11, 21)


def test_an_entry_answers_for_facts_and_labels_alike():
    entry = read(ROW)["X1 80GB"]
    assert entry["power_watts"] == 700
    assert entry["tied"] is True
    assert entry["aliases"] == ("x1", "x1-80")
    assert entry.get("note", "none") == "none"
    with pytest.raises(KeyError, match="X1 80GB: no norm"):
        entry["norm"]


@pytest.mark.parametrize(
    "change", [{"figures": 5}, {"figures": ["a"]}, {"words": "tied"}, {"labels": "aliases"}], ids=repr
)
def test_the_fields_of_a_file_are_named_as_tables_and_a_tuple(change):
    with pytest.raises(TypeError, match=f"^{next(iter(change))} = "):
        facts.parse(**{"text": ROW, "figures": FIGURES, "words": WORDS, "labels": LABELS} | change)


def without(line_start):
    kept = [line for line in ROW.splitlines() if not line.startswith(line_start)]
    assert len(kept) < len(ROW.splitlines())
    return "\n".join(kept)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (without("unit"), "no unit; it must be 'W'"),
        (without("source"), "no source"),
        (without("read"), "no date of reading"),
        (without("value"), "power_watts: no value"),
        (ROW.replace('unit = "W"', 'unit = "kW"'), "power_watts.unit = 'kW': 'W'"),
        (ROW.replace("power_watts", "power_wats"), "an unknown field; did you mean 'power_watts'?"),
        (ROW.replace("printed", "prints"), "prints: an unknown key; did you mean 'printed'?"),
        (ROW.replace("value = 700", "value = nan"), "power_watts.value = nan: a finite number"),
        (ROW.replace("value = 700", "value = true"), "power_watts.value = True: a finite number"),
        (ROW.replace("value = 700", 'value = "700"'), "power_watts.value = '700': a finite number"),
        (ROW.replace("read = 2026-11-21", 'read = "2026-11-21"'), "without quotes"),
        (ROW.replace("read = 2026-11-21", "read = 2026-11-21T10:00:00"), "no date of reading"),
        (ROW.replace('"X1 board specification, table 4"', '" "'), "no source"),
        (ROW.replace('"X1 board specification, table 4"', "4"), "power_watts.source: text, not 4"),
        (ROW.replace("tied = true", "tied = 1"), "tied = 1: a bool"),
        (ROW.replace("tied = true", 'tied = { value = true, unit = "" }'), "a word has no unit"),
        (ROW.replace('{ value = 2, unit = "" }', "2"), "ratio = 2: a bare number"),
        (ROW.replace('"X1 board specification, table 4"', '"- 4"'), "no source"),
        (ROW.replace('["x1", "x1-80"]', "[1]"), "aliases: a list of texts"),
        (ROW.replace('["x1", "x1-80"]', '"x1"'), "aliases: a list of texts, none of them empty, not 'x1'"),
        (ROW.replace('["x1", "x1-80"]', '["x1", " "]'), "aliases: a list of texts, none of them empty"),
        (ROW.replace("tied = true", "note = ' '"), "note: a text that is not empty"),
        (ROW.replace("tied = true", "note = ['a']"), "note: a text that is not empty"),
        (ROW.replace("X1 80GB", ""), ": a row without a name"),
        ("loose = 3", "chips.toml: loose: a table with facts"),
        ("[X1]\n[X1]", "chips.toml: Cannot declare"),
    ],
)
def test_what_is_not_whole_is_refused_with_its_place(text, message):
    with pytest.raises(ValueError, match=r"^chips\.toml: ") as refusal:
        read(text)
    assert message in str(refusal.value)


@pytest.mark.parametrize("name", facts.files())
def test_every_row_of_every_data_file_has_unit_source_and_date(name):
    """Read without the loader: what a module forgot to check would show here."""
    tables = tomllib.loads((DATA / f"{name}.toml").read_text(encoding="utf-8"))
    for entry, table in tables.items():
        for field, fact in table.items():
            assert isinstance(fact, bool) or not isinstance(fact, int | float), f"{entry}.{field}: a bare number"
            if isinstance(fact, dict):
                whole = {key: table.get(key) for key in ("source", "read")} | fact
                assert whole["source"].strip(), f"{entry}.{field}: no source"
                assert isinstance(whole["read"], datetime.date), f"{entry}.{field}: no date"
                assert datetime.date(2020, 1, 1) < whole["read"] <= datetime.date.today(), f"{entry}.{field}: not yet"
                assert isinstance(fact["value"], str | bool) or isinstance(fact["unit"], str), (
                    f"{entry}.{field}: no unit"
                )


@pytest.mark.parametrize("name", facts.files())
def test_every_data_file_is_read_by_one_module_through_the_loader(name):
    assert len(readers()[name]) == 1


@cache
def readers():
    """Data file -> the modules that load it."""
    found = defaultdict(set)
    for path in LIB.rglob("*.py"):
        for name in re.findall(r'\bload\("(.*?)"', path.read_text(encoding="utf-8")):
            found[name].add(path)
    return found


@pytest.mark.parametrize("name", ["../data/models", "../../pyproject", "model", "models.toml"])
def test_what_is_no_data_file_is_refused_by_name(name):
    with pytest.raises(ValueError, match=f"name = '{re.escape(name)}': one of accelerators"):
        facts.sources(name)
