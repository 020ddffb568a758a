"""The ten items of a readiness review: what each asks for, and which measurements verify it."""

from dataclasses import dataclass
from types import MappingProxyType

from lib import check

# What every item needs: who answers for it, who signed it, when, and for which description.
ALWAYS = ("statement", "owner", "signed", "date", "run_digest")
DOCUMENT = ("artefact", "sha256")
FIELDS = (*ALWAYS, "threshold", *DOCUMENT, "revision", "escalation", "approved_gpu_hours")


@dataclass(frozen=True, kw_only=True)
class Item:
    """One item of the review.

    Args:
        key: its section in the file.
        label: what it asks for.
        needs: fields beside `ALWAYS` without which it is only stated.
        measures: (rung, quantity) pairs that the evidence must hold inside their thresholds.

    Raises:
        TypeError, ValueError: for a value of the wrong kind, a field that is none.
    """

    key: str
    label: str
    needs: tuple[str, ...] = ()
    measures: tuple[tuple[int, str], ...] = ()

    def __post_init__(self):
        check.fields(self, text="key label")
        check.instance(tuple, needs=self.needs, measures=self.measures)
        for name in self.needs:
            check.choice(FIELDS, needs=name)

    @property
    def required(self):
        """Every field that it needs, in the order of the file."""
        return tuple(name for name in FIELDS if name in (*ALWAYS, *self.needs))


# Seed document 004, training readiness review, in its order.
ITEMS = MappingProxyType(
    {
        item.key: item
        for item in (
            Item(key="configs", label="configs and code revision captured", needs=(*DOCUMENT, "revision")),
            Item(key="manifests", label="manifests of source and processed data signed off", needs=DOCUMENT),
            Item(key="tokenizer", label="tokenizer checksum and test vectors recorded", needs=DOCUMENT),
            Item(
                key="batches",
                label="sample batches decoded and inspected",
                measures=((3, "batches_inspected"), (3, "decoded_differences")),
            ),
            Item(
                key="contamination",
                label="contamination and prompt versions documented",
                needs=(*DOCUMENT, "threshold"),
            ),
            Item(
                key="measured",
                label="memory and throughput measured on the target hardware",
                measures=((3, "memory_over_ledger"), (3, "mfu"), (5, "mfu")),
            ),
            Item(
                key="dashboards",
                label="dashboards of loss scale, gradient norm and update norm tested",
                needs=(*DOCUMENT, "threshold"),
            ),
            Item(
                key="resume",
                label="resume with data position demonstrated",
                measures=((4, "resumed_loss_difference"), (4, "resumed_data_difference")),
            ),
            Item(
                key="stop",
                label="stop conditions, escalation and owners defined",
                needs=(*DOCUMENT, "threshold", "escalation"),
            ),
            Item(key="budget", label="cost and capacity buffer approved", needs=(*DOCUMENT, "approved_gpu_hours")),
        )
    }
)
