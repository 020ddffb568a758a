"""Shape search: which layers, width and MLP give a model of the size that a budget asks for?

At equal size the loss hardly depends on the shape: 4,288 wide with 6 layers came within 3% of 1,600 wide with 48
(Kaplan et al. 2020, arXiv:2001.08361, section 3.1 and figure 5). So a shape is chosen for the hardware: heads that a
tensor-parallel group can share out, widths that fill its tiles. The search tries every width and depth that the
constraints allow and ranks what comes near enough by

1. distance to the target, in steps of a quarter of a percent: no law knows the best size to 1%, less decides nothing;
2. width over depth inside 100 to 140, or nearest to it: there lie GPT-3 13B and 175B (128), Chinchilla (102), Llama 2
   and 3 (102 to 130), Mistral 7B and OLMo 2 7B (128). Much deeper models take more steps in sequence for each token;
   much wider ones give up depth that still pays (Levine et al. 2020, arXiv:2006.12467, section 5);
3. layers that 8, 4 or 2 pipeline stages share evenly;
4. the exact distance.

Widths over depth from 50 to 280 are tried: from half of that band to its double.
"""

import bisect
import heapq
import math
from dataclasses import dataclass
from functools import lru_cache

from lib import check
from lib.architecture import Transformer
from lib.units import show_count, show_number

PREFERRED = (100.0, 140.0)  # width over depth
TRIED = (PREFERRED[0] / 2, PREFERRED[1] * 2)
DISTANCE_STEP = 0.0025  # a fraction of the target
MOST_STAGES = 8
D_FF_BAND = 0.1  # either way of the usual inner width
LARGEST_SIZE = 1e9
LARGEST_D_FF_RATIO = 100.0
LARGEST_TARGET = 1e13  # parameters; far above it the search would take seconds
_WIDEST = 200_000  # wider than any shape tried for LARGEST_TARGET
COUNTS = {
    "total": "n_params",
    "without_input_table": "non_embedding_params",
    "without_tables": "non_vocabulary_params",
}


@dataclass(frozen=True, kw_only=True)
class Constraints:
    """What a shape must obey. The defaults suit a Llama-like model on nodes of eight GPUs.

    Args:
        vocab_size: rows of the table as stored, a multiple of `tensor`.
        tied: True if the output head is the input table.
        gated: True for an MLP of three matrices, False for two.
        head_dim: numbers a head, a multiple of 8 (what fused attention kernels take).
        n_kv_heads: key and value heads, a multiple of `tensor`; None: n_heads / query_group.
        query_group: query heads that share a key and value head where n_kv_heads is None; 1 is plain attention.
        width_multiple: d_model is a multiple of it, and of head_dim: n_heads is d_model / head_dim.
        d_ff_multiple: d_ff is a multiple of it.
        d_ff_ratio: d_ff / d_model to stay near, > 0, up to 100; None: 8/3 gated, 4 plain. Llama 3 8B has 3.5.
        layer_multiple: n_layers is a multiple of it; the number of pipeline stages, say.
        tensor: tensor-parallel degree; it divides n_heads, n_kv_heads, d_ff and vocab_size.
        counts: what the target counts: "total"; "without_input_table", tied or not; "without_tables", input table
            and output head both left out, as Kaplan's laws count.
        tolerance: how far from the target a shape may be, a fraction above 0.

    Raises:
        TypeError: for a wrong kind of value.
        ValueError: for a value out of range, or constraints that no shape can meet.

    Source: tensor-parallel divisibility: Shoeybi et al. 2019, arXiv:1909.08053, section 3. Head dimension:
        FlashAttention 2, flash_api.cpp, "head_size should be a multiple of 8".

    >>> Constraints(vocab_size=50_257)
    Traceback (most recent call last):
    ...
    ValueError: vocab_size = 50257: a multiple of 8, the tensor-parallel degree; pad the table; nearest 50256 or 50264
    """

    vocab_size: int = 32_000
    tied: bool = False
    gated: bool = True
    head_dim: int = 128
    n_kv_heads: int | None = None
    query_group: int = 1
    width_multiple: int = 128
    d_ff_multiple: int = 256
    d_ff_ratio: float | None = None
    layer_multiple: int = 1
    tensor: int = 8
    counts: str = "total"
    tolerance: float = 0.01

    def __post_init__(self):
        for name in ("vocab_size", "head_dim", "query_group", "width_multiple", "d_ff_multiple", "layer_multiple"):
            _refuse_size(**{name: getattr(self, name)})
        _refuse_size(tensor=self.tensor)
        check.boolean(tied=self.tied, gated=self.gated)
        check.choice(tuple(COUNTS), counts=self.counts)
        check.scalar(tolerance=self.tolerance)
        check.fraction(tolerance=self.tolerance)
        if self.d_ff_ratio is not None:
            check.scalar(d_ff_ratio=self.d_ff_ratio)
            check.positive(d_ff_ratio=self.d_ff_ratio)
            _refuse_above(LARGEST_D_FF_RATIO, d_ff_ratio=self.d_ff_ratio)
        _refuse_indivisible(8, "which fused attention kernels take", head_dim=self.head_dim)
        _refuse_indivisible(self.tensor, "the tensor-parallel degree; pad the table", vocab_size=self.vocab_size)
        if self.n_kv_heads is not None:
            _refuse_size(n_kv_heads=self.n_kv_heads)
            _refuse_indivisible(self.tensor, "the tensor-parallel degree", n_kv_heads=self.n_kv_heads)
            if self.query_group != 1:
                raise ValueError(
                    f"query_group = {self.query_group}: 1 where n_kv_heads is given, from which it follows"
                )

    @property
    def width_step(self):
        """The width that all allowed widths are multiples of: whole query and key heads for every rank.

        >>> Constraints(head_dim=128, tensor=8).width_step
        1024
        """
        heads = self.tensor * self.query_group if self.n_kv_heads is None else self.n_kv_heads
        return math.lcm(self.width_multiple, self.head_dim * heads)

    def d_ffs(self, d_model):
        """The inner widths that are tried: within a tenth of d_ff_ratio times d_model.

        The usual ratios, 8/3 and 4, both put 8 d_model^2 weights in a layer's MLP. Source: Shazeer 2020,
        arXiv:2002.05202, section 3.

        >>> list(Constraints().d_ffs(2048))
        [5120, 5376, 5632, 5888]
        """
        check.integer(d_model=d_model)
        usual = d_model * (self.d_ff_ratio or (8 / 3 if self.gated else 4.0))
        step = math.lcm(self.d_ff_multiple, self.tensor)
        return _multiples(usual * (1 - D_FF_BAND), usual * (1 + D_FF_BAND), step)


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A shape that a search found, with how near it comes."""

    shape: Transformer
    target_params: float
    constraints: Constraints

    def __post_init__(self):
        check.instance(Transformer, shape=self.shape)
        check.instance(Constraints, constraints=self.constraints)
        _refuse_target(self.target_params)

    @property
    def counted_params(self):
        """The parameters of the shape, counted as the target is."""
        return getattr(self.shape, COUNTS[self.constraints.counts])

    @property
    def distance(self):
        """Signed, a fraction: 0.002 means 0.2% above the target."""
        return check.result(distance=self.counted_params / self.target_params - 1)

    @property
    def beside(self):
        """The distance in words; how many times the target, where it is more than double.

        >>> search(13.46e9)[0].beside, search(1e6)[0].beside
        ('+0.21% from 13.46B', '113.8 times 1M')
        """
        target = show_count(self.target_params)
        if self.distance >= 1:
            return f"{show_number(1 + self.distance)} times {target}"
        return f"{round(self.distance, 4) + 0.0:+.2%} from {target}"

    @property
    def within(self):
        """True if the shape is within the tolerance."""
        return abs(self.distance) <= self.constraints.tolerance


def search(target_params, constraints=None, n_best=5):
    """The best shapes for a number of parameters, best first.

    One shape for each pair of width and depth: the one whose d_ff brings it nearest to the target. Where none is
    within the tolerance, the nearest ones come back all the same, each with `within` False: that is an answer too.

    Args:
        target_params: how many parameters, counted as the constraints say, > 0, up to 1e13.
        constraints: a `Constraints`; None means its defaults.
        n_best: how many shapes at most, a whole number of at least 1.

    Returns:
        A tuple of one to n_best `Candidate`.

    Raises:
        TypeError: for a wrong kind of value.
        ValueError: for a target that is not positive and finite, or above 1e13.

    Source: the ranking and its sources stand at the head of this module.

    >>> for found in search(13.46e9, n_best=3):
    ...     print(found.shape.text, f"{found.distance:+.2%}")
    40 layers x 5,120, 40 heads of 128, d_ff 14,592, vocabulary 32,000 +0.21%
    42 layers x 5,120, 40 heads of 128, d_ff 13,568, vocabulary 32,000 +0.19%
    43 layers x 5,120, 40 heads of 128, d_ff 13,056, vocabulary 32,000 +0.00%
    """
    constraints = Constraints() if constraints is None else constraints
    check.instance(Constraints, constraints=constraints)
    check.integer(n_best=n_best)
    _refuse_target(target_params)
    widths = _widths(target_params, constraints)
    found = [shape for width in widths for shape in _of_width(width, target_params, constraints)]
    near = [shape for shape in found if abs(shape[-1] / target_params - 1) <= constraints.tolerance]
    best = heapq.nsmallest(n_best, near, key=lambda shape: _rank(shape, target_params))
    if not best:
        best = heapq.nsmallest(n_best, found, key=lambda shape: abs(shape[-1] - target_params))
    return tuple(
        Candidate(shape=_build(*shape[:3], constraints), target_params=float(target_params), constraints=constraints)
        for shape in best
    )


def _refuse_target(target_params):
    check.scalar(target_params=target_params)
    check.positive(target_params=target_params)
    _refuse_above(LARGEST_TARGET, target_params=target_params)


def _refuse_size(**size):
    check.integer(**size)
    _refuse_above(LARGEST_SIZE, **size)


def _refuse_above(most, **value):
    for name, number in value.items():
        if number > most:
            raise ValueError(f"{name} = {number:g}: at most {most:g}")


def _refuse_indivisible(step, why, **size):
    for name, number in size.items():
        if number % step:
            near = " or ".join(str(n) for n in (number // step * step, -(-number // step) * step) if n)
            raise ValueError(f"{name} = {number}: a multiple of {step}, {why}; nearest {near}")


def _rank(shape, target_params):
    n_layers, d_model, _, counted = shape
    distance = abs(counted / target_params - 1)
    aspect = d_model / n_layers
    outside = max(PREFERRED[0] - aspect, aspect - PREFERRED[1], 0.0)
    return distance // DISTANCE_STEP, outside, -math.gcd(n_layers, MOST_STAGES), distance, d_model


def _build(n_layers, d_model, d_ff, constraints):
    n_heads = d_model // constraints.head_dim
    n_kv_heads = constraints.n_kv_heads or n_heads // constraints.query_group
    kept = {name: getattr(constraints, name) for name in ("head_dim", "vocab_size", "gated", "tied")}
    return Transformer(n_layers=n_layers, d_model=d_model, d_ff=d_ff, n_heads=n_heads, n_kv_heads=n_kv_heads, **kept)


@dataclass(frozen=True, kw_only=True)
class _Width:
    """What is tried at one width. The count is linear in the layers, and a layer's is linear in d_ff."""

    d_model: int
    depths: range
    d_ffs: range
    outside: int  # parameters outside the layers
    bare_layer: int  # of one layer without its MLP
    per_d_ff: int

    def layer(self, d_ff):
        return self.bare_layer + self.per_d_ff * d_ff

    @property
    def smallest(self):
        return self.outside + self.depths[0] * self.layer(self.d_ffs[0])

    @property
    def largest(self):
        return self.outside + self.depths[-1] * self.layer(self.d_ffs[-1])


@lru_cache(maxsize=4096)  # whatever the target, a search begins with the same widths
def _width(d_model, constraints):
    d_ffs = constraints.d_ffs(d_model)
    first, double = (_build(1, d_model, d_ff, constraints) for d_ff in (d_ffs[0], 2 * d_ffs[0]))
    per_d_ff = (double.layer_params - first.layer_params) // d_ffs[0]
    return _Width(
        d_model=d_model,
        depths=_multiples(d_model / TRIED[1], d_model / TRIED[0], constraints.layer_multiple),
        d_ffs=d_ffs,
        outside=getattr(first, COUNTS[constraints.counts]) - first.layer_params,
        bare_layer=first.layer_params - per_d_ff * d_ffs[0],
        per_d_ff=per_d_ff,
    )


def _widths(target_params, constraints):
    """The widths that may come within the tolerance, and the next one at either end for want of any."""
    step = constraints.width_step
    steps = range(1, 2 + _WIDEST // step)
    low, high = (target_params * (1 + sign * constraints.tolerance) for sign in (-1, 1))
    first = bisect.bisect_left(steps, low, key=lambda n: _width(n * step, constraints).largest)
    last = bisect.bisect_right(steps, high, key=lambda n: _width(n * step, constraints).smallest)
    return [_width(n * step, constraints) for n in steps[max(first - 1, 0) : last + 1]]


def _of_width(width, target_params, constraints):
    """(n_layers, d_model, d_ff, count) for each depth that may come within the tolerance, or for the nearest."""
    low, high, step = width.d_ffs[0], width.d_ffs[-1], width.d_ffs.step
    for n_layers in _depths(width, target_params, constraints.tolerance):
        wanted = ((target_params - width.outside) / n_layers - width.bare_layer) / width.per_d_ff
        d_ff = min(max(round(wanted / step) * step, low), high)
        yield n_layers, width.d_model, d_ff, width.outside + n_layers * width.layer(d_ff)


def _depths(width, target_params, tolerance):
    few = (target_params * (1 - tolerance) - width.outside) / width.layer(width.d_ffs[-1])
    many = (target_params * (1 + tolerance) - width.outside) / width.layer(width.d_ffs[0])
    first, step, end = width.depths[0], width.depths.step, len(width.depths) - 1
    at_least, at_most = math.floor((few - first) / step), math.ceil((many - first) / step)
    return width.depths[min(max(at_least, 0), end) : min(max(at_most, 0), end) + 1]


def _multiples(low, high, step):
    """The multiples of a step from low to high; where there is none, the one nearest to their middle."""
    first, last = max(1, math.ceil(low / step)), math.floor(high / step)
    if first > last:
        first = last = max(1, round((low + high) / 2 / step))
    return range(first * step, last * step + 1, step)
