"""What forward passes leave behind for their backward, and what backward computes again."""

from lib.memory import activations, plain
from lib.memory.rank import BF16, is_nothing
from lib.memory.terms import Product


def stored(r, passes):
    """Saved tensors of so many forward passes through a piece, by tensor."""
    yield from _inputs(r, passes)
    yield from layers_stored(r, passes)


def layers_stored(r, passes):
    """Saved tensors of the layers of so many forward passes through a piece."""
    split, part = r.split, r.part
    for n, with_experts, one in r.layers:
        each = n / part.pieces
        full, rest = _recomputed(r, each)
        if not is_nothing(full):
            yield from tensor_products(r, activations.checkpoint(r.shape, r.profile), passes * full)
        if not is_nothing(rest):
            kept = _kept(r, with_experts)
            yield from tensor_products(r, kept, passes * rest)
            yield from _casts(r, one, n)
            yield from _scores(r, passes * rest) if split.recompute == "none" else ()


def _inputs(r, passes):
    """What belongs to no layer: token ids and labels, the mask behind the embedding."""
    yield Product("token ids and labels", (("micro-batches", passes), ("tokens", r.tokens), ("bytes a token", 16.0)))
    if r.profile.hidden_dropout and not is_nothing(r.part.first):
        mask = r.profile.dropout_mask_bytes * r.shape.d_model
        times = (("micro-batches", passes), ("tokens", r.tokens), ("bytes a token", mask), ("first", r.part.first))
        yield Product("embedding dropout mask", times, (("tensor ranks", r.shares["rows"]),))


def _casts(r, one, layers):
    """Under autocast the cast copies of weights stay until backward has passed."""
    if r.profile.norm == "autocast":
        yield Product("cast weights", (("layers", layers), ("parameters", one.matrices + one.experts), BF16))


def _recomputed(r, layers):
    """Layers of a piece that are recomputed in full, and the others."""
    if r.split.recompute != "full":
        return 0, layers
    if r.split.recompute_layers is None:
        return layers, 0
    full = plain.smaller(1.0 * layers, 1.0 * r.split.recompute_layers)
    return full, layers - full


def _kept(r, with_experts):
    if r.split.recompute == "selective" and r.profile.selective == "every second product":
        return activations.selective_tensors(r.shape, r.profile, with_experts)
    return activations.layer_tensors(r.shape, r.profile, with_experts)


def tensor_products(r, tensors, layers, suffix=""):
    """Saved tensors of so many layers."""
    layers, tokens = ("layers", layers), ("tokens", r.tokens)
    for tensor in tensors:
        times = (layers, tokens, ("bytes a token", tensor.bytes_a_token))
        if tensor.only_with:
            used = _used(r, tensor.only_with)
            if is_nothing(used):
                continue
            times = (*times, ("used", used))
        yield Product(tensor.name + suffix, times, (("tensor ranks", r.shares[tensor.shared]),))


def _used(r, condition):
    """1 where a tensor is there that only several ranks or sequences bring."""
    split = r.split
    degrees = {"ranks": split.tensor * r.by_rows, "sequences": split.micro_batch, "context": split.context}
    return (degrees[condition] > 1) * 1.0


def _scores(r, layers):
    each = activations.score_bytes(r.profile)
    if each:
        yield Product("attention scores", (("layers", layers), *score_factors(r), ("bytes", each)), score_ranks(r))


def score_factors(r):
    return (
        ("sequences", r.split.micro_batch),
        ("heads", r.shape.n_heads),
        ("tokens", r.split.seq_len),
        ("keys", r.split.seq_len),
    )


def score_ranks(r):
    return (("tensor", r.split.tensor), ("context", r.split.context))


def recomputed(r):
    """The layer that backward computes again, without the input that it kept."""
    if r.split.recompute == "none" or not r.layers:
        return
    _, with_experts, _ = r.layers[-1]
    missing = activations.layer_tensors(r.shape, r.profile, with_experts)
    kept = {t.name for t in _kept(r, with_experts)} if r.split.recompute == "selective" else set()
    if r.split.recompute == "selective" and r.profile.selective == "attention scores":
        yield from _scores(r, 1.0)
        return
    left = tuple(tensor for tensor in missing if tensor.name not in kept)
    if r.split.recompute == "full":  # the norm's input is the layer's
        left = tuple(tensor for tensor in left if tensor.name != "attention norm, input" or r.profile.norm == "upcast")
    yield from tensor_products(r, left, 1.0, ", recomputed")
    yield from _scores(r, 1.0)
