"""The text behind `handbook ladder RUN.TOML --commands RUNG`: what to run on a cluster, and what it must show."""

from textwrap import wrap

from lib import check
from lib.description import Expectations
from lib.description.run import RunDescription
from lib.ladder import tasks

_IN = "   "


def tasks_text(run, number, explain=False):
    """What to run for a rung, as lines of text.

    Args:
        run: a `RunDescription`.
        number: of the rung, 3 or 5 to 7.
        explain: also where commands and thresholds come from.
    """
    found = _found(run, number)
    head = f"Rung {number} on {run.cluster.n_gpus:,} x {run.cluster.accelerator.name}: words in capitals are your own."
    blocks = [wrap(head, 80), *(_block(place, task, explain) for place, task in enumerate(found, 1))]
    return "\n\n".join("\n".join(block) for block in blocks)


def tasks_dict(run, number):
    """The same as plain data.

    Args:
        run, number: as in `tasks_text`.
    """
    return {
        "digest": run.digest,
        "rung": number,
        "tasks": [
            {
                "name": task.name,
                "commands": list(task.commands),
                "reads": task.reads,
                "source": task.source,
                "thresholds": [vars(threshold) for threshold in task.thresholds],
            }
            for task in _found(run, number)
        ],
    }


def _found(run, number):
    check.instance(RunDescription, run=run)
    return tasks(number, Expectations(run=run))


def _block(place, task, explain):
    """Commands are never wrapped: they are copied."""
    yield f"{place}. {task.name}"
    yield from (f"{_IN}$ {command}" for command in task.commands)
    yield from wrap(f"read: {task.reads}", 80, initial_indent=_IN, subsequent_indent=2 * _IN)
    for threshold in task.thresholds:
        text = f"must: {threshold.label} [{threshold.name}] {threshold.text}"
        yield from wrap(text, 80, initial_indent=_IN, subsequent_indent=2 * _IN)
        if explain:
            yield from wrap(f"from: {threshold.source}", 80, initial_indent=2 * _IN, subsequent_indent=3 * _IN)
    if explain:
        yield from wrap(f"source: {task.source}", 80, initial_indent=_IN, subsequent_indent=2 * _IN)
