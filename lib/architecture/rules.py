"""What a `Transformer` refuses, and the values that it fills in; called by its constructor only."""

from lib import check
from lib.architecture.parts import LatentAttention, MixtureOfExperts


def fill(shape, **usual):
    """Put the usual value in each of these fields that is None."""
    for name, value in usual.items():
        if getattr(shape, name) is None:
            object.__setattr__(shape, name, value)


def usual_head_dim(shape):
    """What head_dim is where nobody says it."""
    if shape.latent:
        return shape.latent.head_dim
    if shape.head_dim is not None or shape.d_model % shape.n_heads == 0:
        return shape.d_model // shape.n_heads
    below = shape.d_model // shape.n_heads * shape.n_heads
    nearest = " or ".join(str(d) for d in (below, below + shape.n_heads) if d)
    raise ValueError(
        f"head_dim = None: d_model / n_heads = {shape.d_model} / {shape.n_heads} is no whole number; "
        f"give head_dim, or a d_model of {nearest}, or {check.nearest_divisors(shape.d_model, shape.n_heads)} heads"
    )


def refuse_parts(shape):
    """Refuse what is no part, and experts that no layer has."""
    if shape.moe is not None:
        check.instance(MixtureOfExperts, moe=shape.moe)
        if not shape.n_moe_layers:
            raise ValueError(f"moe = {check.short(shape.moe)}: experts in one of the {shape.n_layers} layers at least")
    if shape.latent is not None:
        check.instance(LatentAttention, latent=shape.latent)


def refuse_heads(shape):
    """Refuse heads that cannot share keys."""
    if shape.latent and (shape.n_kv_heads, shape.head_dim) != (shape.n_heads, shape.latent.head_dim):
        raise ValueError(
            f"n_kv_heads, head_dim = {shape.n_kv_heads}, {shape.head_dim}: with latent attention "
            f"{shape.n_heads}, {shape.latent.head_dim}; leave both out"
        )
    if shape.latent and shape.qk_norm != "none":
        raise ValueError(f"qk_norm = {shape.qk_norm!r}: none with latent attention, which norms its latent vectors")
    if shape.n_heads % shape.n_kv_heads:
        raise ValueError(
            f"n_kv_heads = {shape.n_kv_heads}: a divisor of n_heads = {shape.n_heads}, so that every key head "
            f"serves as many query heads; nearest {check.nearest_divisors(shape.n_heads, shape.n_kv_heads)}"
        )


def refuse_windows(windows):
    """Refuse what does not say how far back each layer looks."""
    if not isinstance(windows, tuple) or not windows:
        raise TypeError(
            f"windows = {check.short(windows)} ({type(windows).__name__}): a tuple of whole numbers and None, one at "
            "least"
        )
    for i, window in enumerate(windows):
        if window is not None:
            check.integer(**{f"windows[{i}]": window})


def refuse_layer(shape, layer):
    """Refuse a number that no layer of the shape has."""
    check.natural(layer=layer)
    if layer >= shape.n_layers:
        raise ValueError(f"layer = {layer}: from 0 to {shape.n_layers - 1}")
