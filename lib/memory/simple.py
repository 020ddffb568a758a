"""The seed's simpler model of memory: 16 bytes a parameter under ZeRO, and the inputs of all layers.

It spreads everything over tensor x pipeline, leaves out logits, buffers, temporaries and whatever the driver holds, and
asks for no heaviest stage. Fine for a first look, too small for a real plan.
"""

from lib.memory import plain
from lib.memory.terms import Product

BYTES = (("weights", 2.0, 0), ("gradients", 2.0, 1), ("master weights", 4.0, 2), ("moments, matrices", 8.0, 2))


def products(shape, layout):
    """Terms of one average GPU.

    Args:
        shape: a `Transformer`.
        layout: a `Layout`, or its fields as arrays.

    Returns:
        An iterator of `terms.Product`.
    """
    shards = plain.shard_counts(layout.zero_stage, layout.data * layout.context)
    split = (("tensor", layout.tensor), ("pipeline", layout.pipeline))
    for name, each, kind in BYTES:
        yield Product(name, (("parameters", shape.n_params), ("bytes", each)), (*split, ("ranks", shards[kind])))
    tokens = 1.0 * layout.micro_batch * layout.seq_len / layout.context
    times = (("layers", shape.n_layers), ("tokens", tokens), ("bytes a token", 2.0 * shape.d_model))
    yield Product("layer input", times, split)
