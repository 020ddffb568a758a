"""What the rungs of the ladder train: a described run scaled down until a laptop runs it in seconds, by a stated rule.

Kind is kept, size is not: what a part *is* (grouped keys, a gate, a tied head, a norm, a window) is that of the run,
for a fault hides in kinds. All sizes are such that eight virtual devices can share them.
"""

from dataclasses import dataclass, replace

from lib import check
from lib.architecture import Transformer
from lib.check import figure
from lib.description.run import RunDescription
from lib.pilot import text
from lib.pilot.cuts import PRECISIONS
from lib.pilot.tensors import refuse_length, tensors
from lib.recipe.lr_law import fitted
from lib.tables import Table

DEVICES = 8  # virtual ones of rung 4; heads, width, sequence and batch are multiples
WIDTH = 64  # of the residual stream: narrow enough for a first loss of ln V, see the threshold "loss at the start"
SEQ_LEN = 64
DROPOUT = 0.1  # on, so that a resume has to find the random numbers again
_LAYERS = 2
_SHOWN = 4  # sequences, to a person


@dataclass(frozen=True, kw_only=True)
class Pilot:
    """What a rung runs, and for which run it stands.

    Args:
        run: the `RunDescription` that it stands for.
        shape: the `Transformer` that is trained in its place.
        seq_len: tokens of a sequence, a whole number of at least 1.
        sequences: of a step, likewise.
        dropout: rate where a rung has dropout on, from 0 to below 1.
        learning_rate: at every step, > 0.
        precision: a name in `lib.pilot.cuts.PRECISIONS`.
        seed: of weights, text and dropout, a whole number of at least 0.

    Raises:
        TypeError, ValueError: for a value of the wrong kind or out of range; a shape that the pilot does not build.

    >>> from lib.description import parse
    >>> text = 'tokens = "1T"\\n[model]\\nname = "llama-3-8b"\\n[cluster]\\naccelerator = "h100"\\nn_gpus = 64'
    >>> pilot = scale_down(parse(text))
    >>> pilot.shape.n_params, pilot.batch_tokens
    (115008, 512)
    """

    run: RunDescription
    shape: Transformer
    seq_len: int = SEQ_LEN
    sequences: int = DEVICES
    dropout: float = DROPOUT
    learning_rate: float
    precision: str = "fp32"
    seed: int = 0

    def __post_init__(self):
        check.instance(RunDescription, run=self.run)
        check.fields(self, integer="seq_len sequences", natural="seed", positive="learning_rate")
        check.scalar(dropout=self.dropout)
        check.share(dropout=self.dropout)
        check.choice(tuple(PRECISIONS), precision=self.precision)
        tensors(self.shape)
        refuse_length(self.shape, self.seq_len)
        if self.dropout == 1:
            raise ValueError("dropout = 1: below 1, for nothing would be left")

    @property
    def batch_tokens(self):
        """Tokens of a step."""
        return self.seq_len * self.sequences

    @property
    def what(self):
        """What is run, in words: evidence of the same words need not be gathered twice."""
        shape = self.shape
        model = f"{shape.n_params:,} parameters ({shape.n_layers} layers, width {shape.d_model})"
        words = f"{self.sequences} sequences of {self.seq_len} tokens"
        return f"{model}, {words}, learning rate {self.learning_rate:.3g}, {self.precision}, seed {self.seed}"

    @property
    def samples(self):
        """Texts that the model reads, for a person to look at: the first sequences of the first batch."""
        tokens, _ = text.batch(self.seed, 0, min(_SHOWN, self.sequences), self.seq_len)
        return [text.decode(row) for row in tokens]

    @property
    def table(self):
        """Both shapes side by side, with the rule by which one became the other."""
        rows = (_row(*sides, rule) for *sides, rule in _sides(self))
        return Table(head=("", "run", "pilot", "rule"), rows=tuple(rows), caption=f"Kept: {_kept(self.shape)}.")


def scale_down(run, seed=0):
    """The pilot of a described run.

    The learning rate moves with size by the law that recipes follow, text shrinking with the model:
    peak_lr * (n / N)^(a + b), a and b being the law's powers of parameters and tokens.

    Args:
        run: a `RunDescription` of a model without experts, latent attention, sinks and multi-token prediction.
        seed: of weights, text and dropout, a whole number of at least 0.

    Returns:
        A `Pilot`.

    Raises:
        TypeError: for something else.
        ValueError: for a part that the pilot does not build, by name: a model without it would prove nothing; for a
            model without a norm behind its layers.

    Source: `lib.recipe.lr_law.fitted`, a fit to published runs; sizes are choices of the handbook.

    >>> from lib.description import parse
    >>> text = 'tokens = "1T"\\n[model]\\nname = "llama-3-8b"\\n[cluster]\\naccelerator = "h100"\\nn_gpus = 64'
    >>> pilot = scale_down(parse(text))
    >>> pilot.shape.n_heads, pilot.shape.n_kv_heads, pilot.shape.d_ff
    (8, 2, 224)
    """
    check.instance(RunDescription, run=run)
    check.natural(seed=seed)
    _refuse(run.shape)
    shape = _scaled(run.shape, run.layout.seq_len)
    return Pilot(run=run, shape=shape, learning_rate=scaled_rate(run, shape.n_params), seed=seed)


def scaled_rate(run, n_params):
    """The run's peak learning rate on a model of another size, as many tokens a parameter: peak_lr * (n/N)^(a + b).

    Args:
        run: a `RunDescription`.
        n_params: parameters of the other model, > 0.

    Raises:
        TypeError, ValueError: for something else.

    Source: as `scale_down`.

    >>> from lib.description import parse
    >>> text = 'tokens = "1T"\\n[model]\\nname = "llama-3-8b"\\n[cluster]\\naccelerator = "h100"\\nn_gpus = 64'
    >>> run = parse(text)
    >>> scaled_rate(run, run.shape.n_params) == run.schedule.peak_lr
    True
    """
    check.instance(RunDescription, run=run)
    check.scalar(n_params=n_params)
    check.positive(n_params=n_params)
    share = n_params / run.shape.n_params
    return check.positive_result(learning_rate=run.schedule.peak_lr * share ** _rate_power())


def _rate_power():
    law = fitted("peak_lr")
    return law.params_exponent + law.tokens_exponent


def _refuse(shape):
    try:
        tensors(shape)
    except ValueError as error:
        raise ValueError(f"model.{str(error).removeprefix('shape.')}") from None
    if not shape.norms_outside_layers:
        raise ValueError(
            "model.norms_outside_layers = 0: 1 or 2, for a pilot norms what its layers read, and without a norm behind "
            "the last its scores are too small to learn in the steps that rung 2 has"
        )


def _scaled(shape, seq_len):
    windows = tuple(dict.fromkeys(_window(shape.window(n), seq_len) for n in range(shape.n_layers)))
    narrow = shape.embedding_width / shape.d_model
    return replace(
        shape,
        name=f"pilot of {shape.name}" if shape.name else "pilot",
        source="lib.pilot.pilot.scale_down",
        n_layers=max(_LAYERS, len(windows)),
        d_model=WIDTH,
        n_heads=DEVICES,
        n_kv_heads=_key_heads(shape),
        head_dim=_multiple(WIDTH / DEVICES * shape.attention_width / shape.d_model, 2),
        d_ff=_multiple(WIDTH * shape.d_ff / shape.d_model, DEVICES),
        vocab_size=len(text.VOCABULARY),
        learned_positions=SEQ_LEN if shape.learned_positions else 0,
        embedding_width=_multiple(WIDTH * narrow, DEVICES),
        windows=windows,
    )


def _key_heads(shape):
    """One, as many as query heads, or between them: the divisor of eight whose groups are nearest to the run's."""
    if shape.n_kv_heads in (1, shape.n_heads):
        return 1 if shape.n_kv_heads == 1 else DEVICES
    group = shape.n_heads / shape.n_kv_heads
    return min((2, 4), key=lambda heads: abs(DEVICES / heads - group))


def _window(window, seq_len):
    """The same share of the sequence; None where the run's window is no shorter than its sequences."""
    return None if window is None or window >= seq_len else max(1, round(window * SEQ_LEN / seq_len))


def _multiple(value, of):
    return max(1, round(value / of)) * of


def _row(label, there, here, rule):
    return label, _shown(there), _shown(here), rule


def _shown(value):
    return f"{value:,}" if isinstance(value, int) else value


def _sides(pilot):
    """Label, the run's side, the pilot's, rule."""
    there, here, run = pilot.run.shape, pilot.shape, pilot.run
    yield "layers", there.n_layers, here.n_layers, f"{_LAYERS}, or one of each kind of window"
    yield "width", there.d_model, here.d_model, f"{WIDTH}: narrow, so that the first loss is ln(vocabulary)"
    yield "query heads", there.n_heads, here.n_heads, f"{DEVICES}, one for each virtual device"
    yield "key heads", there.n_kv_heads, here.n_kv_heads, "one, some or all, and groups as near as can be"
    yield "numbers of a head", there.head_dim, here.head_dim, "heads together as wide, over the width, as the run's"
    yield "width of the MLP", there.d_ff, here.d_ff, f"as wide, over the width; a multiple of {DEVICES}"
    yield "vocabulary", there.vocab_size, here.vocab_size, "the letters of the generated text"
    yield "windows", _windows(there), _windows(here), "each kind once, the same share of a sequence"
    yield "tokens of a sequence", run.layout.seq_len, pilot.seq_len, f"{SEQ_LEN}"
    yield "sequences of a step", run.layout.global_batch, pilot.sequences, f"{DEVICES}, one for each virtual device"
    yield "parameters", there.n_params, here.n_params, "what follows"
    rates = (figure(float(f"{rate:.3g}")) for rate in (run.schedule.peak_lr, pilot.learning_rate))
    yield "learning rate", *rates, f"times (parameters over the run's)^{_rate_power():.3f}, constant"


def _windows(shape):
    found = tuple(dict.fromkeys(shape.window(n) for n in range(shape.n_layers)))
    return " and ".join("everything" if window is None else f"{window:,}" for window in found)


def _kept(shape):
    heads = {1: "one key head", shape.n_heads: "a key head for each query head"}.get(shape.n_kv_heads, "grouped keys")
    parts = (
        heads,
        "a gated MLP" if shape.gated else "an MLP without a gate",
        "a tied head" if shape.tied else "a head of its own",
        f"norm {shape.norm!r}, {shape.norms_per_layer} a layer and {shape.norms_outside_layers} outside",
        "learned positions" if shape.learned_positions else "rotary positions",
        *((f"norms of queries and keys: {shape.qk_norm}",) if shape.qk_norm != "none" else ()),
        *(name.replace("_", " ") for name in _BIASES if getattr(shape, name)),
    )
    return ", ".join(parts)


_BIASES = ("qkv_bias", "attention_output_bias", "mlp_bias", "head_bias")
