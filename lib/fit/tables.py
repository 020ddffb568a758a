"""Tables of a chapter: designs, constants with their intervals, runs held out, refits beside each other."""

from lib import check
from lib.fit.holdout import HoldOut
from lib.fit.law import CONSTANTS
from lib.fit.report import OPTIMUM_LABELS, OPTIMUM_UNITS
from lib.fit.resampling import LEVEL, Bootstrap
from lib.runs import Runs
from lib.runs.identifiability import Design
from lib.scaling import ScalingLaw
from lib.tables import Table
from lib.units import show, show_number


def designs(parts):
    """What sets of runs can tell, one row a set.

    Args:
        parts: (label, `Runs`) of each set.
    """
    rows = []
    for label, runs in _pairs(Runs, parts=parts):
        found = Design(runs=runs)
        kappa = "infinite" if found.nominal_kappa >= 1e15 else show_number(float(f"{found.nominal_kappa:.3g}"))
        rows.append((label, f"{len(runs)}", f"{found.n_sizes}", f"{found.n_token_counts}", kappa, found.verdict))
    head = ("runs", "how many", "sizes", "token counts", "condition number", "verdict")
    return Table(head=head, rows=tuple(rows), caption="What each set of runs can tell about the five constants.")


def constants(resampled, truth=None):
    """The fitted constants with their intervals, and beside them the true ones where they are known.

    Args:
        resampled: a `Bootstrap`.
        truth: the `ScalingLaw` that made the runs, or None.
    """
    check.instance(Bootstrap, resampled=resampled)
    if truth is not None:
        check.instance(ScalingLaw, truth=truth)
    rows = []
    for name in CONSTANTS:
        low, high = map(_digits, resampled.interval(name))
        known = (_digits(getattr(truth, name)),) if truth is not None else ()
        rows.append((name, _digits(getattr(resampled.fit.law, name)), f"{low} to {high}", *known))
    head = ("constant", "fitted", f"middle {LEVEL:.0%} of refits", *(("true",) if truth is not None else ()))
    caption = f"{len(resampled.fit.runs)} runs, {len(resampled)} resamples; E in nats per token."
    return Table(head=head, rows=tuple(rows), caption=caption)


def optimum(resampled, compute):
    """The best use of a budget by a fitted law, each number with its interval.

    Args:
        resampled: a `Bootstrap`.
        compute: training compute, FLOP, > 0.
    """
    check.instance(Bootstrap, resampled=resampled)
    check.scalar(compute=compute)
    law = resampled.fit.law
    n_params, n_tokens = law.optimum(compute)
    values = {"n_params": n_params, "n_tokens": n_tokens, "tokens_per_param": n_tokens / n_params}
    values["loss"] = law.optimal_loss(compute)
    ends = resampled.optimum(compute)
    rows = []
    for name, value in values.items():
        unit = OPTIMUM_UNITS[name]
        numbers = (_amount(number, unit) for number in (value, *ends[name]))
        rows.append((_with_unit(OPTIMUM_LABELS[name], unit), *numbers))
    caption = f"The best use of {show(compute, 'FLOP')}: {law.label(n_params, n_tokens)}."
    return Table(head=("", "by the fit", "from", "to"), rows=tuple(rows), caption=caption)


def held_out(held):
    """The largest runs, predicted from the others, with what must be said of each prediction.

    Args:
        held: a `HoldOut`.
    """
    check.instance(HoldOut, held=held)
    columns = zip(held.held.places, held.held.loss, held.predicted, held.errors, held.labels, strict=True)
    rows = tuple((place, f"{m:.3f}", f"{p:.3f}", f"{e:+.2%}", label) for place, m, p, e, label in columns)
    caption = f"Losses of {len(held.held)} runs, predicted from {len(held.fit.runs)} smaller ones; nats per token."
    return Table(head=("run", "measured", "predicted", "error", "where it lies"), rows=rows, caption=caption)


def laws(found, compute):
    """Constants of laws beside each other, and what each makes of a budget.

    Args:
        found: (label, `ScalingLaw`) of each.
        compute: training compute, FLOP, > 0.
    """
    check.scalar(compute=compute)
    rows = []
    for label, law in _pairs(ScalingLaw, found=found):
        n_params, n_tokens = law.optimum(compute)
        numbers = (*(_digits(getattr(law, name)) for name in CONSTANTS), _amount(n_params, "parameters"))
        rows.append((label, *numbers, show(n_tokens / n_params)))
    head = ("fitted to", *CONSTANTS, "best size", "tokens per parameter")
    caption = f"Constants, E in nats per token, and the parameters that {show(compute, 'FLOP')} are best spent on."
    return Table(head=head, rows=tuple(rows), caption=caption)


def twins(found, runs, far):
    """Laws that agree on some runs and disagree far away.

    Args:
        found: `ScalingLaw`s.
        runs: `Runs` whose losses they share.
        far: (n_params, n_tokens) of a run beyond them.
    """
    check.several(found=found)
    for place, law in enumerate(found):
        check.instance(ScalingLaw, **{f"found[{place}]": law})
    check.instance(Runs, runs=runs)
    if not isinstance(far, tuple) or len(far) != 2:
        raise TypeError(f"far = {check.short(far)} ({type(far).__name__}): a size and a number of tokens")
    pairs = list(zip(runs.n_params, runs.n_tokens, strict=True))
    rows = []
    for law in found:
        apart = max(abs(law.loss(n, d) - loss) for (n, d), loss in zip(pairs, runs.loss, strict=True))
        rows.append((_digits(law.beta), _digits(law.E), _digits(law.B), f"{apart:.4f}", f"{law.loss(*far):.3f}"))
    n_params, n_tokens = far
    where = f"loss of {show(n_params, 'parameters')} on {show(n_tokens, 'tokens')}"
    head = ("beta", "E", "B", "largest difference on the runs", where)
    return Table(head=head, rows=tuple(rows), caption=f"Laws that give the same {len(runs)} losses, nats per token.")


def _pairs(kind, **given):
    """A label and an instance of a kind, each pair checked."""
    check.several(**given)
    ((name, pairs),) = given.items()
    for place, pair in enumerate(pairs):
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"{name}[{place}] = {check.short(pair)}: a label and a {kind.__name__}")
        check.text(**{f"{name}[{place}][0]": pair[0]})
        check.instance(kind, **{f"{name}[{place}][1]": pair[1]})
    return pairs


def _with_unit(label, unit):
    return f"{label} ({unit})" if unit not in ("", label) else label


def _digits(value):
    return f"{value:.4f}" if 1e-3 <= value < 10 else show_number(float(f"{value:.4g}"))


def _amount(value, unit):
    return show(value, unit).removesuffix(f" {unit}") if unit else show(value)
