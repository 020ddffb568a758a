"""Questions of the chapter *Worked example*: from a cluster and a time to a model."""

from lib import compute
from lib.exercises.amounts import doubled, spread
from lib.exercises.choices import named, ranked
from lib.exercises.questions import Question, Slip
from lib.units import show

_CLUSTER = ("n_gpus", "days", "peak_flops", "mfu")


def compute_budget(n_gpus, days, peak_flops, mfu):
    """Useful FLOPs that a cluster gives in so many days; a float."""
    return n_gpus * days * 86_400 * peak_flops * mfu


def tokens_each_gets(n_gpus, days, peak_flops, mfu, n_params):
    """Tokens for each parameter."""
    flops = n_gpus * days * 86_400 * peak_flops * mfu
    return flops / (6 * n_params) / n_params


def balanced_params(n_gpus, days, peak_flops, mfu):
    """Parameters that use up the cluster's time at 20 tokens a parameter; a float."""
    flops = n_gpus * days * 86_400 * peak_flops * mfu
    return (flops / 120) ** 0.5


def days_on_calendar(compute_days, goodput):
    """Days from start to end, what failures take included; a float."""
    return compute_days / goodput


def run_in_time(runs, n_gpus, peak_flops, mfu, goodput, calendar_days):
    """Name of the largest run, in FLOPs, that ends within the calendar days; text."""
    useful = n_gpus * peak_flops * mfu * calendar_days * goodput * 86_400
    fitting = [run for run in runs if 6 * run["n_params"] * run["n_tokens"] <= useful]
    return max(fitting, key=lambda run: run["n_params"] * run["n_tokens"])["name"]


def _cluster(rng):
    return doubled(rng, 8, 4096), float(rng.randrange(3, 60)), spread(rng, 1e14, 2e15, 3), _share(rng, 0.25, 0.5)


def _share(rng, low, high):
    return round(low + (high - low) * rng.random(), 2)


def _clusters(rng):
    rows = [(128, 14.0, 312e12, 0.45), (1, 1.0, 1e14, 1.0), *(_cluster(rng) for _ in range(4))]
    return [dict(zip(_CLUSTER, row, strict=True)) for row in rows]


def _one_cluster(rng):
    drawn = dict(zip(_CLUSTER, (doubled(rng, 64, 512), float(rng.randrange(7, 29)), 312e12, 0.45), strict=True))
    return [drawn | {"n_params": spread(rng, 1e9, 4e9)}]


def _pauses(rng):
    edges = [(18.0, 0.9), (10.0, 1.0)]
    drawn = [(float(rng.randrange(5, 120)), _share(rng, 0.7, 0.97)) for _ in range(4)]
    return [{"compute_days": days, "goodput": goodput} for days, goodput in edges + drawn]


def _offers(rng):
    return [_offer(rng, goodput) for goodput in (0.9, *(_share(rng, 0.75, 0.92) for _ in range(4)))]


def _offer(rng, goodput):
    n_gpus, days, peak, mfu = _cluster(rng)
    kept = compute.compute_budget(n_gpus, days, peak, mfu) * goodput
    shares = (rng.choice((0.2, 1.9)), 0.5, 0.93, (1 + 1 / goodput) / 2, 1.5)  # the right one is not always the third
    runs = [_run(share * kept) for share in shares]
    rest = {"n_gpus": n_gpus, "peak_flops": peak, "mfu": mfu, "goodput": goodput, "calendar_days": days}
    return {"runs": named(rng, runs)} | rest


def _run(flops):
    return dict(zip(("n_params", "n_tokens"), compute.chinchilla_optimal(flops), strict=True))


def _in_time(runs, n_gpus, peak_flops, mfu, goodput, calendar_days):
    def late(run):
        days = compute.training_days(run["n_params"], run["n_tokens"], n_gpus, peak_flops, mfu)
        days = compute.calendar_days(days, goodput)
        over = days - calendar_days
        return ("It does not end in time.", f"It takes {show(over, 'days')} too long.") if over > 0 else None

    return ranked(
        runs,
        late,
        lambda run: -run["n_params"] * run["n_tokens"],
        "The largest run that ends in time.",
        "It ends in time, but a larger run does too.",
    )


QUESTIONS = (
    Question(
        solution=compute_budget,
        title="What a cluster gives",
        prompt="`n_gpus` devices of `peak_flops` FLOP/s each run for `days` days and reach the fraction `mfu` of "
        "their peak. Return the useful FLOPs.",
        chapter="worked_example",
        task="write",
        kind="function",
        inputs=_clusters,
        expected=compute.compute_budget,
        unit="FLOP",
        hint="Useful FLOP/s of the whole cluster, times seconds.",
        points=1,
        minutes=5,
        slips=(
            Slip(
                name="hours",
                sentence="A day has 86,400 seconds, not 3,600: those are of an hour.",
                gives=lambda **cluster: compute_budget(**cluster) / 24,
            ),
            Slip(
                name="days",
                sentence="Days were not turned into seconds, which a FLOP/s asks for.",
                gives=lambda **cluster: compute_budget(**cluster) / 86_400,
            ),
            Slip(
                name="peak",
                sentence="That is the full peak: only the fraction `mfu` of it is useful.",
                gives=lambda mfu, **cluster: compute_budget(mfu=1.0, **cluster),
            ),
            Slip(
                name="one device",
                sentence="That is one device: multiply by `n_gpus`.",
                gives=lambda n_gpus, **cluster: compute_budget(n_gpus=1, **cluster),
            ),
        ),
    ),
    Question(
        solution=tokens_each_gets,
        title="Tokens for each parameter",
        prompt="{n_gpus:,} A100s with a peak of {peak_flops:FLOP/s} each run for {days:days} at an MFU of "
        "{mfu:g}. All of it goes into one model of {n_params:parameters}. By 6ND, how many tokens does each of "
        "its parameters get? Three digits are enough.",
        chapter="worked_example",
        task="read",
        kind="value",
        inputs=_one_cluster,
        expected=lambda n_params, **cluster: (
            compute.compute_budget(**cluster) / compute.train_flops(n_params, 1.0) / n_params
        ),
        tolerance=0.02,
        unit="tokens a parameter",
        visible=False,
        hint="First the budget, then the tokens C / 6N, then the tokens over the parameters.",
        minutes=5,
        slips=(
            Slip(
                name="no factor 6",
                sentence="Tokens are C / 6N: the 6 is missing.",
                gives=lambda **asked: 6 * tokens_each_gets(**asked),
            ),
            Slip(
                name="all tokens",
                sentence="Those are the tokens of the run: divide by the parameters once more.",
                gives=lambda n_params, **cluster: tokens_each_gets(n_params=n_params, **cluster) * n_params,
            ),
            Slip(
                name="peak",
                sentence="That is at full peak: multiply by the MFU.",
                gives=lambda mfu, **asked: tokens_each_gets(mfu=1.0, **asked),
            ),
        ),
    ),
    Question(
        solution=balanced_params,
        title="The balanced model of a cluster",
        prompt="`n_gpus` devices of `peak_flops` FLOP/s each run for `days` days at `mfu`. Return the parameters "
        "of the model that uses up this compute with 20 tokens for each parameter. Then halve the MFU: how much "
        "smaller is it?",
        chapter="worked_example",
        task="change",
        kind="function",
        inputs=_clusters,
        expected=lambda **cluster: compute.chinchilla_optimal(compute.compute_budget(**cluster))[0],
        unit="parameters",
        hint="C = 6 N * 20 N; the size goes with the root of the compute.",
        points=2,
        minutes=8,
        slips=(
            Slip(
                name="no factor 6",
                sentence="C / 20 stands under the root: with 6ND it is C / 120.",
                gives=lambda **cluster: balanced_params(**cluster) * 6**0.5,
            ),
            Slip(
                name="no root",
                sentence="C / 120 is N squared: the root is missing.",
                gives=lambda **cluster: balanced_params(**cluster) ** 2,
            ),
            Slip(
                name="tokens",
                sentence="Those are the tokens, 20 for each parameter: the parameters were asked for.",
                gives=lambda **cluster: balanced_params(**cluster) * 20,
            ),
            Slip(
                name="hours",
                sentence="A day has 86,400 seconds, not 3,600.",
                gives=lambda **cluster: balanced_params(**cluster) / 24**0.5,
            ),
        ),
    ),
    Question(
        solution=days_on_calendar,
        title="Days on the calendar",
        prompt="A run needs `compute_days` of progress. Only the fraction `goodput` of the time is progress: the "
        "rest goes to failures, restarts and checkpoints. Return the days from start to end.",
        chapter="worked_example",
        task="change",
        kind="function",
        inputs=_pauses,
        expected=compute.calendar_days,
        unit="days",
        hint="Progress is a part of the calendar: which is larger?",
        minutes=3,
        slips=(
            Slip(
                name="multiplied",
                sentence="Fewer days than the progress itself: divide by the goodput.",
                gives=lambda compute_days, goodput: compute_days * goodput,
            ),
            Slip(
                name="loss added",
                sentence="What is lost is a share of the calendar, not of the progress: divide by the goodput.",
                gives=lambda compute_days, goodput: compute_days * (2 - goodput),
            ),
            Slip(
                name="loss alone",
                sentence="That divides by what is lost: the progress is the other part.",
                gives=lambda compute_days, goodput: compute_days / (1 - goodput) if goodput < 1 else None,
            ),
        ),
    ),
    Question(
        solution=run_in_time,
        title="Which run ends in time?",
        prompt="`runs` are dicts with `name`, `n_params` and `n_tokens`. The cluster has `n_gpus` devices of "
        "`peak_flops` FLOP/s, reaches `mfu`, and makes progress in the fraction `goodput` of the time. Nobody "
        "extends the `calendar_days`. Return the name of the run with the most FLOPs that still ends in time, by "
        "6ND.",
        chapter="worked_example",
        task="decide",
        kind="decision",
        inputs=_offers,
        rulings=_in_time,
        hint="Of the calendar days only the goodput's share does work.",
        points=3,
        minutes=12,
        difficulty="medium",
        slips=(
            Slip(
                name="no goodput",
                sentence="It ends in time only if nothing ever fails: the goodput was left out.",
                gives=lambda goodput, **asked: run_in_time(goodput=1.0, **asked),
            ),
            Slip(
                name="largest",
                sentence="That is the largest of all, whether it ends or not.",
                gives=lambda runs, **asked: max(runs, key=lambda run: run["n_params"] * run["n_tokens"])["name"],
            ),
            Slip(
                name="smallest",
                sentence="That is the smallest of all: it leaves most of the time unused.",
                gives=lambda runs, **asked: min(runs, key=lambda run: run["n_params"] * run["n_tokens"])["name"],
            ),
        ),
    ),
)
