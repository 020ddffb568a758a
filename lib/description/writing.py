"""The text of a run's file, with words behind the lines for whoever opens it."""

from contextlib import suppress

from lib import check
from lib.architecture import model
from lib.description.run import RunDescription, changed_fields

# What stands behind a line, for whoever opens the file.
_WORDS = {
    "tokens": "training tokens, repeated ones included",
    "goodput": "share of the calendar that makes progress",
    "law": "predicts the loss",
    "seq_len": "tokens of a sequence",
    "micro_batches": "micro-batches of a step on each data rank",
    "mfu": "assumed until it is measured",
    "convention": "what the utilization counts",
    "dtype": "whose peak it divides by",
}


def to_toml(run):
    """The text of a run's file; `parse` gives the run back.

    Args:
        run: a `RunDescription`.

    >>> from lib.description import parse
    >>> text = 'tokens = "1T"\\n[model]\\nname = "llama-3-8b"\\n[cluster]\\naccelerator = "h100"\\nn_gpus = 64'
    >>> parse(to_toml(parse(text))) == parse(text)
    True
    """
    check.instance(RunDescription, run=run)
    plain = run.plain
    lines = [f"# run description {run.digest}", *_lines({k: v for k, v in plain.items() if not isinstance(v, dict)})]
    written = {"model": _model(run.shape), "layout": _layout(run.layout)}
    for name in (name for name, value in plain.items() if isinstance(value, dict)):
        lines += ["", *_table(name, written.get(name, plain[name]))]
    return "\n".join([*lines, ""])


def _table(name, table):
    inside = {key: value for key, value in table.items() if isinstance(value, dict)}
    flat = {key: value for key, value in table.items() if key not in inside}
    yield f"[{name}]"
    yield from _lines(flat)
    for key, value in inside.items():
        yield from _table(f"{name}.{key}", value)


def _lines(table):
    for name, value in table.items():
        if value not in (None, ""):
            words = f"  # {_WORDS[name]}" if name in _WORDS else ""
            yield f"{name} = {_literal(value)}{words}"


def _literal(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return check.figure(value)
    if isinstance(value, tuple | list):
        return f"[{', '.join(_literal(item or 0) for item in value)}]"
    return _quoted(value)


def _quoted(text):
    """A TOML basic string: control characters and the two marks of its own escaped."""
    marks = {'"': '\\"', "\\": "\\\\"}
    return '"' + "".join(marks.get(c, c if c.isprintable() else f"\\U{ord(c):08x}") for c in text) + '"'


def _model(shape):
    with suppress(ValueError):
        if model(shape.name) == shape:
            return {"name": shape.name}
    return {"name": shape.name, "source": shape.source} | changed_fields(shape, None, "name", "source")


def _layout(layout):
    names = ("data", "tensor", "pipeline", "context", "zero_stage", "micro_batch", "micro_batches", "seq_len")
    shown = {name: getattr(layout, name) for name in (*names, "recompute")}
    return shown | changed_fields(layout, None, *shown)
