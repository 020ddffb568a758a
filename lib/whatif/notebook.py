"""A what-if in a chapter: ipywidgets with a live kernel, plain HTML under a book build."""

import os
from collections import Counter
from functools import lru_cache
from html import escape

from lib.whatif import catalogue
from lib.whatif.html import answer_html, chart_html, section_html, slider, step, within
from lib.whatif.model import Number
from lib.whatif.text import answer_text

_shown = Counter()  # how often each what-if stands on this page: one kernel runs one chapter

_STYLE = """<style>
.what-if-live { line-height: 1.45; max-width: 46rem }
.what-if-live .what-if-title { font-weight: 600; font-size: 1.05em }
.what-if-live table { border-collapse: collapse; margin: .5em 0 }
.what-if-live caption { text-align: left; opacity: .75 }
.what-if-live th, .what-if-live td { text-align: left; vertical-align: top; padding: .15em 1.2em .15em 0 }
.what-if-live th[scope=row] { font-weight: normal }
.what-if-live th[scope=rowgroup] { padding-top: .6em }
.what-if-live .what-if-rows td, .what-if-live .what-if-data td { text-align: right; font-variant-numeric: tabular-nums }
.what-if-live summary { cursor: pointer }
.what-if-live td details p { text-align: left }
.what-if-live details p { margin: .2em 0 .2em 1em }
.what-if-live .what-if-word { opacity: .75 }
.what-if-live figure { margin: .5em 0 }
.has-error input, .has-error select { border: 2px solid #c62828 !important }
</style>"""


def show(name, settings):
    """What `lib.whatif.what_if` returns: the still face under HANDBOOK_BUILD, the live one elsewhere."""
    answer = catalogue.solve(name, settings)
    if os.environ.get("HANDBOOK_BUILD", "") in ("", "0"):
        return Live(answer)
    _shown[answer.what_if.name] += 1
    return Still(answer, _shown[answer.what_if.name])


class Still:
    """A what-if that shows itself as HTML alone, whole without scripts."""

    def __init__(self, answer, copy=1):
        self.answer = answer
        self.ident = f"what-if-{answer.what_if.name}" + (f"-{copy}" if copy > 1 else "")

    def __repr__(self):
        return answer_text(self.answer)

    def _repr_html_(self):
        return section_html(self.answer, self.ident, _picture(self.answer.view.chart))


class Live:
    """A what-if that shows itself as widgets; where there are none, its answer as HTML or text."""

    def __init__(self, answer):
        self.answer = answer

    def __repr__(self):
        return answer_text(self.answer)

    def _repr_mimebundle_(self, include=None, exclude=None):
        still = {"text/plain": repr(self), "text/html": self._still_html()}
        try:
            panel = Panel(self.answer)
        except ImportError:
            return still
        return panel.box._repr_mimebundle_() | still

    def _still_html(self):
        return (
            "<p>To move the controls, run this notebook where ipywidgets is installed: "
            f"<code>pip install ipywidgets</code>.</p>\n{live_html(self.answer)}"
        )


class Panel:
    """The widgets of one what-if: `texts` are the state, sliders are second handles, the last good answer stays."""

    def __init__(self, answer):
        import ipywidgets  # a display: only here

        self.widgets = ipywidgets
        self.answer = answer
        self.controls = {control.name: control for control in answer.what_if.controls}
        self.texts = {name: self._text(control) for name, control in self.controls.items()}
        self.sliders = {n: self._slider(c) for n, c in self.controls.items() if isinstance(c, Number)}
        self.unfold = ipywidgets.Checkbox(description="Unfold every number", indent=False)
        self.message, self.shown = ipywidgets.HTML(), ipywidgets.HTML(live_html(answer))
        self._quiet, self._held = False, None
        self._placed = {name: handle.value for name, handle in self.sliders.items()}
        self._watch()
        asked = answer.what_if
        title = ipywidgets.HTML(f"<strong>{escape(asked.title)}</strong><br>{escape(asked.question)}")
        lines = [self._line(control.name) for control in asked.asked]
        self.more = self._more(asked.folded)
        self.box = ipywidgets.VBox([title, *lines, *self.more, self.message, self.unfold, self.shown])

    def _text(self, control):
        value, style = self.answer.values[control.name], {"description_width": "14em"}
        layout = self.widgets.Layout(width="24em" if isinstance(control, Number) else "30em")
        named = {"description": control.label, "tooltip": control.help or control.label}
        if isinstance(control, Number):
            text = control.write(value)
            return self.widgets.Text(text, continuous_update=False, style=style, layout=layout, **named)
        return self.widgets.Dropdown(options=control.options, value=value, style=style, layout=layout, **named)

    def _slider(self, control):
        value = within(control, self.answer.values[control.name])
        low, high, _ = slider(control, value)
        kind = self.widgets.FloatLogSlider if control.scale == "log" else self.widgets.FloatSlider
        # The number is written beside the slider, where it can also be typed.
        return kind(value, min=low, max=high, step=step(control), readout=False, tooltip=control.label)

    def _line(self, name):
        beside = getattr(self.controls[name], "unit_beside", "")
        unit = self.widgets.Label(beside, layout=self.widgets.Layout(width="7em"))
        return self.widgets.HBox([self.texts[name], unit, *([self.sliders[name]] if name in self.sliders else [])])

    def _more(self, folded):
        """The inputs that few readers move, closed; none where there are none."""
        box = self.widgets.VBox([self._line(control.name) for control in folded])
        return [self.widgets.Accordion([box], titles=("More inputs",), selected_index=None)] if folded else []

    def _watch(self):
        for text in self.texts.values():
            text.observe(self._typed, "value")
        for name, handle in self.sliders.items():
            handle.observe(lambda change, name=name: self._slid(name, change["new"]), "value")
        self.unfold.observe(lambda change: self._draw(), "value")

    def _slid(self, name, number):
        if self._quiet or self._is_snap(name, number):
            return
        self._placed.pop(name, None)
        self._held = name
        self.texts[name].value = slid_text(self.controls[name], number)
        self._held = None

    def _is_snap(self, name, number):
        """True for the front end's own move of a slider, from where it was placed to the nearest step."""
        if name not in self._placed:
            return False
        control = self.controls[name]
        placed, snapped = (slider(control, n)[2] for n in (self._placed[name], number))
        return abs(snapped - placed) < 0.51 * step(control)

    def _typed(self, change):
        try:
            self.answer = catalogue.solve(self.answer.what_if, {n: t.value for n, t in self.texts.items()})
        except catalogue.RefusedError as refused:
            self._refuse(str(refused), refused.control)
            return
        self._refuse("", None)
        self._follow()
        self._draw()

    def _refuse(self, message, at_fault):
        said = f"<strong>Not possible:</strong> {escape(message)}<br>Below stands the last answer."
        self.message.value = f'<p role="alert">{said}</p>' if message else ""
        for name, text in self.texts.items():
            (text.add_class if name == at_fault else text.remove_class)("has-error")
        if at_fault and self.controls[at_fault].more:
            self.more[0].selected_index = 0

    def _follow(self):
        """Put every slider where its number is, without hearing it as a move; not the one that is being dragged."""
        self._quiet = True
        for name in self.sliders.keys() - {self._held}:
            self._placed[name] = within(self.controls[name], self.answer.values[name])
            self.sliders[name].value = self._placed[name]
        self._quiet = False

    def _draw(self):
        self.shown.value = live_html(self.answer, unfold=self.unfold.value)


def live_html(answer, unfold=False):
    """The answer and its chart, with a style of their own: a notebook has no page around it."""
    view = answer.view
    html = answer_html(view, answer.command)
    chart = view.chart and f"<figure>{_picture(view.chart)}<figcaption>{chart_html(view.chart)}</figcaption></figure>"
    html = html.replace("<details data-key", "<details open data-key") if unfold else html
    return f'{_STYLE}<div class="what-if-live">{html}{chart or ""}</div>'


def slid_text(control, number):
    """What a slider writes into its field: a whole number, three digits on a log slider, else a round one.

    >>> slid_text(Number(name="n", label="n", start=100, low=1, high=1000, scale="log"), 123.456)
    '123'
    """
    number = float(f"{number:.3g}" if control.scale == "log" else f"{number:.12g}")
    return control.write(control.read(round(number) if control.whole else number))


@lru_cache(maxsize=32)  # one view is shown in several forms, and many a move leaves its chart as it is
def _picture(chart):
    if chart is None:
        return ""
    from lib.plots import draw_chart  # matplotlib: only when a picture is drawn

    return draw_chart(chart)
