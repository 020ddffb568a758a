"""The choices of a layout, and the rules that hold for every model."""

from dataclasses import dataclass

from lib import check

RECOMPUTE = ("none", "selective", "full")
ZERO_STAGES = (0, 1, 2, 3)


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How one model copy is cut, and how many copies train together.

    The defaults are one GPU that keeps everything. `dataclasses.replace` makes a changed copy.

    Args:
        data: data-parallel degree, copies of the model, a whole number of at least 1, as are all degrees.
        tensor: tensor-parallel degree: each matrix in so many parts.
        pipeline: pipeline-parallel degree: the layers in so many consecutive stages.
        context: context-parallel degree: each sequence in so many parts.
        expert: expert-parallel degree: the experts in so many groups, spread over the data and context ranks.
        zero_stage: 0 nothing is sharded over data x context; 1 the optimizer states are; 2 gradients too; 3 weights
            too (FSDP).
        sequence_parallel: with tensor parallelism, split norms and residual stream along the sequence as well; None
            leaves it to the profile.
        micro_batch: sequences that one GPU takes at a time.
        seq_len: tokens of one sequence.
        micro_batches: micro-batches of one step on each data rank (gradient accumulation).
        interleave: pieces of the model on each pipeline stage; 1 is plain 1F1B.
        layers_per_stage: layers of each piece in order, pipeline * interleave of them; None as even as can be, the
            remainder one each to the pieces behind the first, which has the embedding already.
        recompute: "none" keeps all activations; "selective" drops what is cheap to redo, by the profile's policy;
            "full" keeps the input of each layer.
        recompute_layers: with "full", only the first so many layers of each piece; None all of them.
        reshard_after_forward: with zero_stage 3, free gathered weights between forward and backward; None is yes,
            except under pipeline parallelism.

    Raises:
        TypeError: for what is no whole number, no switch, no name.
        ValueError: for values that contradict each other, whatever the model.

    Source: Rajbhandari et al. 2020, arXiv:1910.02054, section 5 (ZeRO stages); Shoeybi et al. 2019, arXiv:1909.08053
        (tensor); Narayanan et al. 2021, arXiv:2104.04473, section 2 (pipeline, interleaving); Korthikanti et al. 2022,
        arXiv:2205.05198, sections 4 and 5 (sequence parallelism, selective recomputation).

    >>> layout = Layout(data=32, tensor=8, pipeline=2, zero_stage=1, seq_len=8192, micro_batches=4)
    >>> layout.n_gpus, layout.global_batch, layout.global_batch_tokens
    (512, 128, 1048576)
    """

    data: int = 1
    tensor: int = 1
    pipeline: int = 1
    context: int = 1
    expert: int = 1
    zero_stage: int = 0
    sequence_parallel: bool | None = None
    micro_batch: int = 1
    seq_len: int = 2048
    micro_batches: int = 1
    interleave: int = 1
    layers_per_stage: tuple[int, ...] | None = None
    recompute: str = "none"
    recompute_layers: int | None = None
    reshard_after_forward: bool | None = None

    def __post_init__(self):
        check.integer(data=self.data, tensor=self.tensor, pipeline=self.pipeline, context=self.context)
        check.integer(expert=self.expert, micro_batch=self.micro_batch, seq_len=self.seq_len)
        check.integer(micro_batches=self.micro_batches, interleave=self.interleave)
        check.natural(zero_stage=self.zero_stage)
        check.choice(RECOMPUTE, recompute=self.recompute)
        for name in ("sequence_parallel", "reshard_after_forward"):
            if getattr(self, name) is not None:
                check.boolean(**{name: getattr(self, name)})
        if self.recompute_layers is not None:
            check.natural(recompute_layers=self.recompute_layers)
        _check_pieces(self)
        _check_schedule(self)

    @property
    def n_gpus(self):
        """GPUs of the whole job: data * tensor * pipeline * context; experts live on the data and context ranks."""
        return self.data * self.tensor * self.pipeline * self.context

    @property
    def shards(self):
        """Ranks that hold the same weights, over which ZeRO and FSDP shard: data * context."""
        return self.data * self.context

    @property
    def global_batch(self):
        """Sequences of one step: data * micro_batch * micro_batches."""
        return self.data * self.micro_batch * self.micro_batches

    @property
    def global_batch_tokens(self):
        """Tokens of one step."""
        return self.global_batch * self.seq_len

    @property
    def tokens(self):
        """Tokens of one micro-batch on one GPU, before tensor ranks split them: micro_batch * seq_len / context."""
        return self.micro_batch * self.seq_len / self.context

    @property
    def reshards(self):
        """True if gathered weights are freed after the forward pass."""
        return self.pipeline == 1 if self.reshard_after_forward is None else self.reshard_after_forward

    @property
    def text(self):
        """The layout in one line.

        >>> Layout(data=4, tensor=8, zero_stage=1, sequence_parallel=True, seq_len=8192, recompute="full").text
        'DP 4, TP 8 + SP, PP 1, CP 1, ZeRO 1, micro-batch 1 x 8,192 tokens, 1 micro-batch a step, recomputation full'
        """
        sequence = {True: " + SP", False: " without SP", None: ""}[self.sequence_parallel]
        expert = f", EP {self.expert}" if self.expert > 1 else ""
        interleave = f" x {self.interleave} pieces" if self.interleave > 1 else ""
        first = "" if self.recompute_layers is None else f" (first {self.recompute_layers} layers of a piece)"
        batches = "1 micro-batch" if self.micro_batches == 1 else f"{self.micro_batches} micro-batches"
        return (
            f"DP {self.data}, TP {self.tensor}{sequence if self.tensor > 1 else ''}, PP {self.pipeline}{interleave}, "
            f"CP {self.context}{expert}, ZeRO {self.zero_stage}, micro-batch {self.micro_batch} x {self.seq_len:,} "
            f"tokens, {batches} a step, recomputation {self.recompute}{first}"
        )


def _check_pieces(layout):
    pieces = layout.layers_per_stage
    if pieces is None:
        return
    if not isinstance(pieces, tuple | list):
        raise TypeError(f"layers_per_stage = {check.short(pieces)} ({type(pieces).__name__}): a list of whole numbers")
    for place, n_layers in enumerate(pieces):
        check.integer(**{f"layers_per_stage[{place}]": n_layers})
    object.__setattr__(layout, "layers_per_stage", tuple(pieces))
    wanted = layout.pipeline * layout.interleave
    if len(pieces) != wanted:
        raise ValueError(
            f"layers_per_stage = {check.short(pieces)}: {wanted} numbers, one for each of "
            f"{layout.pipeline} stages x {layout.interleave} pieces"
        )


def _check_schedule(layout):
    if layout.zero_stage not in ZERO_STAGES:
        raise ValueError(f"zero_stage = {layout.zero_stage}: 0, 1, 2 or 3")
    if layout.interleave > 1 and layout.pipeline == 1:
        raise ValueError(f"interleave = {layout.interleave}: 1 without pipeline stages; or a pipeline of 2 or more")
    if layout.interleave > 1 and layout.micro_batches % layout.pipeline:
        down = layout.micro_batches // layout.pipeline * layout.pipeline
        near = " or ".join(str(n) for n in (down, down + layout.pipeline) if n)
        raise ValueError(
            f"micro_batches = {layout.micro_batches}: a multiple of pipeline = {layout.pipeline} when interleaved; "
            f"nearest {near}"
        )
    if layout.zero_stage == 3 and layout.pipeline > 1 and layout.reshard_after_forward:
        raise ValueError(
            f"reshard_after_forward = True: False with zero_stage = 3 and pipeline = {layout.pipeline}, whose "
            f"schedule would gather every weight again for each micro-batch; or zero_stage 1"
        )
    if layout.recompute_layers is not None and layout.recompute != "full":
        raise ValueError(f"recompute_layers = {layout.recompute_layers}: None unless recompute is 'full'")
