"""The assignments: one for each part of the book, five to eight questions each."""

from dataclasses import dataclass
from types import MappingProxyType

from lib import check
from lib.exercises.catalogue import QUESTIONS
from lib.exercises.questions import PARTS


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """Questions that are handed out and graded together.

    Args:
        name: of its file.
        title: a few words.
        part: the part of the book that it belongs to.
        intro: what it is about, in a sentence or two.
        names: of its questions, in order.

    Raises:
        TypeError, ValueError: for a field that is not of its kind, a name that is no question's.
    """

    name: str
    title: str
    part: str
    intro: str
    names: tuple[str, ...]

    def __post_init__(self):
        check.fields(self, text="name title intro")
        check.choice(tuple(PARTS.values()), part=self.part)
        check.several(names=self.names)
        for name in self.names:
            check.choice(tuple(QUESTIONS), names=name)

    @property
    def questions(self):
        """Its questions, in order."""
        return tuple(QUESTIONS[name] for name in self.names)

    @property
    def points(self):
        """Of all questions together."""
        return sum(asked.points for asked in self.questions)

    @property
    def minutes(self):
        """Expected time of all questions together."""
        return sum(asked.minutes for asked in self.questions)


def assignment(name):
    """An assignment by its name, whatever its case, spaces, hyphens and underscores.

    Args:
        name: such as "compute".

    Raises:
        TypeError, ValueError: for what is no name of an assignment; the nearest is offered.

    >>> assignment("Compute").points
    16
    """
    return check.lookup(ASSIGNMENTS, assignment=name)


def _row(name, title, intro, names):
    return name, Assignment(name=name, title=title, part=name.title(), intro=intro, names=tuple(names.split()))


ASSIGNMENTS = MappingProxyType(
    dict(
        (
            _row(
                "start",
                "From a cluster to a model",
                "What a cluster gives in a time, which model that is enough for, and what fits into the calendar.",
                "compute_budget tokens_each_gets balanced_params days_on_calendar run_in_time",
            ),
            _row(
                "compute",
                "Compute and scaling laws",
                "The four functions of a first plan, what an MFU counts, and which model a law would choose.",
                "train_flops chinchilla_optimal training_days model_flops_utilization palm_mfu growth faster_offer "
                "model_for_loss",
            ),
            _row(
                "memory",
                "Memory, and a run against its brief",
                "What ZeRO splits, what recomputation keeps, how many GPUs hold a model; at the end a whole run is "
                "sized.",
                "bytes_each state_gb layer_inputs_gb fewest_gpus zero_stage_to_take design_for_brief",
            ),
            _row(
                "recipe",
                "Batch, schedule, learning rate",
                "How a run's steps, batch and learning rate follow from its size, its tokens and its devices.",
                "steps_of_run nearest_batch cosine_lr hidden_lr batch_to_take",
            ),
            _row(
                "operations",
                "From the pilot to the start",
                "What a pilot measures, what failures cost, what must be approved, and what the plan makes of it.",
                "loss_at_start hours_between_interruptions spare_nodes gpu_hours_to_approve item_to_start_with "
                "tokens_to_train",
            ),
        )
    )
)
