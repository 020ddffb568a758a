"""What a scaling law rests on: the runs it was fitted to, its standard errors, and how far its word reaches."""

from dataclasses import dataclass

from lib import check
from lib.compute import train_flops


@dataclass(frozen=True, kw_only=True)
class Errors:
    """One standard error for each constant of a law. They are correlated, and nobody printed how."""

    E: float
    A: float
    B: float
    alpha: float
    beta: float

    def __post_init__(self):
        check.fields(self, positive="E A B alpha beta")


@dataclass(frozen=True, kw_only=True)
class Range:
    """The runs that a law was fitted to: outside of it, the law is extrapolated."""

    n_params: tuple[float, float]
    n_tokens: tuple[float, float]
    compute_at_most: float  # the box of N and D has an empty corner: its largest run was far smaller than 6 N D there

    def __post_init__(self):
        check.fields(self, positive="compute_at_most")
        for name in ("n_params", "n_tokens"):
            ends = getattr(self, name)
            if not isinstance(ends, tuple) or len(ends) != 2:
                raise TypeError(f"{name} = {ends!r} ({type(ends).__name__}): two numbers, the lower end first")
            for place, end in enumerate(ends):
                check.scalar(**{f"{name}[{place}]": end})
                check.positive(**{f"{name}[{place}]": end})
            if ends[0] > ends[1]:
                raise ValueError(f"{name} = {ends[0]:g} to {ends[1]:g}: the lower end first")

    def holds(self, n_params, n_tokens):
        """True where a run of this size lies among the runs that were fitted; element by element for arrays."""
        check.positive(n_params=n_params, n_tokens=n_tokens)
        (n_low, n_high), (d_low, d_high) = self.n_params, self.n_tokens
        inside_box = (n_params >= n_low) & (n_params <= n_high) & (n_tokens >= d_low) & (n_tokens <= d_high)
        return inside_box & (train_flops(n_params, n_tokens) <= self.compute_at_most)


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where a law comes from, and what its numbers count."""

    source: str
    n_counts: str
    tokenizer: str
    corpus: str
    n_runs: float | None = None
    fitted: Range | None = None  # None: not printed
    errors: Errors | None = None  # None: none were published
    fine_errors: Errors | None = None  # more digits than the paper prints, where its authors give them
    remark: str = ""

    def __post_init__(self):
        check.fields(self, positive="n_runs", text="source n_counts tokenizer corpus remark")


@dataclass(frozen=True, kw_only=True)
class LossVerdict:
    """A predicted loss against a target, judged by the law's standard error.

    The error is that of E alone. E shifts every prediction of a law by the same amount, so it bears on a target fully
    and on the ranking of two models not at all. The other constants add to it; how much is not printed.
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
    def passed(self):
        """True, False, or None for undecided."""
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
        'undecided: 0.0018 below the target, standard error 0.03 in E'
        """
        side = "below" if self.margin >= 0 else "above"
        judged_by = "no standard error published" if self.error is None else f"standard error {self.error:g} in E"
        return f"{self.words}: {abs(self.margin):.4f} {side} the target, {judged_by}"
