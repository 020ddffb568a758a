"""Facts of the field from `lib/data/*.toml`: every one with its unit, its source and the day it was read.

A file holds one table per entry. A figure is a table of its own, most often on one line; `source` and `read` of the
entry stand for each of its facts that gives none, so that a data sheet is named once:

    ["X1 80GB"]
    aliases = ["x1"]                                  # a label: the handbook's own word, no fact
    source = "X1 data sheet v3, p. 2"
    read = 2026-11-20
    dense = true                                      # a word: a fact that is no number
    peak_flops_bf16 = { value = 500e12, unit = "FLOP/s", printed = "1,000 TFLOPS with sparsity" }
    power_watts = { value = 700, unit = "W", source = "X1 board specification, table 4", read = 2026-11-21 }

The module that owns a file names the fields it may have; anything else is refused.
"""

import datetime
import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from numbers import Real
from pkgutil import get_data

from lib import check

_FACT_KEYS = ("value", "unit", "printed", "source", "read", "note")


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One fact: what we use, beside what its source prints."""

    value: float | int | str | bool
    unit: str  # empty for a word or a pure number
    source: str  # down to page or table
    read: datetime.date
    printed: str = ""  # as the source prints it, where that differs from `value`
    note: str = ""

    def __post_init__(self):
        check.fields(self, text="unit source printed note")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One row of a file: facts by field, and labels, which are the handbook's own words."""

    name: str
    facts: Mapping[str, Fact]
    labels: Mapping[str, object]

    def __post_init__(self):
        check.fields(self, text="name")

    def __getitem__(self, field):
        """The value of a fact or label that the entry has."""
        if field not in self.facts and field not in self.labels:
            raise KeyError(f"{self.name}: no {field}")
        return self.facts[field].value if field in self.facts else self.labels[field]

    def get(self, field, default=None):
        """The value of a fact or label, or the default where the entry has none."""
        check.text(field=field)
        return self[field] if field in self.facts or field in self.labels else default

    @property
    def sources(self):
        """Field -> source, for every fact."""
        return {field: fact.source for field, fact in self.facts.items()}


class Later(Mapping):
    """A mapping that is read when somebody looks into it: most who import a module of tables never do.

    Args:
        read: a function without arguments that returns the mapping.

    >>> table = Later(lambda: {"X1": 700})
    >>> table["X1"], len(table)
    (700, 1)
    """

    def __init__(self, read):
        check.instance(Callable, read=read)
        self._rows = cache(read)

    def __getitem__(self, name):
        return self._rows()[name]

    def __iter__(self):
        return iter(self._rows())

    def __len__(self):
        return len(self._rows())

    def cache_clear(self):
        """Forget what was read, as `functools.cache` does."""
        self._rows.cache_clear()


def load(name, figures, words=None, labels=()):
    """The entries of `lib/data/NAME.toml` in the file's order, each fact checked.

    Args:
        name: the file, without its ending.
        figures: field -> unit, for the fields that are numbers ("" for a pure number).
        words: field -> type (str or bool), for the facts that are no number.
        labels: fields that are no facts: a text each, and "aliases", a list of texts (read as a tuple).

    Returns:
        Mapping from an entry's name to its `Entry`.

    Raises:
        ValueError: for an unknown field, a figure of another unit, a fact without source or date.

    Source: the form of a data row is described at the head of this module.
    """
    return parse(_text(name), figures, words, labels, file=f"{name}.toml")


def files():
    """The names of all data files, without their ending.

    >>> "accelerators" in files()
    True
    """
    from importlib import resources  # slow to import, and seldom asked for

    names = sorted(entry.name for entry in (resources.files("lib") / "data").iterdir())
    return tuple(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


def sources(name):
    """Document -> the names of the entries whose facts were read there, for a data file.

    >>> sources("accelerators")["NVIDIA T4 data sheet 951643, specifications"]
    ('T4',)
    """
    used = {}
    for entry, table in tomllib.loads(_text(name)).items():
        facts = (fact for fact in table.values() if isinstance(fact, dict))
        for source in (part["source"] for part in (table, *facts) if "source" in part):
            used[source] = tuple(dict.fromkeys((*used.get(source, ()), entry)))
    return used


def _text(name):
    check.text(name=name)
    if not name.isidentifier():  # no way to another folder
        check.choice(files(), name=name)
    try:
        return get_data("lib", f"data/{name}.toml").decode()
    except OSError:
        check.choice(files(), name=name)
        raise


def parse(text, figures, words=None, labels=(), *, file="text"):
    """The entries of a TOML text; see `load`.

    >>> row = '[X1.power_watts]\\nvalue = 700\\nunit = "W"\\nsource = "X1 data sheet, p. 2"\\nread = 2026-11-20'
    >>> parse(row, {"power_watts": "W"})["X1"]["power_watts"]
    700
    >>> parse(row.replace('unit = "W"', ''), {"power_watts": "W"})
    Traceback (most recent call last):
    ...
    ValueError: text: X1.power_watts: no unit; it must be 'W'
    """
    check.text(text=text, file=file)
    check.instance(Mapping, figures=figures, words=words or {})
    check.instance(tuple, labels=labels)
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{file}: {error}") from None
    schema = _Schema(figures=figures, words=words or {}, labels=labels)
    return {name: _entry(f"{file}: {name}", name, table, schema) for name, table in tables.items()}


@dataclass(frozen=True, kw_only=True)
class _Schema:
    figures: Mapping[str, str]
    words: Mapping[str, type]
    labels: tuple[str, ...]

    @property
    def fields(self):
        return (*self.figures, *self.words, *self.labels)


def _entry(place, name, table, schema):
    if not name.strip():
        raise ValueError(f"{place}: a row without a name")
    if not isinstance(table, dict):
        raise ValueError(f"{place}: a table with facts, not {table!r}")
    default = {key: table[key] for key in ("source", "read") if key in table}
    facts, labels = {}, {}
    for field, given in table.items():
        if field in default:
            continue
        if field not in schema.fields:
            raise ValueError(f"{place}.{field}: an unknown field{check.did_you_mean(field, schema.fields)}")
        if field in schema.labels:
            labels[field] = _label(f"{place}.{field}", given, many=field == "aliases")
        else:
            facts[field] = _fact(f"{place}.{field}", given, default, schema, field)
    return Entry(name=name, facts=facts, labels=labels)


def _label(place, given, many):
    texts = given if many else [given]
    if not isinstance(texts, list) or not all(isinstance(item, str) and item.strip() for item in texts):
        allowed = "a list of texts, none of them empty" if many else "a text that is not empty"
        raise ValueError(f"{place}: {allowed}, not {given!r}")
    return tuple(given) if many else given


def _fact(place, given, default, schema, field):
    if not isinstance(given, dict):
        if field in schema.figures:
            raise ValueError(f"{place} = {given!r}: a bare number; write {{ value = …, unit = … }}")
        given = {"value": given}
    for key in given:
        if key not in _FACT_KEYS:
            raise ValueError(f"{place}.{key}: an unknown key{check.did_you_mean(key, _FACT_KEYS)}")
    given = default | given
    _sourced(place, given)
    if field in schema.figures:
        _figure(place, given, schema.figures[field])
    else:
        _word(place, given, schema.words[field])
    return Fact(unit=given.pop("unit", ""), **given)


def _sourced(place, given):
    if "value" not in given:
        raise ValueError(f"{place}: no value")
    for key in ("source", "printed", "note"):
        if not isinstance(given.get(key, " "), str):
            raise ValueError(f"{place}.{key}: text, not {given[key]!r}")
    if not any(map(str.isalpha, given.get("source", ""))):
        raise ValueError(f"{place}: no source; name the document and the page or table")
    read = given.get("read")
    if not isinstance(read, datetime.date) or isinstance(read, datetime.datetime):
        raise ValueError(f"{place}: no date of reading; write read = YYYY-MM-DD, without quotes")


def _figure(place, given, unit):
    value = given["value"]
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise ValueError(f"{place}.value = {value!r}: a finite number")
    if "unit" not in given:
        raise ValueError(f"{place}: no unit; it must be {unit!r}")
    if given["unit"] != unit:
        raise ValueError(f"{place}.unit = {given['unit']!r}: {unit!r}")


def _word(place, given, kind):
    if not isinstance(given["value"], kind):
        raise ValueError(f"{place} = {given['value']!r}: a {kind.__name__}")
    if "unit" in given:
        raise ValueError(f"{place}.unit: a word has no unit")
