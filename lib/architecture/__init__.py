"""The shape of a model and the exact number of parameters that follows from it.

A `Transformer` holds sizes; every count is a property. `model("llama-3-8b")` gives a released one from
`lib/data/models.toml`. Counts are of stored numbers: a tied table once, a padded vocabulary with its padding.
"""

from dataclasses import dataclass
from types import MappingProxyType

from lib import check, facts

# How many numbers a norm stores for each of its inputs: a weight, a weight and a bias, or nothing.
NORM_KINDS = MappingProxyType({"rms": 1, "layer": 2, "layer-without-bias": 1, "none": 0})
QK_NORMS = ("none", "head", "width")
FIGURES = {  # the sizes in lib/data/models.toml and their units
    **dict.fromkeys(("d_model", "head_dim", "d_ff", "embedding_width"), "dimensions"),
    **dict.fromkeys(("n_heads", "n_kv_heads"), "heads"),
    **dict.fromkeys(("norms_per_layer", "norms_outside_layers"), "norms"),
    "n_layers": "layers",
    "vocab_size": "rows",
    "learned_positions": "rows",
    "n_params": "parameters",
}
WORDS = {
    **dict.fromkeys(("gated", "tied", "qkv_bias", "attention_output_bias", "mlp_bias", "head_bias"), bool),
    **dict.fromkeys(("norm", "qk_norm"), str),
}


@dataclass(frozen=True, kw_only=True)
class Transformer:
    """A dense decoder-only transformer: the sizes from which its weights follow.

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
        head_dim: numbers a head; None means d_model / n_heads. It need not be that: Qwen3 and Gemma choose it freely.
        d_ff: inner width of the MLP.
        vocab_size: rows of the embedding table as stored, padding included.
        gated: True for three matrices (SwiGLU, GeGLU), False for two.
        tied: True if the output head is the input table.
        norm: "rms" (a weight), "layer" (weight and bias), "layer-without-bias", "none" (nothing stored).
        norms_per_layer: 2 as a rule; 1 where attention and MLP run in parallel behind one norm (Phi-2, Falcon-7B),
            4 where their outputs are normed too (Gemma 2 and 3).
        norms_outside_layers: 1 as a rule, the final one; 2 with a norm behind the table (BLOOM), 0 for OPT-350m.
        qk_norm: "none"; "head", one norm of head_dim for all query heads and one for all key heads (Qwen3, Gemma 3);
            "width", over all query heads together and all key heads together (OLMo 2).
        qkv_bias: biases on the query, key and value projections (Qwen2: these only).
        attention_output_bias: biases on the projection behind attention.
        mlp_bias: biases on every matrix of the MLP.
        head_bias: a bias for each row of the output head (Phi-2).
        learned_positions: rows of a learned position table, 0 for none (GPT-2: 1,024; OPT: 2,050, two of them spare).
        embedding_width: width of the table where it differs from d_model, with a matrix on either side (OPT-350m).

    Raises:
        TypeError: for a size that is no whole number, a switch that is not True or False.
        ValueError: for a size below 1, or a shape that cannot be built; the nearest ones that can are named.

    Source: Vaswani et al. 2017, arXiv:1706.03762, section 3 (the layer); Shazeer 2019, arXiv:1911.02150 (one key and
        value head); Ainslie et al. 2023, arXiv:2305.13245, section 2.2 (groups); Shazeer 2020, arXiv:2002.05202,
        equation 6 (gates); Press and Wolf 2017, arXiv:1608.05859 (tying).

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

    def __post_init__(self):
        check.text(name=self.name, source=self.source)
        check.integer(n_layers=self.n_layers, d_model=self.d_model, n_heads=self.n_heads)
        check.integer(d_ff=self.d_ff, vocab_size=self.vocab_size)
        check.natural(norms_per_layer=self.norms_per_layer, norms_outside_layers=self.norms_outside_layers)
        check.natural(learned_positions=self.learned_positions)
        check.boolean(gated=self.gated, tied=self.tied, qkv_bias=self.qkv_bias, mlp_bias=self.mlp_bias)
        check.boolean(attention_output_bias=self.attention_output_bias, head_bias=self.head_bias)
        check.choice(tuple(NORM_KINDS), norm=self.norm)
        check.choice(QK_NORMS, qk_norm=self.qk_norm)
        _fill(self, n_kv_heads=self.n_heads, head_dim=_usual_head_dim(self), embedding_width=self.d_model)
        check.integer(n_kv_heads=self.n_kv_heads, head_dim=self.head_dim, embedding_width=self.embedding_width)
        if self.n_heads % self.n_kv_heads:
            raise ValueError(
                f"n_kv_heads = {self.n_kv_heads}: a divisor of n_heads = {self.n_heads}, so that every key head "
                f"serves as many query heads; nearest {check.nearest_divisors(self.n_heads, self.n_kv_heads)}"
            )

    @property
    def attention_width(self):
        """Numbers a token over all query heads, n_heads * head_dim; equal to d_model in most models, not in all."""
        return self.n_heads * self.head_dim

    @property
    def kv_width(self):
        """Numbers a token in the keys of one layer (and as many again in its values), n_kv_heads * head_dim."""
        return self.n_kv_heads * self.head_dim

    @property
    def width_over_depth(self):
        """d_model / n_layers: 128 for Llama 3 8B, 102.4 for 70B."""
        return self.d_model / self.n_layers

    @property
    def layer_components(self):
        """Parameters of one layer by component: attention, feed-forward, norms; biases are in their component."""
        return {
            "attention": _attention_weights(self) + _attention_biases(self),
            "feed-forward": _feed_forward_weights(self) + _feed_forward_biases(self),
            "norms": _layer_norms(self) * NORM_KINDS[self.norm],
        }

    @property
    def layer_params(self):
        """Parameters of one layer, norms and biases included.

        >>> model("llama-3-8b").layer_params
        218112000
        """
        return sum(self.layer_components.values())

    @property
    def components(self):
        """All parameters by component; the values sum to n_params.

        A tied head counts 0, its table being the input embedding. "embedding projections" is there only where the
        table is narrower or wider than the model.

        >>> for component, n_params in model("llama-3-8b").components.items():
        ...     print(f"{component:15} {n_params:13,}")
        input embedding   525,336,576
        positions                   0
        attention       1,342,177,280
        feed-forward    5,637,144,576
        norms                 266,240
        output head       525,336,576
        """
        layers = {kind: self.n_layers * n for kind, n in self.layer_components.items()}
        layers["norms"] += self.norms_outside_layers * self.d_model * NORM_KINDS[self.norm]
        table = self.vocab_size * self.embedding_width
        head = (0 if self.tied else table) + (self.vocab_size if self.head_bias else 0)
        parts = {"input embedding": table, "positions": self.learned_positions * self.d_model, **layers}
        if self.embedding_width != self.d_model:
            parts["embedding projections"] = 2 * _embedding_projection(self)
        return parts | {"output head": head}

    @property
    def n_params(self):
        """All parameters, each stored number once.

        >>> f"{model('llama-3-70b').n_params:,}"
        '70,553,706,496'
        """
        return sum(self.components.values())

    @property
    def input_embedding_params(self):
        """Parameters of the input table, vocab_size rows; a lookup, no matrix multiplication."""
        return self.components["input embedding"]

    @property
    def non_embedding_params(self):
        """Parameters without the input table and learned positions: what takes part in a forward multiplication.

        The output head stays in if it is a table of its own; a tied one goes with the input table.
        """
        parts = self.components
        return self.n_params - parts["input embedding"] - parts["positions"]

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
        """All biases, those of LayerNorm and of the head included."""
        per_layer = _attention_biases(self) + _feed_forward_biases(self)
        norms = 0
        if self.norm == "layer":
            norms = self.n_layers * _layer_norms(self) + self.norms_outside_layers * self.d_model
        return self.n_layers * per_layer + norms + (self.vocab_size if self.head_bias else 0)

    @property
    def layer_matmul_params(self):
        """Weights of one layer that multiply every token once: no biases, no norms."""
        return _attention_weights(self) + _feed_forward_weights(self)

    @property
    def matmul_params(self):
        """Weights that multiply every token once, without the output head: 2 FLOPs each, forward."""
        return self.n_layers * self.layer_matmul_params + _embedding_projection(self)

    @property
    def head_matmul_params(self):
        """Weights that turn the last layer's output into logits; tied or not, they multiply every token."""
        return self.vocab_size * self.embedding_width + _embedding_projection(self)

    @property
    def text(self):
        """The shape in one line.

        >>> model("llama-3-8b").text
        '32 layers x 4,096, 32 heads of 128 (8 key/value), d_ff 14,336, vocabulary 128,256'
        """
        shared = "" if self.n_kv_heads == self.n_heads else f" ({self.n_kv_heads} key/value)"
        return (
            f"{self.n_layers} layers x {self.d_model:,}, {self.n_heads} heads of {self.head_dim}{shared}, "
            f"d_ff {self.d_ff:,}, vocabulary {self.vocab_size:,}"
        )


def model(name):
    """A released model by name, whatever the case, spaces, hyphens and underscores.

    Args:
        name: such as "llama-3-8b" or "GPT-2"; `MODELS` lists all.

    Returns:
        The `Transformer` that its published configuration describes.

    Raises:
        TypeError: if the name is no text.
        ValueError: if no model has it; the nearest is offered.

    Source: each row of lib/data/models.toml names its configuration file.

    >>> f"{model('Mistral 7B').n_params:,}"
    '7,241,732,096'
    """
    return check.lookup(_BY_NAME, model=name)


def _fill(shape, **usual):
    for name, value in usual.items():
        if getattr(shape, name) is None:
            object.__setattr__(shape, name, value)


def _usual_head_dim(shape):
    if shape.head_dim is not None or shape.d_model % shape.n_heads == 0:
        return shape.d_model // shape.n_heads
    below = shape.d_model // shape.n_heads * shape.n_heads
    nearest = " or ".join(str(d) for d in (below, below + shape.n_heads) if d)
    raise ValueError(
        f"head_dim = None: d_model / n_heads = {shape.d_model} / {shape.n_heads} is no whole number; "
        f"give head_dim, or a d_model of {nearest}, or {check.nearest_divisors(shape.d_model, shape.n_heads)} heads"
    )


def _attention_weights(shape):
    """Query and output projections of the query heads' width, key and value projections of the key heads'."""
    return 2 * shape.d_model * (shape.attention_width + shape.kv_width)


def _attention_biases(shape):
    qkv = shape.attention_width + 2 * shape.kv_width if shape.qkv_bias else 0
    return qkv + (shape.d_model if shape.attention_output_bias else 0)


def _feed_forward_weights(shape):
    return (3 if shape.gated else 2) * shape.d_model * shape.d_ff


def _feed_forward_biases(shape):
    inner = (2 if shape.gated else 1) * shape.d_ff
    return inner + shape.d_model if shape.mlp_bias else 0


def _layer_norms(shape):
    """Inputs of all norms of one layer together: each has a weight where the norm stores one."""
    heads = {"none": 0, "head": 2 * shape.head_dim, "width": shape.attention_width + shape.kv_width}
    return shape.norms_per_layer * shape.d_model + heads[shape.qk_norm]


def _embedding_projection(shape):
    return shape.embedding_width * shape.d_model if shape.embedding_width != shape.d_model else 0


_ENTRIES = facts.load("models", FIGURES, WORDS, labels=("aliases",))


def _from_entry(entry):
    fields = {field: fact.value for field, fact in entry.facts.items() if field != "n_params"}
    return Transformer(name=entry.name, source=entry.facts["n_layers"].source, **fields)


MODELS = MappingProxyType({name: _from_entry(entry) for name, entry in _ENTRIES.items()})
# (other name, name) pairs: what else a control takes for one of the names in `MODELS`.
SYNONYMS = tuple((alias, name) for name, entry in _ENTRIES.items() for alias in entry.get("aliases", ()))
_BY_NAME = dict(MODELS) | {alias: MODELS[name] for alias, name in SYNONYMS}
