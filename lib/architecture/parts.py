"""The parts that not every transformer has: a mixture of experts, and attention through a compressed cache."""

from dataclasses import dataclass

from lib import check


@dataclass(frozen=True, kw_only=True)
class MixtureOfExperts:
    """MLPs of which a router picks a few for each token, and the layers that have them.

    Layers are numbered from 0. Layer i has experts if it is none of the first n_dense_layers, none of dense_layers, and
    i + 1 is a multiple of layer_period; every other layer has one MLP of the transformer's own d_ff.

    Args:
        n_experts: experts that the router picks from, a whole number of at least 1.
        experts_per_token: how many of them a token passes, at most n_experts.
        d_ff_expert: inner width of one expert, a whole number of at least 1.
        n_shared_experts: experts that every token passes, 0 or more.
        d_ff_shared: inner width of all shared experts together; None means n_shared_experts * d_ff_expert.
        n_dense_layers: layers at the start that have one MLP, 0 or more (DeepSeek V3: 3).
        layer_period: every how many layers there are experts, at least 1 (Llama 4 Maverick: 2).
        dense_layers: numbers of further layers that have one MLP, a tuple.
        router_bias: a learned bias for each expert's score (gpt-oss).
        router_buffer: a number for each expert that balances the load and that no gradient reaches (DeepSeek V3). It is
            stored in the checkpoint and is no parameter.
        expert_bias: biases on every matrix of the experts (gpt-oss).
        shared_gate: a row of d_model weights that scales the shared experts' output (Qwen2-MoE).

    Raises:
        TypeError: for a size that is no whole number, a switch that is not True or False.
        ValueError: for a size out of range.

    Source: Shazeer et al. 2017, arXiv:1701.06538, section 2 (routing); Dai et al. 2024, arXiv:2401.06066, section 3
        (narrow and shared experts); DeepSeek-AI 2024, arXiv:2412.19437, section 2.1.2 (balance without a loss).

    >>> experts = MixtureOfExperts(n_experts=8, experts_per_token=2, d_ff_expert=14_336)
    >>> experts.n_layers_of(32), experts.d_ff_shared
    (32, 0)
    """

    n_experts: int
    experts_per_token: int
    d_ff_expert: int
    n_shared_experts: int = 0
    d_ff_shared: int | None = None
    n_dense_layers: int = 0
    layer_period: int = 1
    dense_layers: tuple[int, ...] = ()
    router_bias: bool = False
    router_buffer: bool = False
    expert_bias: bool = False
    shared_gate: bool = False

    def __post_init__(self):
        check.fields(self, integer="n_experts experts_per_token d_ff_expert layer_period")
        check.fields(self, natural="n_shared_experts d_ff_shared n_dense_layers")
        check.fields(self, boolean="router_bias router_buffer expert_bias shared_gate")
        if self.d_ff_shared is None:
            object.__setattr__(self, "d_ff_shared", self.n_shared_experts * self.d_ff_expert)
        if self.experts_per_token > self.n_experts:
            raise ValueError(f"experts_per_token = {self.experts_per_token}: at most n_experts = {self.n_experts}")
        if (self.d_ff_shared > 0) != (self.n_shared_experts > 0):
            raise ValueError(
                f"d_ff_shared = {self.d_ff_shared}: above 0 with shared experts, 0 without; "
                f"n_shared_experts = {self.n_shared_experts}"
            )
        _refuse_layers(self.dense_layers)

    def in_layer(self, layer):
        """True if the layer of this number, from 0, has experts.

        >>> every_other = MixtureOfExperts(n_experts=128, experts_per_token=1, d_ff_expert=8192, layer_period=2)
        >>> every_other.in_layer(0), every_other.in_layer(1)
        (False, True)
        """
        check.natural(layer=layer)
        dense = layer < self.n_dense_layers or layer in self.dense_layers
        return not dense and (layer + 1) % self.layer_period == 0

    def n_layers_of(self, n_layers):
        """How many of so many layers have experts.

        >>> MixtureOfExperts(n_experts=256, experts_per_token=8, d_ff_expert=2048, n_dense_layers=3).n_layers_of(61)
        58
        """
        check.integer(n_layers=n_layers)
        periods = max(0, n_layers // self.layer_period - self.n_dense_layers // self.layer_period)
        named = {i for i in self.dense_layers if self.n_dense_layers <= i < n_layers}
        return periods - sum((i + 1) % self.layer_period == 0 for i in named)


@dataclass(frozen=True, kw_only=True)
class LatentAttention:
    """Keys and values through one narrow vector a token, which is all that the cache keeps (MLA).

    Every head has nope_head_dim numbers made of the latent vector and rope_head_dim that carry the position; the
    latter's key is shared by all heads. A norm stands on either latent vector.

    Args:
        q_rank: width of the latent vector of the queries; None: queries are projected directly (DeepSeek V2 Lite).
        kv_rank: width of the latent vector of keys and values, a whole number of at least 1, as the rest.
        nope_head_dim: numbers of a query or key head without position.
        rope_head_dim: numbers of a query or key head with rotary position.
        v_head_dim: numbers of a value head.

    Raises:
        TypeError, ValueError: for what is no whole number of at least 1.

    Source: DeepSeek-AI 2024, arXiv:2405.04434, section 2.1 and appendix C.

    >>> latent = LatentAttention(q_rank=1536, kv_rank=512, nope_head_dim=128, rope_head_dim=64, v_head_dim=128)
    >>> latent.head_dim, latent.cache_width
    (192, 576)
    """

    q_rank: int | None = None
    kv_rank: int
    nope_head_dim: int
    rope_head_dim: int
    v_head_dim: int

    def __post_init__(self):
        check.fields(self, integer="q_rank kv_rank nope_head_dim rope_head_dim v_head_dim")

    @property
    def head_dim(self):
        """Numbers of a query or key head: nope_head_dim + rope_head_dim."""
        return self.nope_head_dim + self.rope_head_dim

    @property
    def cache_width(self):
        """Numbers that one layer keeps for a token: kv_rank + rope_head_dim."""
        return self.kv_rank + self.rope_head_dim


def _refuse_layers(layers):
    if not isinstance(layers, tuple) or not all(type(layer) is int and layer >= 0 for layer in layers):
        raise TypeError(
            f"dense_layers = {check.short(layers)} ({type(layers).__name__}): a tuple of whole numbers, 0 or more"
        )
