"""What a framework does where a formula would leave it open: one profile each, printed above every ledger.

Each field can be changed with `dataclasses.replace`. Constants are those of one version, named in `source`; none is
fitted to a measured row.
"""

from dataclasses import dataclass, fields, replace
from types import MappingProxyType

from lib import check
from lib.memory.loss import LOSSES
from lib.memory.states import OPTIMIZERS, PRECISIONS

NORMS = ("fused", "plain", "wide", "upcast", "composite", "autocast")
ATTENTION = ("flash", "eager", "math")
MLPS = ("fused", "unfused")
SELECTIVE = ("attention scores", "every second product")
STEPS = ("fused", "foreach", "loop", "fp32 gradients")
SPARES = ("none", "kept", "freed")
EXCHANGES = ("ring", "all-to-all")
ROUTING = ("inside", "behind")
MIB, GIB = 2**20, 2**30


@dataclass(frozen=True, kw_only=True)
class Profile:
    """How one framework keeps states, activations and buffers.

    Args:
        name: what it is called, with its version.
        source: the code that was read.
        precision: a name in `states.PRECISIONS`.
        optimizer: a name in `states.OPTIMIZERS`.
        optimizer_step: what the step needs besides: "fused" nothing; "foreach" one more copy of the sharded weights;
            "loop" two copies of the largest tensor; "fp32 gradients" a wider copy of the sharded gradients.
        offload_optimizer: True if master weights and moments are in the host's memory.
        gradients_stay: True if gradients are kept from step to step in one buffer.
        sequence_parallel: what a layout with tensor parallelism uses that does not say.
        vocab_multiple: rows of the tables on one tensor rank are a multiple of it.
        norm: what a norm saves: "fused" input, output, statistic; "plain" the normalised input too; "wide" the input in
            FP32 (OLMo); "upcast" that and the normalised input (Llama in transformers); "composite" both in FP32
            (Gemma); "autocast" besides a cast for every product behind it.
        norm_statistic_bytes: bytes of each saved mean or root.
        mlp: "fused" saves the activation's input and output, "unfused" each product of the gate too.
        attention: "flash" saves one number a head and token, "eager" the scores, "math" the scores and all else in
            fp32 (PyTorch's fallback on the CPU).
        score_bytes: with eager attention, bytes of each score that are saved without dropout.
        transposes_attention: True if attention's output is saved once more, transposed, where a micro-batch has more
            than one sequence.
        context_exchange: how context ranks meet: "ring" or "all-to-all", which saves attention's output on both sides.
        packs_qkv: True if keys and values stay views of one projection where no rotary position copies them.
        hidden_dropout: rate of dropout behind attention and MLP; above 0 a mask byte each is saved.
        attention_dropout: rate of dropout on scores; above 0 an output and a mask for each score are saved, unless
            attention is "flash".
        dropout_mask_bytes: bytes of an element of a dropout mask.
        expert_load: tokens that the fullest rank's experts read over the mean: 1 if balanced, the capacity factor where
            tokens are dropped and padded, more on the worst rank without either.
        routing: where a router's weights multiply: "inside" the expert, or "behind" it, which saves its output too.
        loss: a name in `loss.LOSSES`.
        tensor_loss: a name in `loss.LOSSES` that takes its place where tensor ranks share the vocabulary; None is no
            other.
        loss_chunks: parts in which head and loss go through the tokens.
        selective: what "selective" recomputation drops: "attention scores", or all but every second product.
        compiled: True if a compiler sees a whole layer, and saves nothing that backward does not read.
        spare_gradients: what backward hands on where a weight's gradient is in the main gradient already: "kept" one
            placeholder for each shape, "freed" one at a time; "none" hands on the gradient itself.
        gathered_layers: layers whose weights are gathered at once, that in use and those fetched ahead (ZeRO 3).
        most_gathered_params: parameters that stay gathered at most; 0 for no such rule (DeepSpeed's
            stage3_max_live_parameters).
        bucket_params: parameters of one communication bucket, 0 without buckets.
        reduce_bytes: bytes of an element in gradient reduction.
        side_streams: True if gathered weights and sharded gradients live in pools of their own streams, which other
            tensors cannot use (FSDP2).
        async_tensor: True if tensor ranks gather and reduce inside their products, which hold one gathered sequence at
            a time (torchtitan's async TP).
        keeps_outputs: True if a pipeline keeps outputs and receive buffers of every micro-batch until the step is over.
        kernel_bytes: kernels that a process loads at its start, above the driver's context (before CUDA 11.7).
        workspace_bytes: scratch memory of matrix products.
        expert_workspace_bytes: the same of the experts' grouped products, a part for each of their streams.
        fragmentation: what the allocator holds over what is allocated, as a fraction of it.
        most_zero_with_pipeline: highest ZeRO stage that it takes together with pipeline parallelism.
        simple: True for the seed's model: all parameters and layer inputs over tensor x pipeline, nothing else.

    Raises:
        TypeError, ValueError: for a field of another kind, or a name that is not in its list.

    >>> from dataclasses import replace
    >>> replace(PROFILES["Megatron core 0.14"], hidden_dropout=0.1).hidden_dropout
    0.1
    """

    name: str
    source: str
    precision: str = "bf16, fp32 gradients"
    optimizer: str = "adamw"
    optimizer_step: str = "fused"
    offload_optimizer: bool = False
    gradients_stay: bool = True
    sequence_parallel: bool = True
    vocab_multiple: int = 1
    norm: str = "fused"
    norm_statistic_bytes: float = 4.0
    mlp: str = "fused"
    attention: str = "flash"
    score_bytes: float = 2.0
    transposes_attention: bool = False
    context_exchange: str = "ring"
    packs_qkv: bool = False
    hidden_dropout: float = 0.0
    attention_dropout: float = 0.0
    dropout_mask_bytes: float = 1.0
    expert_load: float = 1.0
    routing: str = "inside"
    loss: str = "torch, fp32"
    tensor_loss: str | None = None
    loss_chunks: int = 1
    selective: str = "attention scores"
    compiled: bool = False
    spare_gradients: str = "none"
    gathered_layers: int = 2
    most_gathered_params: float = 0.0
    bucket_params: float = 0.0
    reduce_bytes: float = 4.0
    side_streams: bool = False
    async_tensor: bool = False
    keeps_outputs: bool = False
    kernel_bytes: float = 0.0
    workspace_bytes: float = 0.0
    expert_workspace_bytes: float = 0.0
    fragmentation: float = 0.0
    most_zero_with_pipeline: int = 3
    simple: bool = False

    def __post_init__(self):
        check.fields(self, text="name source", integer="vocab_multiple loss_chunks gathered_layers")
        check.fields(self, boolean="offload_optimizer gradients_stay sequence_parallel packs_qkv side_streams simple")
        check.fields(self, boolean="transposes_attention compiled async_tensor keeps_outputs")
        check.fields(self, non_negative="norm_statistic_bytes score_bytes most_gathered_params bucket_params")
        check.fields(self, non_negative="dropout_mask_bytes reduce_bytes workspace_bytes fragmentation")
        check.fields(self, non_negative="expert_workspace_bytes kernel_bytes")
        check.fields(self, natural="most_zero_with_pipeline")
        check.fields(self, positive="expert_load")
        check.fields(self, share="hidden_dropout attention_dropout")
        check.choice(tuple(PRECISIONS), precision=self.precision)
        check.choice(tuple(OPTIMIZERS), optimizer=self.optimizer)
        check.choice(tuple(LOSSES), loss=self.loss)
        if self.tensor_loss is not None:
            check.choice(tuple(LOSSES), tensor_loss=self.tensor_loss)
        check.choice(STEPS, optimizer_step=self.optimizer_step)
        check.choice(NORMS, norm=self.norm)
        check.choice(MLPS, mlp=self.mlp)
        check.choice(ATTENTION, attention=self.attention)
        check.choice(SELECTIVE, selective=self.selective)
        check.choice(EXCHANGES, context_exchange=self.context_exchange)
        check.choice(ROUTING, routing=self.routing)
        check.choice(SPARES, spare_gradients=self.spare_gradients)

    @property
    def rows(self):
        """(field, value) of everything that the profile fixes, for the table above a ledger."""
        return tuple((field.name, getattr(self, field.name)) for field in fields(self))

    @property
    def text(self):
        """What it fixes that moves a ledger most, in one sentence to stand above one.

        >>> PROFILES["DeepSpeed 0.16"].text[:44]
        'DeepSpeed 0.16: bf16, adamw, gradients stay,'
        """
        if self.simple:
            return f"{self.name}: 16 bytes a parameter, the inputs of layers, and nothing else."
        stay = "gradients stay" if self.gradients_stay else "gradients are freed"
        rows = f", vocabulary padded to {self.vocab_multiple} x TP" if self.vocab_multiple > 1 else ""
        chunks = f" in {self.loss_chunks} parts" if self.loss_chunks > 1 else ""
        return (
            f"{self.name}: {self.precision}, {self.optimizer}, {stay}{rows}, {self.attention} attention, norm "
            f"{self.norm}, MLP {self.mlp}, dropout {self.hidden_dropout:g}, loss {self.loss}{chunks}."
        )


MEGATRON = Profile(
    name="Megatron core 0.14",
    source="NVIDIA/Megatron-LM, core 0.14, with sequence parallelism, distributed optimizer and the fused loss of "
    "Transformer Engine switched on: distributed/, tensor_parallel/, transformer/; Transformer Engine 2: "
    "pytorch/module/{base,linear,layernorm_linear}.py, attention/dot_product_attention/utils.py; "
    "fragmentation from five published pairs of what was reserved and allocated",
    vocab_multiple=128,
    packs_qkv=True,
    loss="transformer engine",
    spare_gradients="kept",
    workspace_bytes=64.0 * MIB,
    expert_workspace_bytes=128.0 * MIB,
    fragmentation=0.04,
    most_zero_with_pipeline=1,
)
MEGATRON_0_8 = replace(
    MEGATRON,
    name="Megatron core 0.8",
    source="NVIDIA/Megatron-LM, core 0.8 to 0.12 with Transformer Engine 1: module/linear.py frees its placeholders, "
    "the loss is tensor_parallel/cross_entropy.py",
    loss="megatron",
    spare_gradients="freed",
)
MEGATRON_2023 = replace(
    MEGATRON_0_8,
    name="Megatron-LM 2023",
    source="NVIDIA/Megatron-LM, megatron/model/transformer.py of 2023, without Transformer Engine: the gate is not "
    "fused, FlashSelfAttention copies its output to sequence-first order",
    packs_qkv=False,
    mlp="unfused",
    transposes_attention=True,
)
TORCHTITAN = Profile(
    name="torchtitan 2024-12",
    source="pytorch/torchtitan 9dec370: parallelisms/parallelize_llama.py, train.py; torch/distributed/fsdp, "
    "torch/distributed/pipelining/stage.py",
    precision="fp32, bf16 compute",
    gradients_stay=False,
    norm="upcast",
    mlp="unfused",
    tensor_loss="torch, parallel",
    selective="every second product",
    side_streams=True,
    keeps_outputs=True,
    workspace_bytes=32.0 * MIB,
)
TORCHTITAN_COMPILED = replace(
    TORCHTITAN,
    name="torchtitan 2024-12, compiled",
    source="as torchtitan 2024-12, each layer under torch.compile, which fuses norms and gate and saves what backward "
    "reads (torch/_functorch/partitioners.py)",
    compiled=True,
    norm="fused",
    mlp="fused",
)
DEEPSPEED = Profile(
    name="DeepSpeed 0.16",
    source="microsoft/DeepSpeed, runtime/zero/{config,stage_1_and_2,stage3}.py, defaults of the buckets; "
    "fragmentation assumed",
    precision="bf16",
    optimizer_step="fp32 gradients",
    sequence_parallel=False,
    mlp="unfused",
    gathered_layers=2,
    most_gathered_params=1e9,
    bucket_params=5e8,
    reduce_bytes=2.0,
    workspace_bytes=32.0 * MIB,
    fragmentation=0.1,
    most_zero_with_pipeline=1,
)
MEGATRON_DEEPSPEED = replace(
    DEEPSPEED,
    name="Megatron-DeepSpeed 2022",
    source="bigscience-workshop/Megatron-DeepSpeed of 2022: fused softmax and GELU, no flash attention; DeepSpeed "
    "of 2022, zero/stage_1_and_2.py: reduce_gradients makes a bucket under a pipeline; kernels: 1573 MiB at the start, "
    "by bigscience's chronicles-prequel.md",
    attention="eager",
    mlp="fused",
    hidden_dropout=0.1,
    attention_dropout=0.1,
    vocab_multiple=128,
    loss="megatron",
    kernel_bytes=(1573.0 - 512.0) * MIB,
)
TRANSFORMERS = Profile(
    name="transformers 5",
    source="huggingface/transformers 5: models/llama, models/mixtral (experts one after another), loss/loss_utils.py; "
    "fragmentation assumed",
    precision="pure bf16",
    gradients_stay=False,
    sequence_parallel=False,
    norm="upcast",
    mlp="unfused",
    score_bytes=6.0,
    routing="behind",
    loss="torch, fp32, logits held",
    workspace_bytes=32.0 * MIB,
    fragmentation=0.1,
)
SIMPLE = Profile(
    name="seed 003",
    source="seed 003, memory per GPU: 16 bytes a parameter sharded by ZeRO, layer inputs under full recomputation",
    precision="bf16",
    sequence_parallel=True,
    loss="none",
    simple=True,
)
PROFILES = MappingProxyType(
    {
        known.name: known
        for known in (
            *(MEGATRON, MEGATRON_0_8, MEGATRON_2023),
            *(TORCHTITAN, TORCHTITAN_COMPILED),
            *(DEEPSPEED, MEGATRON_DEEPSPEED, TRANSFORMERS, SIMPLE),
        )
    }
)


def profile(name):
    """A profile by name, whatever the case, spaces, hyphens and underscores; "megatron" means the newest.

    Args:
        name: "megatron", "torchtitan", "deepspeed", "seed 003", or a name in `PROFILES`.

    Raises:
        TypeError: if the name is no text.
        ValueError: if nothing has it; the nearest is offered.

    >>> profile("torchtitan").loss
    'torch, fp32'
    """
    short = {"megatron": MEGATRON, "torchtitan": TORCHTITAN, "deepspeed": DEEPSPEED}
    return check.lookup(dict(PROFILES) | short, profile=name)
