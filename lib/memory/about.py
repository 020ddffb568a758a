"""What stays the same for a term wherever it appears: its group, what it grows and shrinks with, its source."""

from types import MappingProxyType
from typing import NamedTuple

GROUPS = (
    "weights",
    "gradients",
    "optimizer states",
    "activations",
    "recomputation",
    "logits and loss",
    "gathered weights",
    "reduction buffers",
    "temporaries",
    "workspace",
    "allocator",
    "driver",
)


class About(NamedTuple):
    """What stays the same for a term wherever it appears."""

    group: str
    grows_with: str
    shrinks_with: str
    source: str


_ZERO = "Rajbhandari et al. 2020, arXiv:1910.02054, section 3"
_KORTHIKANTI = "Korthikanti et al. 2022, arXiv:2205.05198, section 4"
_FLASH = "Dao et al. 2022, arXiv:2205.14135, algorithm 1"
_ENGINE = "Transformer Engine, pytorch/module/base.py and linear.py"
_FSDP = "PyTorch, torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py"
_MODEL, _SPLIT = "parameters", "tensor, pipeline, expert"
_TOKENS = "micro-batch, sequence, layers, width"
_CUT = "recomputation, a smaller micro-batch, context parallelism"
_RECOMPUTE = f"{_CUT}, tensor with sequence parallelism"
_ROWS = About("activations", _TOKENS, _RECOMPUTE, _KORTHIKANTI)
_PARTS = About("activations", _TOKENS, f"{_CUT}, tensor parallelism", _KORTHIKANTI)
_LATENT = "attention output on both sides of the exchange: Transformer Engine, pytorch/attention, QKV over all-to-all"
_TOKEN_GRADIENT = About("temporaries", "micro-batch, sequence, width", "micro-batch, context, tensor", _KORTHIKANTI)
_GATHERED = About("gathered weights", "parameters of a layer or table", "tensor; a lower ZeRO stage", _FSDP)
_BUFFER = About("reduction buffers", "parameters of a layer or table", "tensor, narrower reduction", _FSDP)
_BLOCKS = About(
    "allocator", "what the stream took at most", "expandable segments", "PyTorch, c10/cuda/CUDACachingAllocator.cpp"
)
_PIPELINE = About(
    "activations",
    "micro-batches of a step, their size, width",
    "fewer or smaller micro-batches",
    "PyTorch of 2024, torch/distributed/pipelining/stage.py: output_chunks, args_recv_info, grad_recv_info",
)
_LOGITS = About(
    group="logits and loss",
    grows_with="micro-batch, sequence, vocabulary",
    shrinks_with="tensor, context, a fused or chunked loss",
    source="lib.memory.loss names the code of each loss",
)


def _each(about, *names):
    return dict.fromkeys(names, about)


def _states(name, group, stage):
    about = About(group, _MODEL, f"{_SPLIT} parallelism; ZeRO {stage} over data x context", _ZERO)
    return _each(about, name, f"{name}, experts")


_ROW_NAMES = tuple(
    f"{name} norm, {part}" for name in ("attention", "MLP", "final") for part in ("input", "output", "statistics")
)
ABOUT = MappingProxyType(
    {
        **_states("weights", "weights", 3),
        "low-precision copies": About("weights", _MODEL, _SPLIT, _ENGINE),
        **_states("gradients", "gradients", 2),
        **_states("master weights", "optimizer states", 1),
        **_each(_states("moments", "optimizer states", 1)["moments"], "moments, matrices", "moments, tables and norms"),
        "moments, experts": _states("moments", "optimizer states", 1)["moments"],
        "optimizer step": About(
            "temporaries", _MODEL, f"{_SPLIT}; a fused step", "PyTorch, torch/optim: foreach, fused"
        ),
        **_each(
            _ROWS, "layer input", *_ROW_NAMES, "dropout masks", "norms of outputs", "latent vectors and their norms"
        ),
        **_each(_ROWS, "router scores", "tokens sent to experts", "expert outputs", "MLP output", "reduced outputs"),
        **_each(_PARTS, "queries", "keys", "values", "attention output", "query and key norms"),
        **_each(
            _PARTS, "queries in the packed projection", "attention output, transposed", "attention output, as read"
        ),
        "attention output, exchanged": About("activations", _TOKENS, _RECOMPUTE, _LATENT),
        **_each(_ROWS, "token ids and labels", "positions", "embedding dropout mask"),
        "cast weights": About("activations", _MODEL, _SPLIT, "PyTorch autocast, weight cache"),
        "scalars of the loss": About("logits and loss", "nothing", "nothing", "PyTorch, nll_loss: total weight"),
        "softmax statistics": About("activations", "micro-batch, sequence, heads, layers", _RECOMPUTE, _FLASH),
        "attention scores": About(
            "activations",
            "micro-batch, sequence squared, heads, layers",
            "flash attention, recomputation",
            _KORTHIKANTI,
        ),
        **{
            f"{name} {part}": _PARTS
            for name in ("MLP", "expert", "shared expert")
            for part in ("inner width", "gate", "up", "activation")
        },
        **_each(_LOGITS, "logits", "logits of further tokens"),
        "head's input, gathered": _TOKEN_GRADIENT,
        **_each(_TOKEN_GRADIENT, "gradient of the layer's output", "gradient of the inner width"),
        **_each(_TOKEN_GRADIENT, "gradient of the head's input", "attention temporaries", "gathered sequence"),
        **_each(
            About("temporaries", "vocabulary, width", "tensor", "the gradient of a table is as large as the table"),
            *("gradient of the head", "gradient of the tables"),
        ),
        "gradient of a matrix": About(
            "temporaries", "width of the MLP", "tensor; fusion into the main gradient", _ENGINE
        ),
        "gradient placeholders": About("temporaries", "width of a layer", "tensor", f"{_ENGINE}: get_dummy_wgrad"),
        "scratch of matrix products": About("workspace", "nothing", "nothing", f"{_ENGINE}: get_workspace; cuBLAS"),
        **_each(
            _TOKEN_GRADIENT._replace(source="Megatron-LM, core/transformer/moe/moe_layer.py, custom_forward"),
            *("experts' outputs in order", "tokens on their way", "sums of experts' outputs"),
        ),
        "scratch of experts' products": About(
            "workspace", "nothing", "nothing", f"{_ENGINE}: get_multi_stream_cublas_workspace, four streams"
        ),
        **_each(_PIPELINE, "received inputs", "received gradients", "outputs of pieces"),
        "logits of micro-batches": _PIPELINE._replace(group="logits and loss"),
        **_each(_GATHERED, "gathered weights", "gathered tables", "gathered layers"),
        **_each(_BUFFER, "reduction buffer", "unreduced gradients"),
        "reduction bucket": About(
            "reduction buffers", "the bucket's size", "a smaller bucket", "DeepSpeed, runtime/zero/config.py"
        ),
        "gradients end to end": _BLOCKS._replace(
            grows_with=_MODEL, source="DeepSpeed, runtime/zero/stage_1_and_2.py and fp16/fused_optimizer.py: step"
        ),
        **_each(_BLOCKS, "all-gather stream", "reduce-scatter stream", "blocks of the loss"),
        **_each(_BLOCKS, "blocks of a layer's forward", "blocks of gathered sequences", "fragmentation"),
        "driver's context": About("driver", "nothing", "nothing", "pytorch/pytorch issue 107667"),
        "kernels": About("driver", "nothing", "CUDA 11.7 and later", "the profile names it"),
        "communicators": About("driver", "kinds of groups", "fewer kinds of parallelism", "NVIDIA/nccl issue 964"),
    }
)


_AGAIN = {
    f"{name}, recomputed": known._replace(group="recomputation", shrinks_with="no recomputation")
    for name, known in ABOUT.items()
    if known.group == "activations"
}
_ALL = {**ABOUT, **_AGAIN}


def is_known(name):
    """True for the name of a term."""
    return isinstance(name, str) and name in _ALL


def about(name):
    """What is known of a term; a recomputed tensor is one of recomputation."""
    return _ALL[name]
