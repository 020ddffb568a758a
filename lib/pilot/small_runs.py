"""The small runs of the handbook, before they are made: which they are, and where their learning rate comes from.

Seven transformers of 4 to 56 thousand parameters and one larger, held out, on text whose entropy is known
(`lib.pilot.words`), 40 tokens a parameter. The learning rate is tuned at one width, a factor of two apart, and
transferred to the others as 1 / width; at another width, half and double of it are tried as well.
`handbook small-runs` makes them (`lib.pilot.small_train`), and their logs are read by `lib.pilot.small_logs`.
"""

from dataclasses import dataclass
from functools import cached_property

from lib import check
from lib.architecture import Transformer
from lib.pilot import words
from lib.recipe.mup import hidden_lr

FORM = 1  # of a log
WIDTHS = (12, 16, 20, 24, 32, 40, 48)
HELD_WIDTH = 64
TUNED_WIDTH, RATES = 16, (0.005, 0.01, 0.02, 0.04, 0.08)
CHECKED_WIDTH = 32  # at which half and double of the transferred rate are tried
ROLES = ("small run", "held out", "tuning", "check")
RATIO = 40.0  # tokens a parameter
SEQUENCES, SEQ_LEN = 12, 80
_HEAD = 16  # numbers of a head, about


@dataclass(frozen=True, kw_only=True)
class SmallRun:
    """One small run before it is made.

    Args:
        width: of the model, a whole number of at least 1.
        peak_lr: learning rate after warm-up, > 0.
        role: one of `ROLES`.
        seed: of weights and text, a whole number of at least 0.

    Raises:
        TypeError, ValueError: for a value of the wrong kind or out of range.

    >>> run = SmallRun(width=16, peak_lr=0.02)
    >>> run.shape.n_params, run.steps, run.n_tokens
    (6240, 260, 249600)
    """

    width: int
    peak_lr: float
    role: str = "small run"
    seed: int = 0

    def __post_init__(self):
        check.fields(self, integer="width", positive="peak_lr", natural="seed")
        check.choice(ROLES, role=self.role)

    @cached_property
    def shape(self):
        """Two layers, heads of about 16 numbers, a gated MLP of 8/3 of the width, a tied head."""
        return Transformer(
            name=f"{self.width} wide",
            n_layers=2,
            d_model=self.width,
            n_heads=max(1, self.width // _HEAD),
            d_ff=8 * self.width // 3 // 8 * 8,
            vocab_size=len(words.LETTERS),
            tied=True,
        )

    @property
    def steps(self):
        """Whole steps in 40 tokens a parameter."""
        return int(RATIO * self.shape.n_params // (SEQUENCES * SEQ_LEN))

    @property
    def n_tokens(self):
        """Tokens trained."""
        return self.steps * SEQUENCES * SEQ_LEN

    @property
    def file(self):
        """The name of its log."""
        return f"{self.role.replace(' ', '-')}-{self.width:02d}-{self.peak_lr:.3g}.jsonl"

    @property
    def head(self):
        """The first line of its log, as plain data."""
        own = {"small_run": FORM, "role": self.role, "width": self.width, "peak_lr": self.peak_lr, "seed": self.seed}
        text = {"corpus": words.CORPUS, "entropy": words.entropy()}
        return own | {"n_params": self.shape.n_params, "n_tokens": self.n_tokens} | text


def transferred(base_lr, width, role="small run"):
    """A run whose rate is that of the tuned width times tuned width over width.

    Args:
        base_lr: the best rate at the tuned width, > 0.
        width: of the model.
        role: one of `ROLES`.

    >>> transferred(0.02, 32).peak_lr
    0.01
    """
    check.scalar(base_lr=base_lr)
    check.integer(width=width)
    rate = float(f"{hidden_lr(base_lr, float(width), float(TUNED_WIDTH)):.6g}")
    return SmallRun(width=width, peak_lr=rate, role=role)
