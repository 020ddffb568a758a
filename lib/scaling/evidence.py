"""What a scaling law rests on: the runs it was fitted to, its standard errors, and how far its word reaches."""

from dataclasses import dataclass

from lib import check
from lib.compute import train_flops
from lib.units import show_number

# What a row of a law says of its runs.
_ERRORS = {"E": "nats/token", "A": "nats/token", "B": "nats/token", "alpha": "", "beta": "", "ln_A": "", "ln_B": ""}
FIGURES = {f"{name}{end}": unit for end in ("_error", "_error_fine") for name, unit in _ERRORS.items()}
FIGURES |= {f"n_params_{end}": "parameters" for end in ("low", "high")}
FIGURES |= {f"n_tokens_{end}": "tokens" for end in ("low", "high")}
FIGURES |= {"compute_low": "FLOP", "compute_high": "FLOP", "n_runs": "runs"}
WORDS = {"n_counts": str, "tokenizer": str, "corpus": str}
LABELS = ("aliases", "remark")


@dataclass(frozen=True, kw_only=True)
class Errors:
    """One standard error for each constant of a law. They are correlated, and nobody printed how."""

    E: float
    A: float | None = None
    B: float | None = None
    alpha: float
    beta: float
    ln_A: float | None = None  # noqa: N815 (a bootstrap of A itself has a tail that no standard error describes)
    ln_B: float | None = None  # noqa: N815

    def __post_init__(self):
        check.fields(self, positive="E A B alpha beta ln_A ln_B")


@dataclass(frozen=True, kw_only=True)
class Range:
    """The runs that a law was fitted to: outside of it, the law is extrapolated. None: that bound is not printed."""

    n_params: tuple[float, float] | None = None
    n_tokens: tuple[float, float] | None = None
    compute_at_least: float | None = None
    # The box of N and D has an empty corner: its largest run was far smaller than 6 N D there.
    compute_at_most: float | None = None

    def __post_init__(self):
        check.fields(self, positive="compute_at_least compute_at_most")
        for name in ("n_params", "n_tokens"):
            if getattr(self, name) is not None:
                _ends(name, getattr(self, name))
        if self.n_params is None and self.n_tokens is None and self.compute_at_most is None:
            raise ValueError("n_params, n_tokens, compute_at_most = None: at least one bound")

    def holds(self, n_params, n_tokens):
        """True where a run of this size lies among the runs that were fitted; element by element for arrays."""
        check.positive(n_params=n_params, n_tokens=n_tokens)
        return self._holds(n_params, n_tokens, train_flops(n_params, n_tokens))

    def _holds(self, n_params, n_tokens, compute):
        inside = compute >= (self.compute_at_least or 0.0)
        if self.compute_at_most is not None:
            inside = inside & (compute <= self.compute_at_most)
        for value, ends in ((n_params, self.n_params), (n_tokens, self.n_tokens)):
            if ends is not None:
                inside = inside & (value >= ends[0]) & (value <= ends[1])
        return inside if check.is_array(inside) else bool(inside)

    def beyond(self, n_params, n_tokens):
        """How far a run outside lies beyond the runs that were fitted, in words.

        >>> Range(n_params=(768, 1.5e9)).beyond(7.77e9, 21.4e9)
        '5.2 times the size of the largest fitted model'
        """
        check.scalar(n_params=n_params, n_tokens=n_tokens)
        check.positive(n_params=n_params, n_tokens=n_tokens)
        return self._beyond(n_params, train_flops(n_params, n_tokens))

    def _beyond(self, n_params, compute):
        if self.compute_at_most is not None and compute > self.compute_at_most:
            return f"{_times(compute / self.compute_at_most)} times the compute of the largest fitted run"
        if self.compute_at_least is not None and compute < self.compute_at_least:
            return f"{_times(self.compute_at_least / compute)} times less compute than the smallest fitted run"
        if self.compute_at_most is None and self.n_params is not None and n_params > self.n_params[1]:
            return f"{_times(n_params / self.n_params[1])} times the size of the largest fitted model"
        return "no fitted run has this shape"


def _ends(name, ends):
    if not isinstance(ends, tuple) or len(ends) != 2:
        raise TypeError(f"{name} = {check.short(ends)} ({type(ends).__name__}): two numbers, the lower end first")
    for place, end in enumerate(ends):
        check.scalar(**{f"{name}[{place}]": end})
        check.positive(**{f"{name}[{place}]": end})
    if ends[0] > ends[1]:
        raise ValueError(f"{name} = {ends[0]:g} to {ends[1]:g}: the lower end first")


def _times(ratio):
    return show_number(float(f"{ratio:.2g}"))


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where a law comes from, and what its numbers count."""

    source: str
    n_counts: str
    tokenizer: str
    corpus: str
    n_runs: float | None = None
    n_experts: int = 1  # of the models that were fitted; 1: they were dense
    stretch: str = ""  # why every answer is extrapolated, where it is
    is_fitted: bool = True  # False: a rule of thumb, which rests on no fit
    fitted: Range | None = None  # None: not printed
    errors: Errors | None = None  # None: none were published
    fine_errors: Errors | None = None  # more digits than the paper prints, where its authors give them
    remark: str = ""

    def __post_init__(self):
        check.fields(self, positive="n_runs", integer="n_experts", text="source n_counts")
        check.fields(self, text="tokenizer corpus remark stretch", boolean="is_fitted")
        for name, kind in (("fitted", Range), ("errors", Errors), ("fine_errors", Errors)):
            if getattr(self, name) is not None:
                check.instance(kind, **{name: getattr(self, name)})

    def label(self, n_params, n_tokens, n_experts=1):
        """What must stand beside a number that a law gives for a run: fitted, extrapolated, or not fitted at all.

        Args:
            n_params: parameters, counted as the law counts them, > 0.
            n_tokens: tokens, > 0.
            n_experts: experts in a layer of the model that is asked about; 1 for a dense one.

        >>> dense = Origin(source="", n_counts="", tokenizer="", corpus="", fitted=Range(compute_at_most=1e22))
        >>> dense.label(1e9, 2e10)
        'within the fitted range'
        >>> dense.label(1e10, 2e11, n_experts=8)
        'not fitted for mixtures of experts; extrapolated: 1.2 times the compute of the largest fitted run'
        """
        check.scalar(n_params=n_params, n_tokens=n_tokens)
        check.positive(n_params=n_params, n_tokens=n_tokens)
        check.integer(n_experts=n_experts)
        reach = self._reach(n_params, n_tokens)
        if n_experts == self.n_experts:
            return reach
        return f"not fitted for {self._strangers(n_experts)}; {reach}"

    def _strangers(self, n_experts):
        if self.n_experts == 1:
            return "mixtures of experts"
        return "dense models" if n_experts == 1 else f"{n_experts} experts but for {self.n_experts}"

    def _reach(self, n_params, n_tokens):
        if not self.is_fitted:
            return "a rule of thumb: fitted to no runs"
        if self.stretch:
            return f"extrapolated: {self.stretch}"
        if self.fitted is None:
            return "range of the fit not printed"
        compute = train_flops(n_params, n_tokens)
        if self.fitted._holds(n_params, n_tokens, compute):
            return "within the fitted range"
        return f"extrapolated: {self.fitted._beyond(n_params, compute)}"


@dataclass(frozen=True, kw_only=True)
class LossVerdict:
    """A predicted loss against a target, judged by the law's standard error.

    The error is that of E alone, as authors print it. E shifts every prediction of a law by the same amount, so it
    bears on a target fully, and on the difference of two losses of that law not at all: see `lib.scaling.certainty`.

    One standard error is a low bar. It holds 68 % of what chance does, so of the verdicts given just beyond it one in
    six is wrong; `standard_errors` says how far beyond it a verdict lies.
    """

    loss: float
    target_loss: float
    error: float | None  # nats per token; None: none was published, and the sign alone decides

    def __post_init__(self):
        check.fields(self, positive="loss target_loss")
        if self.error is not None:
            check.scalar(error=self.error)
            check.non_negative(error=self.error)

    @property
    def margin(self):
        """Target minus prediction, positive is good  [nats per token]."""
        return self.target_loss - self.loss

    @property
    def standard_errors(self):
        """The margin in standard errors, positive is good; None where none was published or it is 0."""
        return check.result(standard_errors=self.margin / self.error) if self.error else None

    @property
    def passed(self):
        """True, False, or None for undecided: within one standard error, which is a level of 68 %."""
        if self.error is not None and abs(self.margin) <= self.error:
            return None
        return self.margin >= 0

    @property
    def words(self):
        """'met', 'missed' or 'undecided'."""
        return {True: "met", False: "missed", None: "undecided"}[self.passed]

    @property
    def explanation(self):
        """The verdict with its margin and the error that it was judged by.

        >>> LossVerdict(loss=1.9532, target_loss=1.955, error=0.03).explanation
        'undecided: 0.0018 below the target, 0.06 of the standard error of E, 0.03'
        """
        side = "below" if self.margin >= 0 else "above"
        judged_by = "no standard error published"
        if self.error is not None:
            share = "" if self.error == 0 else f"{abs(self.standard_errors):.2g} of "
            judged_by = f"{share}the standard error of E, {self.error:g}"
        return f"{self.words}: {abs(self.margin):.4f} {side} the target, {judged_by}"


def read_origin(entry, source, n_experts=1):
    """The origin of a law from its row of a data file, which was loaded with `FIGURES` and `WORDS`.

    Args:
        entry: a `lib.facts.Entry`.
        source: of the law's constants.
        n_experts: of the models that were fitted.
    """
    return Origin(
        source=source,
        n_experts=n_experts,
        **{name: entry[name] for name in WORDS},
        n_runs=entry.get("n_runs"),
        fitted=_range(entry),
        errors=_errors(entry, "_error"),
        fine_errors=_errors(entry, "_error_fine"),
        remark=entry.get("remark", ""),
    )


def _range(entry):
    ends = {}
    for name in ("n_params", "n_tokens"):
        if f"{name}_high" in entry.facts:
            ends[name] = (float(entry[f"{name}_low"]), float(entry[f"{name}_high"]))
    bounds = {"compute_at_least": entry.get("compute_low"), "compute_at_most": entry.get("compute_high")}
    known = ends | {name: float(value) for name, value in bounds.items() if value is not None}
    return Range(**known) if known else None


def _errors(entry, ending):
    found = {name: entry.get(f"{name}{ending}") for name in _ERRORS}
    return None if found["E"] is None else Errors(**found)
