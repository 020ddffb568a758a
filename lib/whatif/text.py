"""A what-if as text for the command line: 80 columns, numbers under one another."""

import json
from textwrap import wrap

from lib.whatif.model import Choice

WIDTH = 80
_MORE = "More, which most questions leave as they are:"
_LABEL = 40  # columns of the longest label that values still stand beside


def answer_text(answer, explain=False, options=()):
    """An answer as lines of text.

    Args:
        answer: an `Answer` of the catalogue.
        explain: also how each number comes about: formula, assumed inputs, what it counts, sources.
        options: for a command with options instead of key=value: the inputs that are among them.
    """
    return "\n\n".join([view_text(answer.view, explain), "\n".join(_inputs(answer, options))])


def view_text(view, explain=False):
    """A view as lines of text, without the inputs that led to it; `explain` as in `answer_text`."""
    chart = [f"Chart: {view.chart.title}"] if view.chart else []
    blocks = [
        wrap(view.title, WIDTH),
        *_row_blocks(view.rows, explain),
        _check_lines(view.checks),
        *(_hanging("Note: ", note) for note in view.notes),
        *(_hanging("", line) for line in chart),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def answer_json(answer):
    """An answer as JSON text: numbers in full, no NaN."""
    return json.dumps(answer.to_dict(), indent=2, allow_nan=False, ensure_ascii=False)


def inputs_text(what_if):
    """A what-if's question and the inputs that it takes."""
    lines = _input_lines(what_if.controls, what_if.starting_values(), with_choices=True)
    question = _hanging("", f"{what_if.title}. {what_if.question}")
    return "\n".join([*question, "", f"handbook what-if {what_if.name} [KEY=VALUE]...", "", *lines])


def catalogue_text(what_ifs):
    """Every what-if with its title and its inputs."""
    blocks = []
    for what_if in what_ifs:
        names = " ".join(control.name for control in (*what_if.asked, *what_if.folded))
        blocks.append("\n".join([what_if.name, *_hanging("  ", what_if.title), *_hanging("  inputs: ", names)]))
    return "\n\n".join([*blocks, "Answer one:  handbook what-if NAME [KEY=VALUE]...  (--help, --explain, --json)"])


def catalogue_json(what_ifs):
    """Every what-if as JSON text: name, title, and inputs with name, label, unit, start and options."""
    return json.dumps([_plain(what_if) for what_if in what_ifs], indent=2, allow_nan=False, ensure_ascii=False)


def _plain(what_if):
    inputs = [
        {
            "name": control.name,
            "label": control.label,
            "unit": getattr(control, "unit", ""),
            "start": what_if.starting_values()[control.name],
            "options": list(getattr(control, "options", ())),
            "more": control.more,
        }
        for control in what_if.controls
    ]
    return {"name": what_if.name, "title": what_if.title, "inputs": inputs}


def _row_blocks(rows, explain):
    width = max((len(row.label) for row in rows if len(row.label) <= _LABEL), default=0) + 5
    for group in dict.fromkeys(row.group for row in rows):
        lines, before = [group] if group else [], ()
        for row in (row for row in rows if row.group == group):
            lines += _beside(row.label, row.text, width)
            lines += _explained(row.unfolded, before) if explain else []
            before = row.unfolded
        yield lines


def _beside(label, value, width):
    """The label in its column, the value in the next; under the label when that is too long."""
    if len(label) <= width - 5:
        return _hanging(f"  {label}".ljust(width), value)
    return [*wrap(label, WIDTH, initial_indent="  ", subsequent_indent="  "), *_hanging(" " * width, value)]


def _explained(parts, before):
    """What unfolds a row; what the row above has said already is only pointed at."""
    lines = [line for part in parts if part not in before for line in _hanging(f"      {part[0]:<7}  ", part[1])]
    again = dict.fromkeys(word for word, text in parts if (word, text) in before)
    return [*lines, *([f"      {', '.join(again)}: as above"] if again else [])]


def _check_lines(checks):
    return [line for c in checks for line in _hanging(f"{c.verdict.upper():<9}  ", f"{c.label}: {c.margin}")]


def _inputs(answer, options):
    if not options:
        return ["Inputs, to change as key=value:", *_input_lines(answer.what_if.controls, answer.values)]
    controls = [control for control in answer.what_if.controls if control.name in options]
    return ["Inputs, to change as options:", *_input_lines(controls, answer.values, as_options=True)]


def _input_lines(controls, values, with_choices=False, as_options=False):
    controls = sorted(controls, key=lambda control: control.more)  # what is folded away elsewhere comes last
    settings = [f"{control.name}={control.write(values[control.name])}" for control in controls]
    if as_options:
        settings = [f"--{setting.replace('_', '-').replace('=', ' ')}" for setting in settings]
    width = max(map(len, settings), default=0)
    lines = []
    for control, setting in zip(controls, settings, strict=True):
        if control.more and _MORE not in lines:
            lines.append(_MORE)
        unit = getattr(control, "unit_beside", "")
        unit = f" ({unit})" if unit else ""
        more = f": {control.help}" if with_choices and control.help else ""
        lines += _hanging(f"  {setting:<{width}}  ", control.label + unit + more)
        if with_choices and isinstance(control, Choice):
            lines += _hanging(" " * (width + 4), "one of " + ", ".join(map(control.write, control.options)))
    return lines


def _hanging(first, text):
    """Wrapped lines: the first begins with `first`, the rest are indented as far."""
    whole, after = first + text, " " * len(first)
    if len(whole) <= WIDTH and whole.isprintable():  # no line to break: half of them, in a tenth of the time
        return [whole.rstrip()]
    return wrap(text, WIDTH, initial_indent=first, subsequent_indent=after, break_on_hyphens=False) or [first.rstrip()]
