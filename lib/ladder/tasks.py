"""Rungs 3 and 5 to 7 as text for the reader's own cluster: what to run, where its number stands, what it must be."""

from dataclasses import dataclass

from lib import check, facts
from lib.description.expectations import Expectations
from lib.description.limits import limit
from lib.ladder.thresholds import Threshold, thresholds

RUNGS = (3, 5, 6, 7)  # of 3, what only the run itself on the plan's accelerator can tell
_FEW_NODES = 5
_TESTS = {"NVIDIA": "nccl-tests", "AMD": "rccl-tests"}  # by vendor; of others the handbook knows none
_ROWS = facts.load("cluster_tasks", {}, {"command": str, "reads": str}, labels=("rungs", "measures"))


@dataclass(frozen=True, kw_only=True)
class Task:
    """One thing to run on the cluster.

    Args:
        name: what it tries.
        commands: a tuple of lines for a shell; words in capitals are the reader's own.
        reads: where the number stands.
        thresholds: a tuple of `Threshold` that it answers.
        source: of commands and options.

    Raises:
        TypeError: for a value of the wrong kind.

    >>> Task(name="spare nodes", commands=("sinfo",), reads="lines", thresholds=()).name
    'spare nodes'
    """

    name: str
    commands: tuple[str, ...]
    reads: str
    thresholds: tuple[Threshold, ...]
    source: str = ""

    def __post_init__(self):
        check.fields(self, text="name reads source")
        check.instance(tuple, commands=self.commands, thresholds=self.thresholds)


def tasks(number, expected):
    """What to run on the cluster for a rung.

    Args:
        number: of the rung, 3 or 5 to 7; `handbook pilot` runs 1 to 4, but for what only the run itself tells of 3.
        expected: the `Expectations` of a run.

    Returns:
        A tuple of `Task`; together they answer every threshold of the rung.

    Raises:
        TypeError, ValueError: for another rung, no expectations.

    Source: lib/data/cluster_tasks.toml names one for each.

    >>> from lib.description import parse
    >>> text = 'tokens = "1T"\\n[model]\\nname = "llama-3-8b"\\n[cluster]\\naccelerator = "h100"\\nn_gpus = 64'
    >>> tasks(5, Expectations(run=parse(text)))[0].commands[0][:47]
    'mpirun -np 8 nccl-tests/build/all_reduce_perf -'
    """
    check.integer(number=number)
    check.instance(Expectations, expected=expected)
    if number not in RUNGS:
        raise ValueError(f"number = {number}: 3, 5, 6 or 7; rungs 1 to 4 are run by: handbook pilot")
    asked = {threshold.name: threshold for threshold in thresholds(number, expected)}
    known = expected.run.cluster.accelerator.vendor in _TESTS
    rows = (row for row in _ROWS.values() if str(number) in row["rungs"].split())
    rows = (row for row in rows if known or "{tests}" not in row["command"])
    found = (_task(row, number, expected, asked) for row in rows)
    return tuple(task for task in found if task.thresholds)


def _task(row, number, expected, asked):
    cluster = expected.run.cluster
    node, few = limit("one node", "gpus").value, limit("few nodes", "gpus").value
    filled = {"node_gpus": min(node, cluster.n_gpus), "gpus": min(few, cluster.n_gpus)}
    filled |= {"rung": number, "of_gpus": f" --n-gpus {filled['gpus']}" if number == _FEW_NODES else ""}
    filled["tests"] = _TESTS.get(cluster.accelerator.vendor)
    filled["bus"] = " --measured bus_gb_per_second=BUSBW" if "bus_gb_per_second" in asked else ""
    return Task(
        name=row.name,
        commands=tuple(row["command"].format(**filled).split("\n")),
        reads=row["reads"],
        thresholds=tuple(asked[name] for name in row["measures"].split() if name in asked),
        source=row.facts["command"].source,
    )
