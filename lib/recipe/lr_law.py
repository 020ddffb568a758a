"""Rules for the peak learning rate and the batch: one fitted through published runs, three published.

All take parameters and tokens, so that they can stand beside each other; what each was made for is said with it.
"""

import math
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from types import MappingProxyType

from lib import check
from lib.architecture import Transformer
from lib.compute import TRAIN_FLOPS_PER_PARAM
from lib.recipe.power_laws import QUANTITIES, PowerLaw, fit
from lib.recipe.published_runs import PUBLISHED_RUNS

_DEEPSEEK_SOURCE = "DeepSeek-AI 2024, arXiv:2401.02954, section 3.1"
_STEP_SOURCE = "Li et al. 2025, arXiv:2503.04715, Step Law"
_LR, _BATCH = (0.3118, -0.1250), (0.2920, 0.3271)  # coefficient and power of compute
_ATTENTION_FLOPS = 12.0  # a token, layer, width and position, forward and backward, the mask not counted


def _of_compute(name, constants, source):
    coefficient, power = constants
    coefficient *= TRAIN_FLOPS_PER_PARAM**power
    return PowerLaw(name=name, coefficient=coefficient, params_exponent=power, tokens_exponent=power, source=source)


@dataclass(frozen=True, kw_only=True)
class SizeTable:
    """A table by size, read between its rows on log axes and level beyond its ends.

    Args:
        name: whose; any text.
        sizes: parameters of its rows, rising.
        values: what stands beside them.
        source: where it is printed.

    Raises:
        TypeError, ValueError: for a number that is not positive and finite.

    >>> f"{GPT3_TABLE['peak_lr'].at(175e9, 300e9):.1e}"
    '6.0e-05'
    """

    name: str
    sizes: tuple[float, ...]
    values: tuple[float, ...]
    source: str = ""

    def __post_init__(self):
        check.fields(self, text="name source")
        for field in ("sizes", "values"):
            if not isinstance(getattr(self, field), tuple) or not getattr(self, field):
                raise TypeError(f"{field} = {check.short(getattr(self, field))}: a tuple of numbers")
            for place, value in enumerate(getattr(self, field)):
                check.scalar(**{f"{field}[{place}]": value})
                check.positive(**{f"{field}[{place}]": value})
        if len(self.values) != len(self.sizes):
            raise ValueError(f"values = {len(self.values)} numbers: as many as sizes has, {len(self.sizes)}")
        if any(low >= high for low, high in pairwise(self.sizes)):
            raise ValueError(f"sizes = {self.sizes}: rising numbers")

    def at(self, n_params, n_tokens):
        """The table's value for a run; tokens make no difference to it.

        Args:
            n_params: parameters, > 0.
            n_tokens: tokens, > 0.
        """
        check.scalar(n_params=n_params, n_tokens=n_tokens)
        check.positive(n_params=n_params, n_tokens=n_tokens)
        rows = list(zip(self.sizes, self.values, strict=True))
        if n_params <= rows[0][0]:
            return rows[0][1]
        for (low, first), (high, last) in pairwise(rows):
            if n_params <= high:
                return first * (last / first) ** (math.log(n_params / low) / math.log(high / low))
        return rows[-1][1]


def _gpt3(quantity):
    rows = [run for run in PUBLISHED_RUNS.values() if run.family == "GPT-3"]
    return SizeTable(
        name="GPT-3's table",
        sizes=tuple(run.n_params for run in rows),
        values=tuple(run.get(quantity) for run in rows),
        source="Brown et al. 2020, arXiv:2005.14165, Table 2.1",
    )


def _both(lr, batch):
    return MappingProxyType(dict(zip(QUANTITIES, (lr, batch), strict=True)))


# The best of a sweep over learning rate and batch at each of several budgets, in DeepSeek's own setting.
DEEPSEEK = _both(
    _of_compute("DeepSeek's law", _LR, _DEEPSEEK_SOURCE), _of_compute("DeepSeek's law", _BATCH, _DEEPSEEK_SOURCE)
)
# The best of some 3,700 runs over size, tokens, learning rate and batch; N without the vocabulary.
STEP_LAW = _both(
    PowerLaw(name="Step Law", coefficient=1.79, params_exponent=-0.713, tokens_exponent=0.307, source=_STEP_SOURCE),
    PowerLaw(name="Step Law", coefficient=0.58, tokens_exponent=0.571, source=_STEP_SOURCE),
)
GPT3_TABLE = _both(*map(_gpt3, QUANTITIES))


@cache
def fitted(quantity):
    """The law of habit that recipes follow: fitted to size and tokens of all comparable published runs.

    Args:
        quantity: "peak_lr" or "global_batch_tokens".

    Returns:
        A `PowerLaw`.

    Raises:
        TypeError, ValueError: for another word.

    >>> f"{fitted('peak_lr').at(9.1e9, 183e9):.2e}"
    '1.67e-04'
    """
    return fit(quantity, "params and tokens")


def deepseek_peak_lr(compute):
    """The peak learning rate by DeepSeek's law: 0.3118 C^-0.1250.

    Made for AdamW with a schedule in steps, from sweeps over learning rate and batch at several budgets.

    Args:
        compute: C = M D, FLOP, > 0: `deepseek_compute`; 6 N D comes near; float or array.

    Raises:
        TypeError, ValueError: if compute is no positive, finite number.

    Source: DeepSeek-AI 2024, arXiv:2401.02954, section 3.1.

    >>> f"{deepseek_peak_lr(8.49e22):.2e}"
    '4.24e-04'
    """
    check.positive(compute=compute)
    return check.positive_result(peak_lr=_LR[0] * compute ** _LR[1])


def deepseek_batch_tokens(compute):
    """The batch by DeepSeek's law: 0.2920 C^0.3271  [tokens].

    Args:
        compute: C = M D, FLOP, > 0: `deepseek_compute`; 6 N D comes near; float or array.

    Raises:
        TypeError, ValueError: if compute is no positive, finite number.

    Source: DeepSeek-AI 2024, arXiv:2401.02954, section 3.1.

    >>> f"{deepseek_batch_tokens(8.65e23):.3e}"
    '1.973e+07'
    """
    check.positive(compute=compute)
    return check.positive_result(batch_tokens=_BATCH[0] * compute ** _BATCH[1])


def deepseek_compute(shape, n_tokens, seq_len):
    """What DeepSeek's laws call C: M D, where M counts the layers' weights and attention  [FLOP].

    M = 6 x (weights without table and head) + 12 n_layers d_model seq_len. The paper writes 72 L d^2 for the first
    term, which is the same for an MLP of 8 d^2 weights and plain attention.

    Args:
        shape: a `Transformer`.
        n_tokens: tokens of the run, > 0; float or array.
        seq_len: tokens in a sequence, a whole number of at least 1; float or array.

    Source: DeepSeek-AI 2024, arXiv:2401.02954, section 3.2.

    >>> small = Transformer(n_layers=30, d_model=4096, n_heads=32, d_ff=11008, vocab_size=102_400)
    >>> f"{deepseek_compute(small, 2e12, 4096):.3g}"
    '8.49e+22'
    """
    check.instance(Transformer, shape=shape)
    check.positive(n_tokens=n_tokens)
    check.whole(seq_len=seq_len)
    attention = _ATTENTION_FLOPS * shape.n_layers * shape.attention_width * seq_len
    return check.positive_result(compute=(TRAIN_FLOPS_PER_PARAM * shape.matmul_params + attention) * n_tokens)
