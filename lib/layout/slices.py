"""Which of four GPUs holds which slice of the weights, gradients, optimizer states and tokens, scheme by scheme."""

from dataclasses import dataclass

from lib import check

N_GPUS = 4  # in the picture; each scheme splits over as many as there are
CUTS = ("whole", "shards", "columns", "layers", "experts", "sequences", "positions")


@dataclass(frozen=True, kw_only=True)
class Slices:
    """How one scheme divides a model and its batch over GPUs.

    Args:
        name: what the scheme is called.
        weights: how the weights are cut, one of `CUTS`: "whole" is a copy on every GPU, "shards" any equal pieces that
            are put together again before use, "columns" a part of every matrix, "layers" whole layers, "experts" whole
            experts with a copy of the rest.
        gradients: how the gradients are cut, likewise.
        optimizer: how the optimizer states are cut, likewise.
        tokens: how the batch is cut: "whole" (all GPUs work on the same tokens), "sequences" or "positions" of each.

    Raises:
        TypeError, ValueError: for a name that is no text, a cut that is none of `CUTS`.

    Source: Rajbhandari et al. 2020, arXiv:1910.02054, figure 1 (ZeRO); Shoeybi et al. 2019, arXiv:1909.08053, section 3
        (tensor); Huang et al. 2019, arXiv:1811.06965, section 2 (pipeline); Liu et al. 2023, arXiv:2310.01889, section
        3 (positions); Lepikhin et al. 2020, arXiv:2006.16668, section 3 (experts).
    """

    name: str
    weights: str = "whole"
    gradients: str = "whole"
    optimizer: str = "whole"
    tokens: str = "whole"

    def __post_init__(self):
        check.text(name=self.name)
        check.choice(CUTS, weights=self.weights, gradients=self.gradients)
        check.choice(CUTS, optimizer=self.optimizer, tokens=self.tokens)


def _cut(name, cut, tokens):
    return Slices(name=name, weights=cut, gradients=cut, optimizer=cut, tokens=tokens)


SCHEMES = (
    Slices(name="data parallel", tokens="sequences"),
    Slices(name="ZeRO-1", optimizer="shards", tokens="sequences"),
    Slices(name="ZeRO-2", gradients="shards", optimizer="shards", tokens="sequences"),
    _cut("ZeRO-3, FSDP", "shards", "sequences"),
    _cut("tensor parallel", "columns", "whole"),
    _cut("pipeline parallel", "layers", "whole"),
    Slices(name="context parallel", tokens="positions"),
    _cut("expert parallel", "experts", "sequences"),
)


def owners(cut, n_gpus=N_GPUS):
    """The GPU that holds each cell of a square of rows and columns; None where every GPU holds it.

    For weights a row is a layer and a column a part of its matrices; for tokens a row is a sequence and a column a
    stretch of positions. Shards follow no matrix, so they run askew. With "experts" a first column, the layer outside
    its experts, is held by all.

    Args:
        cut: one of `CUTS`.
        n_gpus: GPUs, and rows and columns; at least 1.

    Returns:
        A tuple of rows, each a tuple of GPU numbers or None.

    Raises:
        TypeError, ValueError: for an unknown cut or a number of GPUs that is none.

    >>> owners("layers", 2)
    ((0, 0), (1, 1))
    >>> owners("experts", 2)
    ((None, 0, 1), (None, 0, 1))
    """
    check.choice(CUTS, cut=cut)
    check.integer(n_gpus=n_gpus)
    places = range(n_gpus)
    holder = {
        "whole": lambda row, column: None,
        "shards": lambda row, column: (row + column) % n_gpus,
        **dict.fromkeys(("layers", "sequences"), lambda row, column: row),
        **dict.fromkeys(("columns", "positions", "experts"), lambda row, column: column),
    }[cut]
    rows = tuple(tuple(holder(row, column) for column in places) for row in places)
    return tuple((None, *row) for row in rows) if cut == "experts" else rows
