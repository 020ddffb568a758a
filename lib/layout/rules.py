"""What a model can be cut into: one rule each, for one layout with words and for arrays of layouts as masks."""

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace

from lib import check
from lib.architecture import Transformer
from lib.layout.degrees import Layout


@dataclass(frozen=True)
class Rule:
    """A condition on a model and a layout.

    Args:
        name: what must hold, in words.
        holds: function of shape and degrees, which are numbers or arrays; True where it holds.
        refusal: function of shape and layout that names the argument, its value and the nearest allowed ones.
    """

    name: str
    holds: Callable
    refusal: Callable

    def __post_init__(self):
        check.text(name=self.name)
        check.instance(Callable, holds=self.holds, refusal=self.refusal)


def check_layout(shape, layout):
    """Refuse a layout that a model cannot be cut into; the rule and the nearest allowed values are named.

    Args:
        shape: a `Transformer`.
        layout: a `Layout`.

    Raises:
        TypeError: for what is neither.
        ValueError: for the first rule of `RULES` that is broken.

    >>> from lib.architecture import model
    >>> check_layout(model("llama-3-8b"), Layout(tensor=3))
    Traceback (most recent call last):
    ...
    ValueError: tensor = 3: a divisor of n_heads = 32, so that each rank has whole heads; nearest 2 or 4
    """
    check.instance(Transformer, shape=shape)
    check.instance(Layout, layout=layout)
    for rule in RULES:
        if not rule.holds(shape, layout):
            raise ValueError(rule.refusal(shape, layout))
    if layout.layers_per_stage is not None and sum(layout.layers_per_stage) != shape.n_layers:
        raise ValueError(
            f"layers_per_stage = {check.short(layout.layers_per_stage)}: numbers that sum to n_layers = "
            f"{shape.n_layers}, not {sum(layout.layers_per_stage)}"
        )


def masks(shape, **degrees):
    """For arrays of layouts: which are refused, by rule; the same rules as `check_layout`.

    Args:
        shape: a `Transformer`.
        degrees: fields of `Layout` as float arrays of one length; a field that is left out is 1.

    Returns:
        Rule's name -> boolean array, True where the layout is refused.

    Raises:
        TypeError: for what is no `Transformer`, no float array.
        ValueError: for degrees that are no whole numbers of at least 1.

    >>> from lib.architecture import model
    >>> masks(model("llama-3-8b"), tensor=3.0)["tensor divides the query heads"]
    True
    """
    check.instance(Transformer, shape=shape)
    check.whole(**degrees)
    usual = dict.fromkeys(("data", "tensor", "pipeline", "context", "expert", "interleave", "seq_len"), 1.0)
    split = SimpleNamespace(**usual | degrees, layers_per_stage=None)
    return {rule.name: _not(rule.holds(shape, split)) for rule in RULES}


def n_experts(shape):
    """Routed experts of a layer, 0 for a dense model.

    >>> from lib.architecture import model
    >>> n_experts(model("llama-3-8b"))
    0
    """
    check.instance(Transformer, shape=shape)
    moe = shape.moe
    return moe.n_experts if moe else 0


def _not(holds):
    return ~holds if check.is_array(holds) else not holds


def _kv_heads_split(shape, split):
    """Key heads are split over the tensor ranks, or each is held by several of them."""
    return (shape.n_kv_heads % split.tensor == 0) | (split.tensor % shape.n_kv_heads == 0)


def _even_pieces(shape, split):
    """Interleaved pieces are of one length, unless they are listed."""
    if split.layers_per_stage is not None:
        return True
    return (split.interleave == 1) | (shape.n_layers % (split.pipeline * split.interleave) == 0)


def _all_experts(shape):
    """No layer has the one MLP of d_ff."""
    return shape.n_moe_layers == shape.n_layers


def _widths_of_experts(shape, split):
    return not n_experts(shape) or shape.moe.d_ff_expert % split.tensor == 0


def _divisor(argument, of, number, why):
    def words(shape, layout):
        value, whole = getattr(layout, argument), number(shape, layout)
        return (
            f"{argument} = {value}: a divisor of {of} = {whole}, {why}; nearest {check.nearest_divisors(whole, value)}"
        )

    return words


def _pieces_refused(shape, layout):
    whole = shape.n_layers // layout.pipeline
    return (
        f"pipeline = {layout.pipeline}: at most n_layers = {shape.n_layers} over interleave = {layout.interleave}, one "
        f"layer to a piece; nearest {max(1, shape.n_layers // layout.interleave)}"
        if layout.interleave == 1 or not whole
        else f"interleave = {layout.interleave}: at most {whole}, n_layers = {shape.n_layers} over pipeline = "
        f"{layout.pipeline}; nearest {whole}"
    )


def _interleave_refused(shape, layout):
    if shape.n_layers % layout.pipeline:
        near = check.nearest_divisors(shape.n_layers, layout.pipeline)
        return (
            f"interleave = {layout.interleave}: 1, or layers_per_stage, where pipeline = {layout.pipeline} does not "
            f"divide n_layers = {shape.n_layers}; a pipeline of {near} does"
        )
    each = shape.n_layers // layout.pipeline
    return (
        f"interleave = {layout.interleave}: a divisor of {each}, the layers of a stage; nearest "
        f"{check.nearest_divisors(each, layout.interleave)}; or layers_per_stage"
    )


def _expert_refused(shape, layout):
    if not n_experts(shape):
        return f"expert = {layout.expert}: 1 for a model without experts"
    return _divisor("expert", "n_experts", lambda s, _: n_experts(s), "so that each rank has whole experts")(
        shape, layout
    )


RULES = (
    Rule(
        "tensor divides the query heads",
        lambda shape, split: shape.n_heads % split.tensor == 0,
        _divisor("tensor", "n_heads", lambda s, _: s.n_heads, "so that each rank has whole heads"),
    ),
    Rule(
        "tensor divides the key heads, or is a multiple of them",
        _kv_heads_split,
        _divisor("tensor", "n_kv_heads", lambda s, _: s.n_kv_heads, "or a multiple of it"),
    ),
    Rule(
        "tensor divides the width of the MLP",
        lambda shape, split: _all_experts(shape) or shape.d_ff % split.tensor == 0,
        _divisor("tensor", "d_ff", lambda s, _: s.d_ff, "so that each rank has an equal part"),
    ),
    Rule(
        "tensor divides the width of an expert",
        _widths_of_experts,
        _divisor("tensor", "expert width", lambda s, _: s.moe.d_ff_expert, "so that each rank has an equal part"),
    ),
    Rule(
        "every piece has a layer",
        lambda shape, split: split.pipeline * split.interleave <= shape.n_layers,
        _pieces_refused,
    ),
    Rule("interleaved pieces are equal", _even_pieces, _interleave_refused),
    Rule(
        "context divides the sequence",
        lambda shape, split: split.seq_len % split.context == 0,
        _divisor("context", "seq_len", lambda _, layout: layout.seq_len, "so that each rank has an equal part"),
    ),
    Rule(
        "expert divides the experts",
        lambda shape, split: (split.expert == 1) | ((n_experts(shape) > 0) & (n_experts(shape) % split.expert == 0)),
        _expert_refused,
    ),
    Rule(
        "expert divides data x context",
        lambda shape, split: split.data * split.context % split.expert == 0,
        _divisor(
            "expert", "data * context", lambda _, layout: layout.data * layout.context, "on whose ranks experts live"
        ),
    ),
)
