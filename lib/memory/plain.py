"""Formulas behind the doors: for numbers that were checked before, or arrays. Public ones check, then call these."""

from lib import elementwise

_PLAIN = (int, float)


def larger(a, b):
    """The larger of two."""
    return max(a, b) if isinstance(a, _PLAIN) and isinstance(b, _PLAIN) else elementwise.maximum(1.0 * a, 1.0 * b)


def smaller(a, b):
    """The smaller of two."""
    return min(a, b) if isinstance(a, _PLAIN) and isinstance(b, _PLAIN) else elementwise.minimum(1.0 * a, 1.0 * b)


def padded_rows(vocab_size, multiple, tensor):
    """The next multiple of multiple * tensor."""
    rows = multiple * tensor
    return (vocab_size + rows - 1) // rows * rows


def shard_counts(zero_stage, shards):
    """Ranks that share weights, gradients, optimizer states."""
    return tuple(1 + (shards - 1) * (zero_stage >= least) for least in (3, 2, 1))
