"""Scaling laws that give the best size, or the best tokens, for a budget as a power of compute, and no loss.

What the power gives differs: Kaplan's is parameters without embeddings, Llama 3's is tokens although its letter is N,
DeepSeek's is FLOPs a token. `optimum` turns each into parameters and tokens with C = 6 N D, in the law's own counting.
"""

from dataclasses import dataclass
from types import MappingProxyType

from lib import check, facts
from lib.compute import TOKENS_PER_PARAM, TRAIN_FLOPS_PER_PARAM
from lib.elementwise import power
from lib.scaling.evidence import FIGURES, LABELS, WORDS, Origin, read_origin
from lib.scaling.parametric import UNKNOWN

QUANTITIES = ("n_params", "n_tokens", "flops_per_token")


@dataclass(frozen=True, kw_only=True)
class BudgetLaw:
    """Best size or best tokens: coefficient * (C / compute_unit)^exponent.

    Args:
        name: whose.
        quantity: what the power gives, one of `QUANTITIES`.
        coefficient: of the quantity, at one unit of compute, > 0.
        exponent: of compute, above 0, at most 1.
        compute_unit: what the law counts compute in, FLOP, > 0.
        origin: where it comes from; None for one made up.

    >>> n_params, n_tokens = budget_law("Llama 3").optimum(3.8e25)
    >>> f"{n_tokens / 1e12:.1f} trillion tokens"
    '10.5 trillion tokens'
    """

    name: str
    quantity: str
    coefficient: float
    exponent: float
    compute_unit: float = 1.0
    origin: Origin | None = None

    def __post_init__(self):
        check.fields(self, positive="coefficient compute_unit", fraction="exponent", text="name")
        check.choice(QUANTITIES, quantity=self.quantity)
        if self.origin is not None:
            check.instance(Origin, origin=self.origin)

    @property
    def source(self):
        """Where the constants come from, down to table or equation."""
        return (self.origin or UNKNOWN).source

    @property
    def params_exponent(self):
        """a in N* proportional to C^a.

        >>> round(budget_law("Llama 3").params_exponent, 2)
        0.47
        """
        return 1 - self.exponent if self.quantity == "n_tokens" else self.exponent

    def optimum(self, compute):
        """The parameters and tokens that the law prefers for a budget; their product is C / 6.

        Args:
            compute: training compute, FLOP, > 0; float or array.

        Returns:
            (n_params, n_tokens), parameters counted as the law counts them.

        Raises:
            TypeError, ValueError: if compute is no positive, finite number.

        >>> f"{budget_law('Kaplan 2020').optimum(1e21)[0]:.3g}"
        '7.77e+09'
        """
        check.positive(compute=compute)
        best = self.coefficient * power(compute / self.compute_unit, self.exponent)
        if self.quantity == "n_tokens":
            n_tokens = check.positive_result(n_tokens=best)
            return _other(compute, "n_params", n_tokens), n_tokens
        n_params = best if self.quantity == "n_params" else best / TRAIN_FLOPS_PER_PARAM
        n_params = check.positive_result(n_params=n_params)
        return n_params, _other(compute, "n_tokens", n_params)

    def tokens_per_param(self, compute):
        """D* / N* at a budget.

        Args:
            compute: training compute, FLOP, > 0; float or array.

        >>> round(budget_law("Kaplan 2020").tokens_per_param(1e21), 1)
        2.8
        """
        n_params, n_tokens = self.optimum(compute)
        return check.positive_result(tokens_per_param=n_tokens / n_params)

    def inside_range(self, n_params, n_tokens):
        """Whether a run lies among those that the law was fitted to; None where the paper does not say."""
        check.positive(n_params=n_params, n_tokens=n_tokens)
        fitted = (self.origin or UNKNOWN).fitted
        return None if fitted is None else fitted.holds(n_params, n_tokens)

    def label(self, n_params, n_tokens, n_experts=1):
        """What must stand beside this law's answer: fitted, extrapolated, or range unknown; see `Origin.label`.

        >>> budget_law("Kaplan 2020").label(7.77e9, 21.4e9)
        'extrapolated: 5.2 times the size of the largest fitted model'
        """
        return (self.origin or UNKNOWN).label(n_params, n_tokens, n_experts)


def _other(compute, name, amount):
    """What the compute leaves: C / (6 N) tokens, or C / (6 D) parameters."""
    return check.positive_result(**{name: compute / (TRAIN_FLOPS_PER_PARAM * amount)})


def kaplan_size_loss(n_params):
    """Loss of a size with endless data, by Kaplan: (N_c / N)^alpha_N  [nats per token].

    Without a floor: a loss that falls to nothing, so it holds near its fitted sizes only.

    Args:
        n_params: parameters without embeddings, > 0; float or array.

    Source: Kaplan et al. 2020, arXiv:2001.08361, equation 1.1.

    >>> round(kaplan_size_loss(1.5e9), 2)
    2.3
    """
    check.positive(n_params=n_params)
    return check.positive_result(loss=power(_KAPLAN["N_c"] / n_params, _KAPLAN["alpha_N"]))


def kaplan_data_loss(n_tokens):
    """Loss that endless parameters reach on a corpus, stopped in time, by Kaplan: (D_c / D)^alpha_D  [nats per token].

    Args:
        n_tokens: tokens of the corpus, > 0; float or array.

    Source: Kaplan et al. 2020, arXiv:2001.08361, equation 1.2.

    >>> round(kaplan_data_loss(23e9), 2)
    2.09
    """
    check.positive(n_tokens=n_tokens)
    return check.positive_result(loss=power(_KAPLAN["D_c"] / n_tokens, _KAPLAN["alpha_D"]))


_COEFFICIENTS = dict(zip(("params_coefficient", "tokens_coefficient", "flops_coefficient"), QUANTITIES, strict=True))
_FIGURES = {
    "params_coefficient": "parameters",
    "tokens_coefficient": "tokens",
    "flops_coefficient": "FLOP/token",
    "point_params": "parameters",
    "point_compute": "FLOP",
    "exponent": "",
    "compute_unit": "FLOP",
    "paper_tokens": "tokens",
    "alpha_N": "",
    "N_c": "parameters",
    "alpha_D": "",
    "D_c": "tokens",
}


def _law(entry):
    quantity, coefficient = _coefficient(entry)
    return BudgetLaw(
        name=entry.name,
        quantity=quantity,
        coefficient=coefficient,
        exponent=float(entry["exponent"]),
        compute_unit=float(entry.get("compute_unit", 1.0)),
        origin=read_origin(entry, entry.facts["exponent"].source),
    )


def _coefficient(entry):
    for field, quantity in _COEFFICIENTS.items():
        if field in entry.facts:
            return quantity, float(entry[field])
    return "n_params", entry["point_params"] / entry["point_compute"] ** entry["exponent"]


FACTS = facts.load("budget_laws", _FIGURES | FIGURES, WORDS, LABELS)
_KAPLAN = FACTS["Kaplan 2020"]
BUDGET_LAWS = MappingProxyType({name: _law(entry) for name, entry in FACTS.items()})
NAMES = dict(BUDGET_LAWS) | {a: BUDGET_LAWS[name] for name, entry in FACTS.items() for a in entry.get("aliases", ())}

# The most quoted rule, in the form of a law so that it can stand beside them: `lib.compute.chinchilla_optimal`.
RULE_OF_20 = BudgetLaw(
    name=f"{TOKENS_PER_PARAM:g} tokens per parameter",
    quantity="n_params",
    coefficient=(TRAIN_FLOPS_PER_PARAM * TOKENS_PER_PARAM) ** -0.5,
    exponent=0.5,
    origin=Origin(
        source="Hoffmann et al. 2022, arXiv:2203.15556, Table 3, read as a rule",
        n_counts="all parameters, embeddings included",
        tokenizer="any",
        corpus="any",
        is_fitted=False,
        remark="a rule of thumb, no law: it was not fitted",
    ),
)


def budget_law(name):
    """A published law of this kind by its name, whatever its case, spaces, hyphens and underscores.

    Args:
        name: such as "Kaplan 2020", "llama 3", "approach 2".

    Raises:
        ValueError: if no law has it; the nearest name is offered.

    >>> budget_law("deepseek").exponent
    0.5243
    """
    return check.lookup(NAMES, law=name)
