"""What each pipeline stage holds: its layers, the tables, and the micro-batches whose activations wait there."""

from dataclasses import dataclass

from lib import check
from lib.elementwise import minimum, where
from lib.layout.rules import check_layout


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One pipeline stage of a model under a layout.

    Args:
        index: its number, from 0.
        pieces: layers of each piece of the model that it holds; one piece unless interleaved.
        first_layer: number of its first layer in the model, from 0.
        first: True if it holds the embedding.
        last: True if it holds the final norm, the head and the loss.
        waiting: forward passes of pieces that wait for their backward at the worst moment, > 0.

    >>> Stage(index=0, pieces=(2, 2), first_layer=0, first=True, last=False, waiting=5).stored_layers
    10.0
    """

    index: int
    pieces: tuple[int, ...]
    first_layer: int
    first: bool
    last: bool
    waiting: float

    def __post_init__(self):
        check.natural(index=self.index, first_layer=self.first_layer)
        check.several(pieces=self.pieces)
        check.boolean(first=self.first, last=self.last)
        check.scalar(waiting=self.waiting)
        check.positive(waiting=self.waiting)

    @property
    def n_layers(self):
        """Layers on this stage, all its pieces together."""
        return sum(self.pieces)

    @property
    def stored_layers(self):
        """Layers whose activations are stored at the worst moment, once for each waiting micro-batch.

        waiting * layers of a mean piece.
        """
        return self.waiting * self.n_layers / len(self.pieces)


def in_flight(index, pipeline, micro_batches, interleave=1.0):
    """Forward passes of pieces that wait on a stage before the first backward frees one.

    1F1B: pipeline - index, at most micro_batches. Interleaved: 2 (pipeline - index - 1) + (interleave - 1) * pipeline
    + 1, at most micro_batches * interleave.

    Args:
        index: the stage, from 0; float or array, as are all.
        pipeline: stages, >= 1.
        micro_batches: micro-batches of one step, >= 1.
        interleave: pieces on each stage, >= 1.

    Returns:
        A number of passes, each through one piece.

    Raises:
        TypeError, ValueError: for what is no whole number in range.

    Source: Narayanan et al. 2021, arXiv:2104.04473, section 2.2, and Megatron-LM, core/pipeline_parallel/schedules.py
        (num_warmup_microbatches); Korthikanti et al. 2022, arXiv:2205.05198, equation 6 and appendix C: on the first
        stage pipeline * (1 + (pipeline - 1) / (pipeline * interleave)) micro-batches.

    >>> in_flight(0, 8, 64), in_flight(7, 8, 64), in_flight(0, 8, 64, 3)
    (8.0, 1.0, 31.0)
    """
    check.count(index=index)
    check.whole(pipeline=pipeline, micro_batches=micro_batches, interleave=interleave)
    behind = pipeline - index - 1
    plain = minimum(behind + 1.0, micro_batches)
    pieces = minimum(2.0 * behind + (interleave - 1) * pipeline + 1, 1.0 * micro_batches * interleave)
    return check.result(passes=where(interleave > 1, pieces, plain))


def _waiting(index, layout):
    """`in_flight` for numbers that were checked."""
    behind = layout.pipeline - index - 1
    if layout.interleave == 1:
        return float(min(behind + 1, layout.micro_batches))
    pieces = 2 * behind + (layout.interleave - 1) * layout.pipeline + 1
    return float(min(pieces, layout.micro_batches * layout.interleave))


def layers_of(shape, layout):
    """Layers of each piece in order, pipeline * interleave of them: as given, or as even as can be.

    The remainder goes one each to the pieces behind the first, which has the embedding already.

    Args:
        shape: a `Transformer`.
        layout: a `Layout`.

    Returns:
        A tuple of whole numbers that sum to n_layers.

    >>> from lib.architecture import model
    >>> from lib.layout.degrees import Layout
    >>> layers_of(model("llama-3.1-405b"), Layout(pipeline=16, micro_batches=16))[:3]
    (7, 8, 8)
    """
    if layout.layers_per_stage is not None:
        return layout.layers_per_stage
    pieces = layout.pipeline * layout.interleave
    even, more = divmod(shape.n_layers, pieces)
    return tuple(even + (0 < place <= more) for place in range(pieces))


def place(shape, layout):
    """The pipeline stages of a model under a layout, each with its layers, tables and waiting micro-batches.

    Args:
        shape: a `Transformer`.
        layout: a `Layout`.

    Returns:
        A tuple of `Stage`, in order.

    Raises:
        TypeError: for what is neither.
        ValueError: if the layout cannot be had with the model; see `check_layout`.

    >>> from lib.architecture import model
    >>> from lib.layout.degrees import Layout
    >>> stages = place(model("llama-3-70b"), Layout(pipeline=4, micro_batches=8, layers_per_stage=(19, 20, 21, 20)))
    >>> [(stage.n_layers, stage.waiting) for stage in stages]
    [(19, 4.0), (20, 3.0), (21, 2.0), (20, 1.0)]
    """
    check_layout(shape, layout)
    pieces = layers_of(shape, layout)
    return tuple(
        Stage(
            index=index,
            pieces=pieces[index :: layout.pipeline],
            first_layer=sum(pieces[:index]),
            first=index == 0,
            last=index == layout.pipeline - 1,
            waiting=_waiting(index, layout),
        )
        for index in range(layout.pipeline)
    )
