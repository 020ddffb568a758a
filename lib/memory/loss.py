"""The head and the loss: how many bytes each logit needs while the loss is computed and undone.

Logits are the widest tensor of training, one number for each token and word. What the loss saves is rarely its peak.
"""

from dataclasses import dataclass
from types import MappingProxyType

from lib import check
from lib.memory import plain


@dataclass(frozen=True, kw_only=True)
class Loss:
    """How one implementation of cross-entropy treats logits; bytes for each logit on the rank.

    Args:
        name: what it is called.
        saved: kept from forward to backward.
        forward: at the worst moment of the forward pass.
        backward: at the worst moment of the loss's own backward pass.
        gradient: of the logits' gradient that the head's backward reads.
        divisor: kept besides, once: the loss's own scalars, bytes.
        cached: most that PyTorch's allocator holds for it, blocks that are free but fit nothing else included.
        copies: what these bytes are, in words.
        source: the code.
    """

    name: str
    saved: float
    forward: float
    backward: float
    gradient: float
    divisor: float = 0.0
    cached: float
    copies: str
    source: str

    def __post_init__(self):
        check.fields(self, text="name copies source")
        check.fields(self, non_negative="saved forward backward gradient divisor cached")


LOSSES = MappingProxyType(
    {
        loss.name: loss
        for loss in (
            Loss(
                name="torch, fp32",
                saved=4.0,
                forward=10.0,
                backward=12.0,
                gradient=2.0,
                divisor=4.0,
                cached=14.0,
                copies="forward bf16 + fp32 + log-softmax; backward log-softmax, its gradient and that of the logits",
                source="torch.nn.functional.cross_entropy(logits.float()), logits freed before backward (torchtitan)",
            ),
            Loss(
                name="torch, fp32, logits held",
                saved=6.0,
                forward=10.0,
                backward=14.0,
                gradient=4.0,
                divisor=4.0,
                cached=14.0,
                copies="as 'torch, fp32', with the bf16 logits held by the model's output",
                source="transformers, ForCausalLMLoss and CausalLMOutput.logits",
            ),
            Loss(
                name="torch, bf16",
                saved=2.0,
                forward=4.0,
                backward=6.0,
                gradient=2.0,
                divisor=2.0,
                cached=6.0,
                copies="logits and log-softmax in bf16; backward log-softmax and two gradients",
                source="torch.nn.functional.cross_entropy on bf16 logits",
            ),
            Loss(
                name="torch, parallel",
                saved=4.0,
                forward=14.0,
                backward=16.0,
                gradient=2.0,
                cached=18.0,
                copies="forward bf16, fp32, shifted, exponentials; backward log-softmax, gradient, exponentials, sum",
                source="torch/distributed/tensor/parallel/loss.py: _log_softmax, _nll_loss_and_log_softmax_backward",
            ),
            Loss(
                name="megatron",
                saved=4.0,
                forward=6.0,
                backward=6.0,
                gradient=2.0,
                cached=6.0,
                copies="bf16 logits and one fp32 copy, worked on in place; backward softmax and the bf16 gradient",
                source="Megatron-LM, core/tensor_parallel/cross_entropy.py",
            ),
            Loss(
                name="megatron, compiled",
                saved=4.0,
                forward=10.0,
                backward=10.0,
                gradient=2.0,
                cached=10.0,
                copies="as 'megatron', and one fp32 copy more that torch.compile makes",
                source="Megatron-LM, core/fusions/fused_cross_entropy.py, before in-place steps were compiled apart",
            ),
            Loss(
                name="transformer engine",
                saved=2.0,
                forward=2.0,
                backward=2.0,
                gradient=2.0,
                cached=2.0,
                copies="the gradient is written over the bf16 logits",
                source="Transformer Engine, pytorch/cross_entropy.py, triton/cross_entropy.py",
            ),
            Loss(
                name="none",
                saved=0.0,
                forward=0.0,
                backward=0.0,
                gradient=0.0,
                cached=0.0,
                copies="left out",
                source="simple models of memory leave head and loss out",
            ),
        )
    }
)


def logit_bytes(tokens, vocab_size, bytes_each, tensor=1.0, chunks=1.0):
    """Bytes of copies of the logits on one rank: tokens * vocab_size * bytes_each / tensor / chunks.

    Args:
        tokens: tokens of a micro-batch on the rank, > 0; float or array, as are all.
        vocab_size: rows of the head, padding included, > 0.
        bytes_each: bytes of all copies of one logit, >= 0: 4 for one fp32 copy.
        tensor: ranks over which the vocabulary is split, >= 1.
        chunks: parts in which the loss goes through the tokens, >= 1.

    Returns:
        Bytes.

    Raises:
        TypeError, ValueError: for what is no number in range.

    Source: Shoeybi et al. 2019, arXiv:1909.08053, section 3 (vocabulary-parallel loss).

    >>> round(logit_bytes(32_768, 151_936, 4) / 2**30, 2)
    18.55
    """
    check.positive(tokens=tokens, vocab_size=vocab_size)
    check.non_negative(bytes_each=bytes_each)
    check.whole(tensor=tensor, chunks=chunks)
    return check.result(bytes=tokens * vocab_size * bytes_each / tensor / chunks)


def padded_vocabulary(vocab_size, multiple, tensor=1.0):
    """Rows of the table as trained: the next multiple of multiple * tensor.

    Args:
        vocab_size: words of the tokenizer, >= 1; float or array, as are all.
        multiple: rows of one rank are a multiple of it, >= 1 (Megatron: 128).
        tensor: ranks that share the table, >= 1.

    Returns:
        A whole number, as a float.

    Raises:
        TypeError, ValueError: for what is no whole number of at least 1.

    Source: Megatron-LM, training/tokenizer: _vocab_size_with_padding, make_vocab_size_divisible_by 128.

    >>> padded_vocabulary(128_256, 128, 4), padded_vocabulary(131_073, 128, 4)
    (128512.0, 131584.0)
    """
    check.whole(vocab_size=vocab_size, multiple=multiple, tensor=tensor)
    return check.result(rows=plain.padded_rows(vocab_size, multiple, tensor))
