"""Memory over one training step: what a GPU holds while a micro-batch goes forward, through the loss, and back."""

from dataclasses import dataclass

from lib import check
from lib.memory import events, rank, resident, stored
from lib.memory.about import GROUPS, about
from lib.memory.entries import PHASES, StageLedger


@dataclass(frozen=True, kw_only=True)
class Moment:
    """What is allocated at one moment of a step.

    Args:
        name: the moment, such as "forward, layer 3".
        by_group: group of terms -> bytes allocated.
    """

    name: str
    by_group: dict

    def __post_init__(self):
        check.text(name=self.name)
        check.instance(dict, by_group=self.by_group)

    @property
    def bytes(self):
        """All groups together."""
        return sum(self.by_group.values())


def timeline(found):
    """The moments of one step on one GPU, while as many passes wait for their backward as ever do.

    The micro-batch that is shown comes last: the others have left their activations. Each layer of the stage adds its
    own, backward takes them away in turn. By what the allocator has given out: what it keeps besides is left out.

    Args:
        found: a `StageLedger`.

    Returns:
        A tuple of `Moment`: the start, each layer forward, the last one's experts, the events of the loss where the
        stage has them, each layer backward, the end of backward, the optimizer step.

    Raises:
        TypeError: for what is no `StageLedger`.
        ValueError: for a profile that has no moments (the seed's simple one).

    >>> from lib.architecture import model
    >>> from lib.layout import Layout
    >>> from lib.memory import ledger, profile
    >>> moments = timeline(ledger(model("gpt2"), Layout(micro_batch=8), profile("torchtitan")).heaviest)
    >>> max(moments, key=lambda moment: moment.bytes).name
    'loss, backward'
    """
    check.instance(StageLedger, found=found)
    if found.profile.simple:
        raise ValueError(
            f"found.profile = {found.profile.name}: one that knows the moments of a step, such as torchtitan"
        )
    return tuple(_moments(found))


def _moments(found):
    r, n = found.rank, found.stage.n_layers
    before = r.part.waiting - 1.0
    forward = rank.gradient_share(r, rank.EVENTS[0])
    yield _moment("start", r, forward, before)
    for layer in range(1, n + 1):
        yield _moment(f"forward, layer {layer}", r, forward, before + layer / n)
    for event in sorted(found.event_bytes, key=rank.EVENTS[-1].__ne__):
        if event in rank.OF_THE_LOSS or event == rank.EVENTS[-1]:
            yield _moment(event, r, forward, r.part.waiting, events.of_event(r, event))
    for layer in range(n, 0, -1):
        event, share = rank.EVENTS[3], _reduced(forward, n, layer)
        yield _moment(f"backward, layer {layer}", r, share, before + layer / n, events.of_event(r, event))
    yield _moment(rank.EVENTS[4], r, 1, before, events.of_event(r, rank.EVENTS[4]))
    yield _moment(PHASES[2], r, 1, 0.0, resident.step_extra(r))


def _reduced(forward, n, layer):
    """The share of the gradients that there is when backward reaches a layer: those of the layers behind it."""
    return forward if forward else (n - layer) / n


def _moment(name, r, gradients, passes, others=()):
    products = (*resident.states(r, gradients=gradients), *resident.constant(r), *stored.stored(r, passes), *others)
    found = dict.fromkeys(GROUPS, 0.0)
    for product in products:
        found[about(product.name).group] += product.value
    return Moment(name=name, by_group={group: total for group, total in found.items() if total})
