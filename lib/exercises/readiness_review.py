"""Questions of the chapter *The readiness review*: what is verified, what is to be paid for, what holds the start "
"up."""

import datetime
from functools import cache

from lib import compute
from lib.description import parse
from lib.exercises.amounts import doubled
from lib.exercises.choices import named, ranked
from lib.exercises.questions import Question, Slip
from lib.readiness import Statement, review
from lib.units import HOURS_PER_DAY, show

_DOCUMENTS = ("configs", "manifests", "tokenizer", "contamination", "dashboards", "stop")  # items that a file shows
_RUN = 'tokens = "1T"\n[model]\nname = "llama-3-8b"\n[cluster]\naccelerator = "h100"\nn_gpus = 64'


def verified_items(complete, older, changed, silent):
    """Items that the review calls verified."""
    return complete


def gpu_hours_to_approve(n_gpus, compute_days, goodput, slack_days, rehearsal_gpu_hours):
    """GPU-hours that the budget must hold; a float."""
    return n_gpus * 24 * (compute_days / goodput + slack_days) + rehearsal_gpu_hours


def item_to_start_with(items):
    """Name of the open item that holds up the start longest; text."""
    return max((item for item in items if item["state"] != "verified"), key=lambda item: item["days"])["name"]


def _reviews(rng):
    older = rng.randrange(1, 3)
    drawn = {"complete": rng.randrange(1, 4), "older": older, "changed": 3 - older}
    return [drawn | {"silent": len(_DOCUMENTS) - sum(drawn.values())}]


def _verified(complete, older, changed, silent):
    kinds = ["complete"] * complete + ["older"] * older + ["changed"] * changed
    found = review(_run(), {key: _statement(kind) for key, kind in zip(_DOCUMENTS, kinds, strict=False)})
    return sum(state.state == "verified" for state in found.states)


@cache
def _run():
    return parse(_RUN)


def _statement(kind):
    signed = {"date": datetime.date(2026, 11, 29), "run_digest": "0" * 16 if kind == "older" else _run().digest}
    file = {"artefact": "report.pdf", "sha256": "a" * 64, "found_sha256": ("b" if kind == "changed" else "a") * 64}
    words = dict.fromkeys(("statement", "owner", "signed", "threshold", "revision", "escalation"), "said")
    return Statement(**signed, **file, **words)


def _budgets(rng):
    names = ("n_gpus", "compute_days", "goodput", "slack_days", "rehearsal_gpu_hours")
    edges = [(1, 1.0, 1.0, 0.0, 0.0), (2048, 30.0, 0.9, 2.0, 40_000.0)]
    drawn = [_budget(rng) for _ in range(4)]
    return [dict(zip(names, row, strict=True)) for row in edges + drawn]


def _budget(rng):
    n_gpus, days = doubled(rng, 64, 8192), float(rng.randrange(10, 90))
    rehearsal = 100.0 * rng.randrange(1, 20) * n_gpus / 64
    return n_gpus, days, round(0.75 + 0.2 * rng.random(), 2), float(rng.randrange(1, 8)), rehearsal


def _to_approve(n_gpus, compute_days, goodput, slack_days, rehearsal_gpu_hours):
    days = compute.calendar_days(compute_days, goodput) + slack_days
    return n_gpus * HOURS_PER_DAY * days + rehearsal_gpu_hours


def _lists(rng):
    return [_list(rng) for _ in range(5)]


def _list(rng):
    """Five items; the longest open one is stated, not missing, and may be the first, second or third of all."""
    days = sorted(rng.sample(range(1, 30), 5), reverse=True)
    done = rng.randrange(3)
    states = (["verified"] * done + ["stated", "verified", "missing", "missing", "stated"])[:5]
    return {"items": named(rng, [{"state": state, "days": day} for state, day in zip(states, days, strict=True)])}


def _holding_up(items):
    longest = max(item["days"] for item in items if item["state"] != "verified")

    def done(item):
        return ("It is verified: nothing is left to do.", "") if item["state"] == "verified" else None

    right = f"The start waits for it: {show(float(longest), 'days')}."
    return ranked(items, done, lambda item: -item["days"], right, "It is open, but the start waits longer for another.")


QUESTIONS = (
    Question(
        solution=verified_items,
        title="Reading a review",
        prompt="A review counts the items that a file shows. Complete, and signed for the run as it is described "
        "now: {complete}. Complete, but signed for an older description: {older}. Complete, but the file has "
        "changed since: {changed}. Nothing said: {silent}. How many of them are verified?",
        chapter="readiness_review",
        task="read",
        kind="value",
        inputs=_reviews,
        expected=_verified,
        visible=False,
        hint="Verified means that it was looked at and that it is still the same.",
        minutes=3,
        slips=(
            Slip(
                name="older counted",
                sentence="A signature for an older description verifies nothing of the new one.",
                gives=lambda complete, older, changed, silent: complete + older,
            ),
            Slip(
                name="changed counted",
                sentence="A file that has changed since is not what was signed.",
                gives=lambda complete, older, changed, silent: complete + changed,
            ),
            Slip(
                name="stated counted",
                sentence="Those are all of which anything is said: to state is not to verify.",
                gives=lambda complete, older, changed, silent: complete + older + changed,
            ),
        ),
    ),
    Question(
        solution=gpu_hours_to_approve,
        title="What must be approved?",
        prompt="A run needs `compute_days` of progress on `n_gpus` GPUs and makes progress in `goodput` of the "
        "time. It may take `slack_days` longer, and the rungs below it take `rehearsal_gpu_hours`. Return the "
        "GPU-hours that the budget must hold. Then lower the goodput: which part grows?",
        chapter="readiness_review",
        task="change",
        kind="function",
        inputs=_budgets,
        expected=_to_approve,
        unit="GPU-hours",
        hint="Days on the calendar first, then hours, then all GPUs; the rehearsal is in GPU-hours already.",
        points=2,
        minutes=8,
        slips=(
            Slip(
                name="no rehearsal",
                sentence="The rungs below the run were left out: they are paid for too.",
                gives=lambda rehearsal_gpu_hours, **run: gpu_hours_to_approve(rehearsal_gpu_hours=0.0, **run),
            ),
            Slip(
                name="no goodput",
                sentence="That is the progress alone: GPUs are paid for while they restart, too.",
                gives=lambda goodput, **run: gpu_hours_to_approve(goodput=1.0, **run),
            ),
            Slip(
                name="no slack",
                sentence="The slack was left out: the budget must hold the slow end.",
                gives=lambda slack_days, **run: gpu_hours_to_approve(slack_days=0.0, **run),
            ),
            Slip(
                name="GPU-days",
                sentence="Days were not turned into hours.",
                gives=lambda n_gpus, compute_days, goodput, slack_days, rehearsal_gpu_hours: (
                    n_gpus * (compute_days / goodput + slack_days) + rehearsal_gpu_hours
                ),
            ),
        ),
    ),
    Question(
        solution=item_to_start_with,
        title="What holds up the start?",
        prompt="`items` of a review are dicts: `name`, `state` (missing, stated or verified), and `days` that "
        "verifying takes or took. The open ones can be worked on side by side, and the run starts when all are "
        "verified. Return the name of the one that holds up the start longest.",
        chapter="readiness_review",
        task="decide",
        kind="decision",
        inputs=_lists,
        rulings=_holding_up,
        hint="Leave out what is done; of the rest the slowest decides.",
        points=2,
        minutes=5,
        slips=(
            Slip(
                name="done",
                sentence="It takes longest, but it is verified already.",
                gives=lambda items: max(items, key=lambda item: item["days"])["name"],
            ),
            Slip(
                name="missing alone",
                sentence="It is the slowest of the missing ones: what is only stated is open too.",
                gives=lambda items: max((i for i in items if i["state"] == "missing"), key=lambda i: i["days"])["name"],
            ),
            Slip(
                name="shortest",
                sentence="It is done first, but the start waits for the slowest.",
                gives=lambda items: min(items, key=lambda item: item["days"])["name"],
            ),
        ),
    ),
)
