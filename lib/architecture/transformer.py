"""The class `Transformer`: sizes in, counts out. How each part is counted is in `lib.architecture.counting`."""

from dataclasses import dataclass

from lib import check
from lib.architecture import counting, rules
from lib.architecture.counting import NORM_KINDS, QK_NORMS
from lib.architecture.parts import LatentAttention, MixtureOfExperts


@dataclass(frozen=True, kw_only=True)
class Transformer:
    """A decoder-only transformer, dense or with experts: the sizes from which its weights follow.

    The defaults are those of Llama: gated MLP, RMSNorm twice a layer and once at the end, no biases, untied head.
    Rotary and ALiBi positions store nothing, so they are no field. `dataclasses.replace` makes a changed copy.

    Args:
        name: what the model is called; any text.
        source: where the shape is published; any text.
        n_layers: layers, a whole number of at least 1, as are all sizes below.
        d_model: width of the residual stream, numbers a token.
        n_heads: query heads.
        n_kv_heads: heads that keep keys and values, a divisor of n_heads: 1 is multi-query attention, n_heads (also
            None) plain multi-head attention, anything between grouped-query attention.
        head_dim: numbers a query or key head; None means d_model / n_heads, with latent attention what that says. It
            need not be that: Qwen3 and Gemma choose it freely.
        d_ff: inner width of the MLP of a layer without experts.
        vocab_size: rows of the embedding table as stored, padding included.
        gated: True for three matrices (SwiGLU, GeGLU), False for two.
        tied: True if the output head is the input table.
        norm: "rms" (a weight), "layer" (weight and bias), "layer-without-bias", "none" (nothing stored).
        norms_per_layer: 2 as a rule; 1 where attention and MLP run in parallel behind one norm (Phi-2, Falcon-7B),
            4 where their outputs are normed too (Gemma 2 and 3).
        norms_outside_layers: 1 as a rule, the final one; 2 with a norm behind the table (BLOOM), 0 for OPT-350m.
        qk_norm: "none"; "head", one norm of head_dim for all query heads and one for all key heads (Qwen3, Gemma 3);
            "width", a weight for every number of the query heads and of the key heads (OLMo 2, Command R+);
            "width-without-bias", the same without the biases that the other norms have (StableLM 2 12B).
        qkv_bias: biases on the query, key and value projections (Qwen2: these only).
        attention_output_bias: biases on the projection behind attention.
        mlp_bias: biases on every matrix of the MLP, and of shared experts.
        head_bias: a bias for each row of the output head (Phi-2).
        learned_positions: rows of a learned position table, 0 for none (GPT-2: 1,024; OPT: 2,050, two of them spare).
        embedding_width: width of the table where it differs from d_model, with a matrix on either side (OPT-350m).
        attention_sinks: a learned score for each query head that takes part in the softmax (gpt-oss).
        windows: how many tokens back a layer looks, None for all of them, as a tuple that the layers repeat in turn:
            (4096, None) lets every second layer see everything (Gemma 2); as long as n_layers it names each layer.
        moe: the `MixtureOfExperts` of those layers that have one, or None.
        latent: the `LatentAttention` of all layers, or None.
        n_mtp_layers: layers behind the last that predict one more token each in training (DeepSeek V3). The counts
            leave them out, as released code does that only predicts the next; `mtp_params` has them.

    Raises:
        TypeError: for a size that is no whole number, a switch that is not True or False.
        ValueError: for a size below 1, or a shape that cannot be built; the nearest ones that can are named.

    Source: Vaswani et al. 2017, arXiv:1706.03762, section 3 (the layer); Shazeer 2019, arXiv:1911.02150 (one key and
        value head); Ainslie et al. 2023, arXiv:2305.13245, section 2.2 (groups); Shazeer 2020, arXiv:2002.05202,
        equation 6 (gates); Press and Wolf 2017, arXiv:1608.05859 (tying); Beltagy et al. 2020, arXiv:2004.05150,
        section 3.1 (windows); DeepSeek-AI 2024, arXiv:2412.19437, section 2.2 (multi-token prediction).

    >>> small = Transformer(n_layers=2, d_model=64, n_heads=4, n_kv_heads=2, d_ff=192, vocab_size=1000)
    >>> small.n_params
    226624
    >>> small.n_params == sum(small.components.values())
    True
    """

    name: str = ""
    source: str = ""
    n_layers: int
    d_model: int
    n_heads: int
    n_kv_heads: int | None = None
    head_dim: int | None = None
    d_ff: int
    vocab_size: int
    gated: bool = True
    tied: bool = False
    norm: str = "rms"
    norms_per_layer: int = 2
    norms_outside_layers: int = 1
    qk_norm: str = "none"
    qkv_bias: bool = False
    attention_output_bias: bool = False
    mlp_bias: bool = False
    head_bias: bool = False
    learned_positions: int = 0
    embedding_width: int | None = None
    attention_sinks: bool = False
    windows: tuple[int | None, ...] = (None,)
    moe: MixtureOfExperts | None = None
    latent: LatentAttention | None = None
    n_mtp_layers: int = 0

    def __post_init__(self):
        check.fields(self, text="name source", integer="n_layers d_model n_heads d_ff vocab_size")
        check.fields(self, natural="norms_per_layer norms_outside_layers learned_positions n_mtp_layers")
        check.fields(self, boolean="gated tied qkv_bias attention_output_bias mlp_bias head_bias attention_sinks")
        check.choice(tuple(NORM_KINDS), norm=self.norm)
        check.choice(QK_NORMS, qk_norm=self.qk_norm)
        rules.refuse_parts(self)
        rules.fill(self, n_kv_heads=self.n_heads, head_dim=rules.usual_head_dim(self), embedding_width=self.d_model)
        check.integer(n_kv_heads=self.n_kv_heads, head_dim=self.head_dim, embedding_width=self.embedding_width)
        rules.refuse_heads(self)
        rules.refuse_windows(self.windows)

    @property
    def attention_width(self):
        """Numbers a token over all query heads, n_heads * head_dim; equal to d_model in most models, not in all."""
        return self.n_heads * self.head_dim

    @property
    def kv_width(self):
        """Numbers a token in the keys of one layer (and as many again in its values), n_kv_heads * head_dim."""
        return self.n_kv_heads * self.head_dim

    @property
    def v_head_dim(self):
        """Numbers of a value head: head_dim, unless latent attention says otherwise."""
        return self.latent.v_head_dim if self.latent else self.head_dim

    @property
    def kv_cache_width(self):
        """Numbers that one layer keeps of a token for those that follow: keys and values, or the latent vector."""
        return self.latent.cache_width if self.latent else 2 * self.kv_width

    @property
    def width_over_depth(self):
        """d_model / n_layers: 128 for Llama 3 8B, 102.4 for 70B."""
        return self.d_model / self.n_layers

    def window(self, layer):
        """How many tokens back the layer of this number looks, counted from 0; None for all of them.

        >>> from lib.architecture import model
        >>> model("gemma-2-9b").window(0), model("gemma-2-9b").window(1)
        (4096, None)
        """
        rules.refuse_layer(self, layer)
        return self.windows[layer % len(self.windows)]

    def has_experts(self, layer):
        """True if the layer of this number, counted from 0, has a mixture of experts."""
        rules.refuse_layer(self, layer)
        return self.moe is not None and self.moe.in_layer(layer)

    @property
    def n_moe_layers(self):
        """Layers with experts: 0 for a dense model."""
        return self.moe.n_layers_of(self.n_layers) if self.moe else 0

    @property
    def layer_components(self):
        """Parameters of one layer by component; of one with experts where the model has any.

        Attention, feed-forward (or router, shared experts, routed experts) and norms; biases are in their component.
        """
        return counting.layer(self, self.moe is not None)

    @property
    def dense_layer_components(self):
        """The same for a layer without experts."""
        return counting.layer(self, False)

    def components_of_layer(self, layer):
        """Parameters of the layer of this number, counted from 0, by component.

        >>> from lib.architecture import model
        >>> sum(model("llama-3-8b").components_of_layer(31).values())
        218112000
        """
        return counting.layer(self, self.has_experts(layer))

    @property
    def layer_params(self):
        """Parameters of one layer, norms and biases included; of one with experts where the model has any.

        >>> from lib.architecture import model
        >>> model("llama-3-8b").layer_params
        218112000
        """
        return sum(self.layer_components.values())

    @property
    def components(self):
        """All parameters by component; the values sum to n_params.

        A tied head counts 0, its table being the input embedding. "embedding projections" is there only where the
        table is narrower or wider than the model, "router", "shared experts" and "routed experts" only with a mixture
        of experts, "feed-forward" only where a layer has none.

        >>> from lib.architecture import model
        >>> for component, n_params in model("llama-3-8b").components.items():
        ...     print(f"{component:15} {n_params:13,}")
        input embedding   525,336,576
        positions                   0
        attention       1,342,177,280
        feed-forward    5,637,144,576
        norms                 266,240
        output head       525,336,576
        """
        layers = counting.all_layers(self)
        layers["norms"] += self.norms_outside_layers * self.d_model * NORM_KINDS[self.norm]
        table = self.vocab_size * self.embedding_width
        head = (0 if self.tied else table) + (self.vocab_size if self.head_bias else 0)
        parts = {"input embedding": table, "positions": self.learned_positions * self.d_model, **layers}
        if self.embedding_width != self.d_model:
            parts["embedding projections"] = 2 * counting.embedding_projection(self)
        return parts | {"output head": head}

    @property
    def n_params(self):
        """All parameters, each stored number once.

        >>> from lib.architecture import model
        >>> f"{model('llama-3-70b').n_params:,}"
        '70,553,706,496'
        """
        return sum(self.components.values())

    @property
    def idle_params(self):
        """Parameters of the routed experts that one token does not pass: routed * (1 - experts_per_token / n_experts).

        0 for a dense model.
        """
        if not self.moe:
            return 0
        one = counting.expert_weights(self) + counting.expert_biases(self)
        return self.n_moe_layers * (self.moe.n_experts - self.moe.experts_per_token) * one

    @property
    def n_params_active(self):
        """Parameters that one token meets: all but the experts it does not pass; the tables are counted whole.

        >>> from lib.architecture import MixtureOfExperts
        >>> experts = MixtureOfExperts(n_experts=8, experts_per_token=2, d_ff_expert=14_336)
        >>> sizes = {"n_layers": 32, "d_model": 4096, "n_heads": 32, "n_kv_heads": 8, "vocab_size": 32_000}
        >>> mixtral = Transformer(d_ff=14_336, moe=experts, **sizes)
        >>> f"{mixtral.n_params:,} {mixtral.n_params_active:,}"
        '46,702,792,704 12,879,925,248'
        """
        return self.n_params - self.idle_params

    @property
    def non_embedding_params_active(self):
        """Active parameters without the input table and learned positions: how gpt-oss's publishers count."""
        return self.non_embedding_params - self.idle_params

    @property
    def non_vocabulary_params_active(self):
        """Active parameters without input table, learned positions and output head."""
        return self.non_vocabulary_params - self.idle_params

    @property
    def mtp_params(self):
        """Parameters of the multi-token-prediction layers, which n_params leaves out; shared tables not again.

        Each is a layer of the last kind, a matrix from two widths to one, and three norms.

        Source: DeepSeek-AI 2024, arXiv:2412.19437, equations 21 to 23; its table and head are those of the model.
        """
        joined = 2 * self.d_model**2 + 3 * self.d_model * NORM_KINDS[self.norm]
        return self.n_mtp_layers * (self.layer_params + joined)

    @property
    def router_buffers(self):
        """Numbers that the checkpoint keeps to balance the experts, beside its parameters: one an expert."""
        return self.n_moe_layers * self.moe.n_experts if self.moe and self.moe.router_buffer else 0

    @property
    def input_embedding_params(self):
        """Parameters of the input table, vocab_size rows; a lookup, no matrix multiplication."""
        return self.vocab_size * self.embedding_width

    @property
    def non_embedding_params(self):
        """Parameters without the input table and learned positions: what takes part in a forward multiplication.

        The output head stays in if it is a table of its own; a tied one goes with the input table.
        """
        parts = self.components
        return sum(parts.values()) - parts["input embedding"] - parts["positions"]

    @property
    def non_vocabulary_params(self):
        """Parameters without input table, learned positions and output head: what Kaplan's laws call N.

        Source: Kaplan et al. 2020, arXiv:2001.08361, section 2.1.
        """
        return self.non_embedding_params - self.components["output head"]

    @property
    def norm_params(self):
        """Parameters of all norms, their biases included."""
        return self.components["norms"]

    @property
    def bias_params(self):
        """All biases, those of LayerNorm, of routers and experts, and of the head included."""
        dense = counting.feed_forward_biases(self, False) * (self.n_layers - self.n_moe_layers)
        experts = counting.feed_forward_biases(self, True) * self.n_moe_layers if self.moe else 0
        attention = self.n_layers * counting.attention_biases(self)
        head = self.vocab_size if self.head_bias else 0
        return attention + dense + experts + counting.norm_biases(self) + head

    @property
    def layer_matmul_params(self):
        """Weights of one layer that multiply a token: no biases, no norms; of its experts those that it passes."""
        return counting.attention_weights(self) + counting.feed_forward_matmul(self, self.moe is not None)

    @property
    def matmul_params(self):
        """Weights that multiply a token, without the output head: 2 FLOPs each, forward.

        Of the routed experts it counts those that one token passes.
        """
        dense = (self.n_layers - self.n_moe_layers) * counting.feed_forward_matmul(self, False)
        experts = self.n_moe_layers * counting.feed_forward_matmul(self, True) if self.moe else 0
        attention = self.n_layers * counting.attention_weights(self)
        return attention + dense + experts + counting.embedding_projection(self)

    @property
    def head_matmul_params(self):
        """Weights that turn the last layer's output into logits; tied or not, they multiply every token."""
        return self.vocab_size * self.embedding_width + counting.embedding_projection(self)

    @property
    def text(self):
        """The shape in one line.

        >>> from lib.architecture import model
        >>> model("llama-3-8b").text
        '32 layers x 4,096, 32 heads of 128 (8 key/value), d_ff 14,336, vocabulary 128,256'
        """
        shared = "" if self.n_kv_heads == self.n_heads else f" ({self.n_kv_heads} key/value)"
        return (
            f"{self.n_layers} layers x {self.d_model:,}, {self.n_heads} heads of {self.head_dim}{shared}, "
            f"{_feed_forward_text(self)}, vocabulary {self.vocab_size:,}"
        )


def _feed_forward_text(shape):
    if not shape.moe:
        return f"d_ff {shape.d_ff:,}"
    experts = f"{shape.moe.n_experts} experts of {shape.moe.d_ff_expert:,}, {shape.moe.experts_per_token} a token"
    n_dense = shape.n_layers - shape.n_moe_layers
    return experts + (f", {n_dense} dense layers of {shape.d_ff:,}" if n_dense else "")
