"""Bytes of a parameter's states: weights, gradients, master weights and moments, by precision and optimizer.

ZeRO stage 1 shards master weights and moments over the ranks that hold the same weights, stage 2 gradients too, stage 3
weights too.
"""

from dataclasses import dataclass
from types import MappingProxyType

from lib import check
from lib.memory import plain

_ZERO = "Rajbhandari et al. 2020, arXiv:1910.02054, section 3.1"


@dataclass(frozen=True, kw_only=True)
class Precision:
    """Bytes for each parameter of what the optimizer's kind does not change.

    Args:
        name: what it is called.
        weights: bytes of the weights that are kept, > 0.
        gradients: bytes of the gradients that are kept, > 0.
        master: bytes of a second, wider copy of the weights, 0 without one.
        copies: bytes of low-precision copies of matrices that are kept beside the weights (FP8 and its transpose).
        compute: bytes of the weights as products read them, which FSDP gathers.
        states: bytes of a number of those optimizers that take the parameter's type.
        numbers: bytes of an ordinary number of forward and backward.
        inputs: bytes of a number that a product reads and saves for its backward.
        source: where that is written.
    """

    name: str
    weights: float
    gradients: float
    master: float
    copies: float = 0.0
    compute: float = 2.0
    states: float = 4.0
    numbers: float = 2.0
    inputs: float = 2.0
    source: str

    def __post_init__(self):
        check.fields(
            self,
            text="name source",
            positive="weights gradients compute states numbers inputs",
            non_negative="master copies",
        )


@dataclass(frozen=True, kw_only=True)
class Optimizer:
    """Bytes of an optimizer's own states for each parameter.

    Args:
        name: what it is called.
        matrices: bytes for a weight of a two-dimensional matrix inside the layers.
        others: bytes for everything else: tables, head, norms, biases.
        follows: True if its numbers take the type of the parameters; the bytes are then those of fp32.
        source: where that is written.
    """

    name: str
    matrices: float
    others: float
    follows: bool = False
    source: str

    def __post_init__(self):
        check.fields(self, text="name source", non_negative="matrices others", boolean="follows")


def _by_name(*rows):
    return MappingProxyType({row.name: row for row in rows})


PRECISIONS = _by_name(
    Precision(name="bf16", weights=2.0, gradients=2.0, master=4.0, source=_ZERO),
    Precision(
        name="bf16, fp32 gradients",
        weights=2.0,
        gradients=4.0,
        master=4.0,
        source="Megatron-LM, docs, distributed optimizer: 18 bytes a parameter, 6 + 12/d when distributed",
    ),
    Precision(
        name="fp32, bf16 compute",
        weights=4.0,
        gradients=4.0,
        master=0.0,
        source="PyTorch FSDP2, MixedPrecisionPolicy(param_dtype=bfloat16, reduce_dtype=float32), as torchtitan sets it",
    ),
    Precision(
        name="fp32",
        weights=4.0,
        gradients=4.0,
        master=0.0,
        compute=4.0,
        numbers=4.0,
        inputs=4.0,
        source="one type for weights, products and what they save",
    ),
    Precision(
        name="pure bf16",
        weights=2.0,
        gradients=2.0,
        master=0.0,
        states=2.0,
        source="PyTorch: states of AdamW take the parameter's type, no master copy",
    ),
    Precision(
        name="fp8, fp32 gradients",
        weights=2.0,
        gradients=4.0,
        master=4.0,
        copies=2.0,
        inputs=1.0,
        source="Transformer Engine: an FP8 copy of each weight matrix and its transpose stay between micro-batches, "
        "products save their inputs in FP8 (pytorch/module/linear.py)",
    ),
)
OPTIMIZERS = _by_name(
    Optimizer(name="adamw", matrices=8.0, others=8.0, follows=True, source=_ZERO),
    Optimizer(
        name="adamw, bf16 moments", matrices=4.0, others=4.0, source="DeepSeek-AI 2024, arXiv:2412.19437, section 3.3.3"
    ),
    Optimizer(
        name="adamw, 8 bit",
        matrices=2.0 + 8 / 256,
        others=2.0 + 8 / 256,
        source="Dettmers et al. 2021, arXiv:2110.02861; bitsandbytes: two bytes and two fp32 scales for 256 weights",
    ),
    Optimizer(
        name="muon",
        matrices=4.0,
        others=8.0,
        follows=True,
        source="Jordan et al. 2024, Muon: one momentum for matrices inside the layers, AdamW for the rest",
    ),
    Optimizer(name="sgd, momentum", matrices=4.0, others=4.0, follows=True, source="PyTorch SGD, momentum buffer"),
    Optimizer(name="sgd", matrices=0.0, others=0.0, source="PyTorch SGD without momentum"),
    Optimizer(
        name="adafactor",
        matrices=0.01,
        others=0.01,
        source="Shazeer and Stern 2018, arXiv:1804.04235: rows and columns",
    ),
)


def state_bytes(n_params, bytes_each, shards=1.0):
    """Bytes of one kind of state on one rank: n_params * bytes_each / shards.

    Args:
        n_params: parameters that the rank holds before sharding, >= 0; float or array, as are all.
        bytes_each: bytes for each, >= 0.
        shards: ranks that share them, >= 1; 1 where ZeRO leaves them whole.

    Returns:
        Bytes.

    Raises:
        TypeError, ValueError: for what is no number in range.

    Source: Rajbhandari et al. 2020, arXiv:1910.02054, figure 1.

    >>> state_bytes(7.5e9, 2 + 2) / 1e9 + state_bytes(7.5e9, 12, 64) / 1e9
    31.40625
    """
    check.non_negative(n_params=n_params, bytes_each=bytes_each)
    check.whole(shards=shards)
    return check.result(bytes=n_params * bytes_each / shards)


def shard_counts(zero_stage, shards):
    """Ranks over which ZeRO splits weights, gradients and optimizer states.

    Args:
        zero_stage: 0, 1, 2 or 3; float or array.
        shards: ranks that hold the same weights, >= 1; float or array.

    Returns:
        Three numbers or arrays, for weights, gradients, optimizer states; 1 where a kind stays whole.

    Raises:
        TypeError, ValueError: for what is no whole number in range.

    Source: Rajbhandari et al. 2020, arXiv:1910.02054, section 5.

    >>> shard_counts(1, 64), shard_counts(3, 64)
    ((1.0, 1.0, 64.0), (64.0, 64.0, 64.0))
    """
    check.count(zero_stage=zero_stage)
    check.whole(shards=shards)
    return tuple(check.result(shards=found) for found in plain.shard_counts(zero_stage, shards))
