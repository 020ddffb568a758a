"""The page's worker calls this: settings in as JSON text, replies out as JSON texts.

    for reply in respond("days-and-mfu", '{"n_gpus": "256", "days": "2 weeks"}'):

A good answer comes in two parts. First what is seen at once: {"ok": true, "title": the answer in one sentence, "html":
for `what-if-answer`, "chart": data or null, "chart_html": for the figcaption, "inputs": {name: number or word},
"texts": {name: what its field would hold}, "command": the same on the command line}. Then what is folded away there:
{"folds": {key: how that number comes about}, "table": the chart's numbers}.
A refusal is the only reply: {"ok": false, "message": one line, "control": the name of the input at fault or null}.
A mistake of ours is not caught: the worker shows it as such.
"""

import json

from lib import check
from lib.whatif import catalogue
from lib.whatif.html import answer_html, chart_html, folds, table_html

MOST_BRACKETS = 100  # settings are flat; thousands of nested brackets overflow the browser's stack and end the worker


def respond(name, settings_json):
    """Answer a what-if for the page.

    Args:
        name: the what-if's name.
        settings_json: a JSON object from inputs to texts or numbers.

    Yields:
        JSON texts, as the module describes them.
    """
    try:
        answer = catalogue.solve(name, _settings(settings_json))
    except catalogue.RefusedError as refused:
        yield json.dumps({"ok": False, "message": str(refused), "control": refused.control})
        return
    yield json.dumps(_seen(answer), allow_nan=False)
    yield json.dumps(_folded(answer))


def _settings(settings_json):
    flat = isinstance(settings_json, str) and settings_json.count("[") + settings_json.count("{") <= MOST_BRACKETS
    try:
        settings = json.loads(settings_json) if flat else None
    except ValueError:
        settings = None
    if not isinstance(settings, dict):
        raise catalogue.RefusedError(f"settings = {check.short(settings_json)}: a JSON object")
    return settings


def _seen(answer):
    view, command = answer.view, answer.command
    return {
        "ok": True,
        "title": view.title,
        "html": answer_html(view, command, folded={}),
        "chart": view.chart and view.chart.to_dict(),
        "chart_html": chart_html(view.chart, table=""),
        "inputs": answer.values,
        "texts": answer.texts,
        "command": command,
    }


def _folded(answer):
    return {"folds": folds(answer.view), "table": table_html(answer.view.chart)}
