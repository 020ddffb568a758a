"""A what-if as HTML: the one renderer for the still page, the live page and the notebook.

The contract with the page's scripts (`book/live`); `ID` is `what-if-NAME`, or `what-if-NAME-2` for a second one:

    <section class="what-if" id="ID" data-name="NAME" data-start='{"n_gpus": 128, ...}' aria-label="TITLE">
      <p class="what-if-name">TITLE</p>  <p class="what-if-question">QUESTION</p>
      <form class="what-if-controls" autocomplete="off">
        <fieldset disabled>                    a script enables it once it can answer; until then nothing looks movable
          <div class="what-if-control" data-control="n_gpus">                         a number
            <label for="ID-n_gpus">LABEL</label>
            <input type="range" data-for="n_gpus" data-scale="linear|log" [data-whole] min max step value
                   aria-label="LABEL, slider" aria-valuetext="128 GPUs">
            <input type="text" name="n_gpus" id="ID-n_gpus" value="128"> <span class="what-if-unit">UNIT</span>
            [<small class="what-if-help" id="ID-n_gpus-help">...</small>]
          </div>
          <div class="what-if-control" data-control="law">                            a choice
            <label for="ID-law">LABEL</label> <select name="law" id="ID-law"><option selected>...</select>
          </div>
          [<details class="what-if-more"><summary>More inputs: LABEL, ...</summary>      those that are folded away
            <div class="what-if-control" ...>...</div> </details>]
          <button type="reset" class="what-if-reset">Starting values</button>
        </fieldset>
      </form>
      <p class="what-if-message" id="ID-message" role="status" aria-live="polite">STILL</p>
      <figure class="what-if-chart" [hidden]>                                         hidden: the view has no chart
        <div class="what-if-plot">SVG</div>
        <figcaption>chart_html(chart)</figcaption>
      </figure>
      <div class="what-if-answer">answer_html(view, command)</div>
    </section>

Controls. Only the elements with a `name` (text fields and selects) are the state; their texts go to the worker as they
stand, because `lib` reads "70B", "1e22" and "14 days". A slider is a second handle on its text field. With
data-scale="log" its min, max, step and value are powers of ten: the number is 10 ** value, which a script writes into
the text field with three significant digits; with data-whole it is rounded to a whole number.

Message. At first it says that the controls need scripts; a script empties it when it enables the fieldset. After that
it holds progress, and refusals: then the control at fault gets aria-invalid="true" and aria-describedby="ID-message",
and the last good answer stays, marked by the class `what-if-stale` on the answer. After each good answer a script puts
`title` of the reply there for screen readers only (class `what-if-spoken` on the message).

Answer. Inside it every number carries its exact value: `<data value="13459186305.27">13.46B parameters</data>`.
Each disclosure has a stable `data-key`: a script that replaces the answer opens again what was open. What it discloses
stands in `<div data-apart>`: after a move it comes a moment later than what is seen without it, and until then a script
leaves there what was.

Chart. `what-if-plot` holds the still picture; a script draws the reply's chart data in its place, and puts the reply's
`chart_html` into the figcaption: the finding, and the same numbers as a table.

Between two words stands a space even where tags part them: the book's search reads the text without its tags.

The worker's interface is `lib.whatif.page`.
"""

import json
import math
import re
from functools import cache, lru_cache
from html import escape

from lib import units
from lib.whatif.model import Number

STILL = (
    "This is the answer for the starting values. To move the controls, allow scripts and open the book through a web "
    "server, such as <code>make serve</code> starts."
)
_WORD = re.compile(r"\w+")
_STEPS = 200  # positions of a slider
_TABLE_ROWS, _TOO_MANY = 21, 30  # of a chart's table: what a person reads; `--json` has every point


def section_html(answer, ident, svg=""):
    """A whole what-if for a still page: controls, answer and chart.

    Args:
        answer: the `Answer` for the starting values.
        ident: the section's id, unique on its page; every id inside begins with it.
        svg: the chart's picture.
    """
    what_if, view = answer.what_if, answer.view
    start = escape(json.dumps(answer.values))
    again = ident.removeprefix(f"what-if-{what_if.name}").replace("-", " ")
    return f"""<section class="what-if" id="{ident}" data-name="{what_if.name}" data-start="{start}" \
aria-label="{escape(what_if.title + again)}">
<p class="what-if-name"><strong>{escape(what_if.title)}</strong></p>
<p class="what-if-question">{escape(what_if.question)}</p>
{controls_html(answer, ident)}
<p class="what-if-message" id="{ident}-message" role="status" aria-live="polite">{STILL}</p>
<figure class="what-if-chart"{"" if view.chart else " hidden"}>
<div class="what-if-plot">{_own_ids(svg, ident)}</div>
<figcaption>{chart_html(view.chart)}</figcaption>
</figure>
<div class="what-if-answer">{answer_html(view, answer.command)}</div>
</section>"""


def _own_ids(svg, ident):
    # The same picture may stand twice on a page.
    return re.sub(r'( id="|href="#|url\(#)', rf"\1{ident}-", svg)


def controls_html(answer, ident):
    """The form, switched off until a script can answer."""
    asked, folded = (
        "\n".join(_control(c, answer.values[c.name], ident) for c in controls)
        for controls in (answer.what_if.asked, answer.what_if.folded)
    )
    labels = escape(", ".join(control.label for control in answer.what_if.folded))
    more = f'<details class="what-if-more"><summary>More inputs: {labels}</summary>\n{folded}</details>\n'
    return f"""<form class="what-if-controls" autocomplete="off"><fieldset disabled>
{asked}
{more if folded else ""}\
<button type="reset" class="what-if-reset">Starting values</button>
</fieldset></form>"""


def answer_html(view, command="", folded=None):
    """The answer: a sentence, checks, the table of numbers that unfold, notes, the same on the command line.

    Args:
        view: the `View`.
        command: the same on the command line.
        folded: what unfolds the numbers, as `folds` gives it: made here if left out, left empty for {}.
    """
    folded = folds(view) if folded is None else folded
    parts = [
        f'<p class="what-if-title">{escape(view.title)}</p>',
        _checks(view.checks),
        _rows(view.rows, folded),
        "\n".join(f'<p class="what-if-note"><strong>Note:</strong> {escape(note)}</p>' for note in view.notes),
        f'<p class="what-if-command">On the command line: <code>{escape(command)}</code></p>' if command else "",
    ]
    return "\n".join(part for part in parts if part)


def chart_html(chart, table=None):
    """What stands under a chart: the finding, and the chart's numbers as a table in a disclosure.

    Args:
        chart: the `Chart`, or None.
        table: what `table_html` gives: made here if left out.
    """
    if chart is None:
        return ""
    table = table_html(chart) if table is None else table
    return f"""<p>{escape(chart.title)}</p>
<details class="what-if-data" data-key="chart"><summary>The chart as a table</summary>
<div data-apart>{table}</div></details>"""


def table_html(chart):
    """A chart's numbers as a table, with its reference lines."""
    if chart is None:
        return ""
    table = _shared_table(chart) if len({series.x for series in chart.series}) == 1 else _long_table(chart)
    return f"""{_thinned(chart)}<div class="what-if-scroll" tabindex="0" role="group" aria-label="Table">{table}</div>
{_references(chart)}"""


def folds(view):
    """What unfolds each number of an answer: the key of its row -> how it comes about."""
    unfolded = zip(unique_keys(view.rows), (row.unfolded for row in view.rows), strict=True)
    return {key: _part(*parts[0]) + _parts(*parts[1:]) for key, parts in unfolded if parts}


def _control(control, value, ident):
    ident = f"{ident}-{control.name}"
    described = f' aria-describedby="{ident}-help"' if control.help else ""
    explained = f'\n<small class="what-if-help" id="{ident}-help">{escape(control.help)}</small>' if described else ""
    draw = _number if isinstance(control, Number) else _choice
    return f"""<div class="what-if-control" data-control="{control.name}">
<label for="{ident}">{escape(control.label)}</label>
{draw(control, value, ident, described)}{explained}
</div>"""


def _number(control, value, ident, described):
    low, high, place = slider(control, value)
    whole = " data-whole" if control.whole else ""
    return f"""<input type="range" data-for="{control.name}" data-scale="{control.scale}"{whole} min="{low!r}" \
max="{high!r}" step="{step(control)!r}" value="{place!r}" aria-label="{escape(control.label)}, slider" \
aria-valuetext="{escape(units.show(value, control.unit))}">
<input type="text" name="{control.name}" id="{ident}" value="{escape(control.write(value))}"{described}> \
<span class="what-if-unit">{escape(control.unit_beside)}</span>"""


def _choice(control, value, ident, described):
    options = "\n".join(
        f"<option{' selected' if option == value else ''}>{escape(option)}</option>" for option in control.options
    )
    return f'<select name="{control.name}" id="{ident}"{described}>{options}</select>'


def slider(control, value):
    """The ends of a number's slider and its place: the numbers themselves, or their powers of ten.

    >>> slider(Number(name="n", label="n", start=100, low=1, high=1000, scale="log"), 100)
    (0.0, 3.0, 2.0)
    """
    log = control.scale == "log"
    return tuple(math.log10(x) if log else x for x in (control.low, control.high, within(control, value)))


def within(control, value):
    """The number itself, or the end of the slider that it lies beyond."""
    return min(max(value, control.low), control.high)


def step(control):
    """The step of a number's slider: a round one, about a two-hundredth of the way.

    >>> step(Number(name="mfu", label="MFU", start=0.4, low=0.05, high=1))
    0.005
    """
    low, high, _ = slider(control, control.start)
    if control.scale == "log":
        return (high - low) / _STEPS
    power = 10.0 ** math.floor(math.log10((high - low) / _STEPS))
    fitting = next(round(power * n, 12) for n in (1, 2, 5, 10) if power * n * _STEPS >= 0.9 * (high - low))
    return max(1, round(fitting)) if control.whole else fitting


def _checks(checks):
    items = "\n".join(
        f'<li class="what-if-{item.verdict}"><strong>{item.verdict}</strong> '
        f"{escape(item.label)}: {escape(item.margin)}</li>"
        for item in checks
    )
    return f'<ul class="what-if-checks">{items}</ul>' if items else ""


def _rows(rows, folded):
    bodies, keys = [], unique_keys(rows)
    for group in dict.fromkeys(row.group for row in rows):
        heading = f'<tr><th colspan="2" scope="rowgroup">{escape(group)}</th></tr>' if group else ""
        lines = [_row(row, key, folded.get(key, "")) for row, key in zip(rows, keys, strict=True) if row.group == group]
        bodies.append("<tbody>\n" + "\n".join([heading, *lines] if heading else lines) + "\n</tbody>")
    caption = "<caption>Open a number to see how it comes about.</caption>"
    return f'<table class="what-if-rows">{caption}\n' + "\n".join(bodies) + "\n</table>" if rows else ""


def unique_keys(rows):
    """One stable key a row, made of its group and label: what keeps a disclosure open while its numbers move."""
    keys = []
    for row in rows:
        key = _key(row.group, row.label)
        keys.append(key if key not in keys else f"{key}-{keys.count(key) + len(keys)}")
    return keys


@lru_cache(maxsize=1024)  # a move leaves labels as they are
def _key(group, label):
    return "-".join(_WORD.findall(f"{group} {label}".lower())) or "row"


def _row(row, key, folded):
    text = escape(row.text)
    value = text if isinstance(row.value, str) else f'<data value="{row.value!r}">{text}</data>'
    if not row.unfolds:
        return f"{_before(row.label)}{value}</td></tr>"
    return f"{_before(row.label, key)}{value}</summary><div data-apart>{folded}</div></details></td></tr>"


@lru_cache(maxsize=1024)
def _before(label, key=""):
    fold = f'<details data-key="{key}"><summary>' if key else ""  # a key is words alone
    return f'<tr><th scope="row">{escape(label)}</th> <td>{fold}'


@lru_cache(maxsize=1024)  # a move changes the formula, which comes first, and leaves most of the rest
def _parts(*rest):
    return "".join(_part(word, text) for word, text in rest)


def _part(word, text):
    shown = f"<code>{escape(text)}</code>" if word == "formula" else escape(text)
    return f' <p><span class="what-if-word">{word}</span> {shown}</p>'


def _shared_table(chart):
    x = chart.series[0].x
    head = " ".join(f'<th scope="col">{escape(text)}</th>' for text in (chart.x.label, *_names(chart)))
    rows = (_numbers(x[i], *(series.y[i] for series in chart.series)) for i in _picked(len(x)))
    return f"<table><thead><tr>{head}</tr></thead>\n<tbody>{' '.join(rows)}</tbody></table>"


def _long_table(chart):
    head = " ".join(f'<th scope="col">{escape(text)}</th>' for text in (chart.x.label, chart.y.label))
    bodies = []
    for series in chart.series:
        name = f'<tr><th colspan="2" scope="rowgroup">{escape(series.label)}</th></tr>'
        rows = (_numbers(series.x[i], series.y[i]) for i in _picked(len(series.x)))
        bodies.append(f"<tbody>{name}\n{' '.join(rows)}</tbody>")
    return f"<table><thead><tr>{head}</tr></thead>\n{' '.join(bodies)}</table>"


def _names(chart):
    if len(chart.series) == 1:
        return (chart.y.label,)
    return tuple(f"{series.label}: {chart.y.label}" for series in chart.series)


def _numbers(x, *rest):
    cells = " <td>".join([f"{units.show_number(y)}</td>" for y in rest])
    return f'<tr><th scope="row">{units.show_number(x)}</th> <td>{cells}</tr>'


@cache
def _picked(length):
    """The points of a line that its table shows: all of a short one; each second where that ends with the last."""
    if length <= _TOO_MANY:
        return range(length)
    if length % 2 and length // 2 < _TABLE_ROWS:
        return range(0, length, 2)
    return [round(i * (length - 1) / (_TABLE_ROWS - 1)) for i in range(_TABLE_ROWS)]


def _thinned(chart):
    longest = max((len(series.x) for series in chart.series), default=0)
    if longest <= _TOO_MANY:
        return ""
    shown = f"{len(_picked(longest))} of {longest} points of each line"
    return f"<p>{shown}; <code>--json</code> on the command line has all.</p>\n"


def _references(chart):
    items = " ".join(
        f"<li>{escape(mark.label)}: {units.show_number(mark.value)} on the axis "
        f"{escape((chart.x if mark.axis == 'x' else chart.y).label)}</li>"
        for mark in chart.references
    )
    return f"<ul>{items}</ul>" if items else ""
