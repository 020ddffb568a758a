"""Can a set of runs tell the five constants of a law apart? Asked before anyone believes an exponent.

It depends on the sizes and tokens of the runs alone, not on the losses: runs on one line of tokens per parameter, or
all with the same tokens, fit many laws equally well. The condition number of the design says how nearly that is so.
"""

import math
from dataclasses import dataclass
from functools import cached_property

from lib import check
from lib.runs import Runs, planned
from lib.scaling import ScalingLaw, law
from lib.units import show_number

NOMINAL_LAW = "Besiroglu 2024"  # fixed constants: a fit that went wrong must not vouch for itself
N_CONSTANTS = 5
FEWEST_DISTINCT = 3  # sizes, and token counts: a grid of n by m has a rank of at most n + m - 1
# Our own choice, made from the values of designs that are known to work or to fail; not from the literature.
NOTICE_FROM, WARN_FROM, REFUSE_FROM = 50.0, 150.0, 10_000.0
_SWEEPS = 60  # of the Jacobi rotations; ten are enough
_MEANS = {
    "ok": f"the runs tell the five constants apart (below {NOTICE_FROM:g})",
    "notice": f"the runs tell the constants apart, but not well ({NOTICE_FROM:g} to {WARN_FROM:g})",
    "warn": f"small errors in the losses move the constants far (from {WARN_FROM:g})",
    "refuse": f"these runs cannot tell the five constants apart (from {REFUSE_FROM:,.0f})",
}
_INFINITE = 1e15  # beyond it the smallest singular value is rounding
_FLAT = 1e-12  # a column this small beside its entries is rounding


def condition_number(n_params, n_tokens, law):
    """How nearly a design confuses the constants of a law: kappa, 1 at best, infinite where it does so exactly.

    The condition number of J = d log L / d(ln A, ln B, ln E, alpha, beta), with A and B taken at the geometric means
    of N and D, and every column scaled to length 1.

    Args:
        n_params: of each run, > 0; a sequence of plain numbers.
        n_tokens: of each run, > 0.
        law: the `ScalingLaw` at whose constants J is taken.

    Source: the standard column-scaled condition number, as in Belsley, Kuh and Welsch 1980, *Regression Diagnostics*,
        chapter 3; the centring at the geometric means is ours.

    >>> from lib.scaling import law as named
    >>> sizes, tokens = [1e8, 1e8, 1e9, 1e9, 1e10, 1e10], [1e9, 1e10, 1e10, 1e11, 1e11, 1e12]
    >>> round(condition_number(sizes, tokens, named("besiroglu")), 1)
    31.2
    """
    check.instance(ScalingLaw, law=law)
    columns = _jacobian(planned(n_params, n_tokens), law)
    lengths = [math.sqrt(math.fsum(v * v for v in column)) for column in columns]
    if len(n_params) < N_CONSTANTS or min(lengths) <= _FLAT * max(lengths):
        return math.inf
    scaled = [[v / length for v in column] for column, length in zip(columns, lengths, strict=True)]
    values = singular_values(scaled)
    return values[0] / values[-1] if values[-1] > 0 else math.inf


def _jacobian(runs, law):
    """The columns of J for ln A, ln B, ln E, alpha and beta."""
    log_n, log_d = ([math.log(v) for v in values] for values in (runs.n_params, runs.n_tokens))
    mean_n, mean_d = math.fsum(log_n) / len(runs), math.fsum(log_d) / len(runs)
    rows = []
    for n, d, x, y in zip(runs.n_params, runs.n_tokens, log_n, log_d, strict=True):
        loss = law.loss(n, d)
        size, data = law.A / n**law.alpha / loss, law.B / d**law.beta / loss
        rows.append((size, data, law.E / loss, -size * (x - mean_n), -data * (y - mean_d)))
    return [list(column) for column in zip(*rows, strict=True)]


def singular_values(columns):
    """The singular values of a matrix given by its columns, largest first, by one-sided Jacobi rotations.

    Small ones come out as exactly as large ones, which the eigenvalues of the product J'J would not.

    Args:
        columns: a list of at least one sequence of numbers, all of one length.

    Source: Demmel and Veselić 1992, *Jacobi's method is more accurate than QR*, SIAM J. Matrix Anal. Appl. 13(4).

    >>> singular_values([[3.0, 0.0], [0.0, 4.0]])
    [4.0, 3.0]
    """
    if not isinstance(columns, list | tuple) or not columns:
        raise TypeError(f"columns = {check.short(columns)} ({type(columns).__name__}): a sequence of columns")
    columns = [_numbers(k, column) for k, column in enumerate(columns)]
    for place, column in enumerate(columns):
        if len(column) != len(columns[0]):
            raise ValueError(f"columns[{place}] = {len(column)} entries: {len(columns[0])}, as the first")
    largest = max((abs(entry) for column in columns for entry in column), default=0.0) or 1.0
    columns = [[entry / largest for entry in column] for column in columns]  # so that no square overflows
    pairs = [(p, q) for q in range(len(columns)) for p in range(q)]
    for _ in range(_SWEEPS):
        turned = [_rotate(columns, p, q) for p, q in pairs]
        if not any(turned):
            break
    return sorted((check.result(columns=largest * math.hypot(*column)) for column in columns), reverse=True)


def _numbers(place, column):
    if isinstance(column, str) or not hasattr(column, "__len__"):
        raise TypeError(f"columns[{place}] = {check.short(column)} ({type(column).__name__}): a sequence of numbers")
    for row, entry in enumerate(column):
        check.finite(**{f"columns[{place}][{row}]": entry})
    return list(column)


def _rotate(columns, p, q):
    """Turn two columns until they stand at a right angle; False if they did."""
    a, b = columns[p], columns[q]
    aa, bb, ab = _dot(a, a), _dot(b, b), _dot(a, b)
    if abs(ab) <= 1e-15 * math.sqrt(aa * bb):
        return False
    zeta = (bb - aa) / (2 * ab)
    tangent = math.copysign(1.0, zeta) / (abs(zeta) + math.hypot(1.0, zeta))
    cosine = 1 / math.hypot(1.0, tangent)
    sine = cosine * tangent
    columns[p] = [cosine * u - sine * v for u, v in zip(a, b, strict=True)]
    columns[q] = [sine * u + cosine * v for u, v in zip(a, b, strict=True)]
    return True


def _dot(a, b):
    return math.fsum(u * v for u, v in zip(a, b, strict=True))


@dataclass(frozen=True, kw_only=True)
class Design:
    """What a set of runs can tell, judged before a fit by fixed constants and after it by the fitted ones too.

    Args:
        runs: `lib.runs.Runs`.
        law: the fitted law; None before the fit.

    >>> from lib.runs import published
    >>> Design(runs=published("Cerebras-GPT")).verdict
    'refuse'
    """

    runs: Runs
    law: ScalingLaw | None = None

    def __post_init__(self):
        check.instance(Runs, runs=self.runs)
        if self.law is not None:
            check.instance(ScalingLaw, law=self.law)

    @property
    def n_sizes(self):
        """How many different sizes there are."""
        return len(set(self.runs.n_params))

    @property
    def n_token_counts(self):
        """How many different numbers of tokens there are."""
        return len(set(self.runs.n_tokens))

    @cached_property
    def nominal_kappa(self):
        """The condition number at fixed constants."""
        return condition_number(self.runs.n_params, self.runs.n_tokens, law(NOMINAL_LAW))

    @cached_property
    def fitted_kappa(self):
        """The condition number at the fitted constants; None before the fit."""
        return None if self.law is None else condition_number(self.runs.n_params, self.runs.n_tokens, self.law)

    @property
    def kappa(self):
        """The larger of the two."""
        return max(self.nominal_kappa, self.fitted_kappa or 0.0)

    @property
    def verdict(self):
        """'ok', 'notice', 'warn' or 'refuse'."""
        if self._too_few or self.kappa >= REFUSE_FROM:
            return "refuse"
        return "warn" if self.kappa >= WARN_FROM else "notice" if self.kappa >= NOTICE_FROM else "ok"

    @property
    def _too_few(self):
        if len(self.runs) < N_CONSTANTS:
            return f"{_count(len(self.runs), 'run')} for {N_CONSTANTS} constants: at least as many runs as constants"
        for number, noun in ((self.n_sizes, "size"), (self.n_token_counts, "token count")):
            if number < FEWEST_DISTINCT:
                return f"{_count(number, f'different {noun}')}: at least {FEWEST_DISTINCT}, or many laws fit"
        return ""

    @property
    def explanation(self):
        """The verdict in a sentence, with the number that it rests on."""
        if self._too_few:
            return self._too_few
        kappa = "infinite" if self.kappa >= _INFINITE else show_number(float(f"{self.kappa:.3g}"))
        return f"condition number {kappa}: {_MEANS[self.verdict]}"


def _count(number, noun):
    return f"{number} {noun}" + ("" if number == 1 else "s")


def same_losses(law, token_counts, beta):
    """Another law that gives exactly the losses of this one for all runs on two numbers of tokens.

    Two numbers of tokens fix the difference of the data terms and nothing else: B and E take up any exponent.

    Args:
        law: the `ScalingLaw` to imitate.
        token_counts: the two numbers of tokens, > 0.
        beta: the other law's exponent of the data term, > 0.

    Raises:
        ValueError: if the two are equal, or no law with a positive E has that exponent, or no float holds it.

    >>> from lib.scaling import law as named
    >>> twin = same_losses(named("hoffmann"), (2e9, 2e10), beta=0.5)
    >>> [round(some.loss(1e8, 2e10), 4) for some in (named("hoffmann"), twin)]
    [2.9569, 2.9569]
    """
    check.instance(ScalingLaw, law=law)
    check.scalar(beta=beta)
    check.positive(beta=beta)
    if not isinstance(token_counts, tuple) or len(token_counts) != 2:
        raise TypeError(f"token_counts = {check.short(token_counts)} ({type(token_counts).__name__}): two numbers")
    for place, tokens in enumerate(token_counts):
        check.positive(**{f"token_counts[{place}]": tokens})
    first, second = token_counts
    if first == second:
        raise ValueError(f"token_counts = {first:g} twice: two different numbers of tokens")
    step = law.B * (first**-law.beta - second**-law.beta)
    apart = _apart(first, second, beta)
    if not apart:
        raise ValueError(f"beta = {check.figure(beta)}: an exponent that a float can hold for {first:g} and {second:g}")
    twin_b = step / apart
    twin_e = law.E + law.B * first**-law.beta - twin_b * first**-beta
    name = f"{law.name}, beta {beta:g}"
    return ScalingLaw(name=name, E=twin_e, A=law.A, B=twin_b, alpha=law.alpha, beta=beta)


def _apart(first, second, beta):
    try:
        return first**-beta - second**-beta
    except OverflowError:
        return 0.0
