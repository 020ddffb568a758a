"""All that there is to say about the runs of one corpus: what `handbook fit` prints."""

from dataclasses import dataclass

from lib import check
from lib.fit.holdout import HoldOut, hold_out
from lib.fit.law import CONSTANTS, Fit, fit_law
from lib.fit.resampling import FEWEST_RESAMPLES, LEVEL, MOST_RESAMPLES, Bootstrap, bootstrap
from lib.units import show, show_number
from lib.whatif.model import Check, Row, View

BEYOND = 10.0  # times the largest run: the second budget that is answered where nobody names one
OPTIMUM_UNITS = {"n_params": "parameters", "n_tokens": "tokens", "tokens_per_param": "", "loss": "nats per token"}
OPTIMUM_LABELS = {
    "n_params": "best size",
    "n_tokens": "tokens",
    "tokens_per_param": "tokens per parameter",
    "loss": "loss",
}


@dataclass(frozen=True, kw_only=True)
class Report:
    """A fit with its intervals, its hold-out and the optimum at some budgets. Made by `report`."""

    fit: Fit
    budgets: tuple[float, ...]
    resampled: Bootstrap | None  # None: there are too few runs, or none were asked for
    held: HoldOut | None  # None: the runs that would be left cannot be fitted
    without: tuple[str, ...] = ()  # what is missing, and why

    def __post_init__(self):
        check.instance(Fit, fit=self.fit)
        _check_budgets(self.budgets)
        for kind, name in ((Bootstrap, "resampled"), (HoldOut, "held")):
            if getattr(self, name) is not None:
                check.instance(kind, **{name: getattr(self, name)})
        if not isinstance(self.without, tuple):
            raise TypeError(f"without = {check.short(self.without)}: a tuple of sentences")
        for place, sentence in enumerate(self.without):
            check.text(**{f"without[{place}]": sentence})

    @property
    def name(self):
        """The corpus, or the table where there is one corpus."""
        return self.fit.runs.group_names[0]

    @property
    def warnings(self):
        """All that speaks against the constants, in sentences."""
        return (*self.fit.warnings, *(self.resampled.warnings if self.resampled else ()), *self.without)

    def optimum(self, compute):
        """The best use of a budget by the fitted law, by name; and the interval of each, None without resamples.

        Args:
            compute: training compute, FLOP, > 0.
        """
        check.scalar(compute=compute)
        law = self.fit.law
        n_params, n_tokens = law.optimum(compute)
        if min(n_params, n_tokens) < 1:
            raise ValueError(f"compute = {check.figure(compute)}: too little for one parameter and one token")
        values = {"n_params": n_params, "n_tokens": n_tokens, "tokens_per_param": n_tokens / n_params}
        values["loss"] = law.optimal_loss(compute)
        ends = self.resampled.optimum(compute) if self.resampled else dict.fromkeys(values)
        return {name: (value, ends[name]) for name, value in values.items()}

    @property
    def view(self):
        """The report as rows, a check and notes."""
        law = self.fit.law
        formula = f"{law.E:.4g} + {law.A:.4g} / N^{law.alpha:.4f} + {law.B:.4g} / D^{law.beta:.4f}"
        return View(
            title=f"{self.name}: loss = {formula}, fitted to {len(self.fit.runs)} runs ({self.fit.objective}).",
            rows=(*self._constants(), *self._residuals(), *self._held_out(), *self._optima()),
            checks=(_design_check(self.fit.design),),
            notes=self.warnings,
        )

    def _constants(self):
        group = f"Constants ({LEVEL:.0%} of {len(self.resampled)} resamples)" if self.resampled else "Constants"
        for name in CONSTANTS:
            interval = self.resampled.interval(name) if self.resampled else None
            unit = "nats per token" if name == "E" else ""
            yield Row(label=name, value=_with(getattr(self.fit.law, name), interval, unit), group=group)

    def _residuals(self):
        fit, residuals = self.fit, self.fit.residuals
        worst = max(range(len(residuals)), key=lambda k: abs(residuals[k]))
        group = "Residuals, predicted against measured"
        yield Row(label="root mean square", value=fit.rms, unit="%", group=group)
        yield Row(label=f"largest, {fit.runs.places[worst]}", value=f"{residuals[worst]:+.2%}", group=group)
        yield Row(label="starts that found the optimum", value=f"{fit.n_at_best} of {fit.n_starts}", group=group)

    def _held_out(self):
        if self.held is None:
            return
        held = self.held
        group = f"Hold-out: the {len(held.held)} largest runs, predicted from the other {len(held.fit.runs)}"
        yield Row(label="mean error", value=held.mean_abs_error, unit="%", group=group)
        yield Row(label="compute beyond the fitted runs", value=f"{held.reach:.3g} times", group=group)
        columns = (held.held.places, held.errors, held.predicted, held.held.loss, held.labels)
        for place, error, predicted, measured, label in zip(*columns, strict=True):
            text = f"{error:+.2%}: {predicted:.4f} for {measured:.4f}; {label.split(':')[0]}"
            yield Row(label=place, value=text, group=group)

    def _optima(self):
        for compute in self.budgets:
            found = self.optimum(compute)
            label = self.fit.law.label(found["n_params"][0], found["n_tokens"][0])
            group = f"Best use of {show(compute, 'FLOP')}"
            yield Row(label="where that lies", value=label, group=group)
            for name, (value, ends) in found.items():
                yield Row(label=OPTIMUM_LABELS[name], value=_with(value, ends, OPTIMUM_UNITS[name]), group=group)

    def to_dict(self):
        """The report as plain data, numbers in full."""
        fit, runs = self.fit, self.fit.runs
        return {
            "name": self.name,
            "n_runs": len(runs),
            "objective": fit.objective,
            "objective_sum": fit.objective_sum,
            "rms": fit.rms,
            "starts": {"n": fit.n_starts, "at_best": fit.n_at_best},
            "level": LEVEL if self.resampled else None,
            "n_resamples": len(self.resampled) if self.resampled else 0,
            "constants": {name: self._constant(name) for name in CONSTANTS},
            "design": _design_data(fit.design),
            "warnings": list(self.warnings),
            "hold_out": self._hold_out_data(),
            "optima": [self._optimum_data(compute) for compute in self.budgets],
            "runs": [
                dict(zip(("place", "n_params", "n_tokens", "loss", "predicted"), row, strict=True))
                for row in zip(runs.places, runs.n_params, runs.n_tokens, runs.loss, fit.predicted, strict=True)
            ],
        }

    def _constant(self, name):
        low, high = self.resampled.interval(name) if self.resampled else (None, None)
        return {"value": getattr(self.fit.law, name), "low": low, "high": high}

    def _hold_out_data(self):
        if self.held is None:
            return None
        held = self.held
        columns = (held.held.places, held.predicted, held.held.loss, held.errors, held.labels)
        names = ("place", "predicted", "measured", "error", "label")
        rows = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
        return {"mean_abs_error": held.mean_abs_error, "reach": held.reach, "runs": rows}

    def _optimum_data(self, compute):
        found = self.optimum(compute)
        label = self.fit.law.label(found["n_params"][0], found["n_tokens"][0])
        numbers = {
            name: {"value": value, "low": ends and ends[0], "high": ends and ends[1]}
            for name, (value, ends) in found.items()
        }
        return {"compute": compute, "label": label, **numbers}


def _with(value, interval, unit):
    """A value with its interval behind it, as people write them."""
    text = f"{_short(value, unit)} {unit}".rstrip()
    return f"{text}  ({_short(interval[0], unit)} to {_short(interval[1], unit)})" if interval else text


def _short(value, unit):
    if unit:
        return show(value, unit).removesuffix(f" {unit}")
    return f"{value:.4f}" if 1e-3 <= value < 1 else show_number(float(f"{value:.4g}"))


def _design_check(design):
    passed = {"ok": True, "notice": None, "warn": False, "refuse": False}[design.verdict]
    return Check(label="the runs tell the constants apart", passed=passed, margin=design.explanation)


def _design_data(design):
    kappas = {"nominal_kappa": design.nominal_kappa, "fitted_kappa": design.fitted_kappa}
    counts = {"n_sizes": design.n_sizes, "n_token_counts": design.n_token_counts}
    return {"verdict": design.verdict, "explanation": design.explanation, "kappa": design.kappa, **kappas, **counts}


def report(runs, budgets=(), objective="huber", n_resamples=200, n_held=None, n_starts=100, seed=0, executor=None):
    """Fit the runs of one corpus and say all that there is to say.

    Args:
        runs: `lib.runs.Runs` of one corpus.
        budgets: compute at which the optimum is asked for, FLOP, > 0; none for the largest run's and ten times that.
            A budget for less than one parameter or token is refused.
        objective, n_starts, seed: as in `fit_law`.
        n_resamples: for the intervals, a whole number from 10 to 10,000; 0 for none.
        n_held: runs to hold out; None for one in eight, or none where the others cannot be fitted.
        executor: what computes the resamples; None for here.

    Raises:
        ValueError: for runs that cannot be fitted, with the reason.
    """
    check.natural(n_resamples=n_resamples)
    check.at_most(MOST_RESAMPLES, n_resamples=n_resamples)
    if 0 < n_resamples < FEWEST_RESAMPLES:
        raise ValueError(f"n_resamples = {n_resamples}: at least {FEWEST_RESAMPLES}, or 0 for no intervals")
    _check_budgets(budgets)
    fit = fit_law(runs, objective, n_starts, seed)
    settings, without = (objective, n_starts, seed), []
    if n_held is None:
        held = _or_reason(without, "no hold-out", hold_out, runs, None, *settings)
    else:  # asked for: then it is no answer to leave it out
        held = hold_out(runs, n_held, *settings)
    resampled = None
    if n_resamples:
        resampled = _or_reason(without, "no intervals", bootstrap, fit, n_resamples, seed, executor)
    largest = max(runs.compute)
    budgets = tuple(budgets) or (largest, BEYOND * largest)
    found = Report(fit=fit, budgets=budgets, resampled=resampled, held=held, without=tuple(without))
    for compute in budgets:
        found.optimum(compute)  # refused here, not in the middle of the answer
    return found


def _check_budgets(budgets):
    if not isinstance(budgets, tuple | list):
        raise TypeError(f"budgets = {check.short(budgets)} ({type(budgets).__name__}): a tuple of numbers, FLOP")
    for place, compute in enumerate(budgets):
        check.scalar(**{f"budgets[{place}]": compute})
        check.positive(**{f"budgets[{place}]": compute})


def _or_reason(reasons, what, make, *given):
    """What a function makes, or None, and the reason among the others."""
    try:
        return make(*given)
    except ValueError as refused:
        reasons.append(f"{what}: {refused}")
        return None
