"""What is asked of a plan: a cluster, a time, a target; and the two briefs that run through the handbook."""

from dataclasses import dataclass

from lib import check
from lib.architecture import model
from lib.compute import GOODPUT, compute_budget
from lib.corpus import corpus
from lib.hardware import Cluster
from lib.scaling import law

COUNTED_DAYS = ("compute", "calendar")


@dataclass(frozen=True, kw_only=True)
class Brief:
    """What is asked: a cluster, a time, a target.

    Args:
        name: in a few words.
        cluster: a `Cluster`.
        peak_flops: dense bf16 peak of one device that the brief counts with, FLOP/s, > 0.
        mfu: by 6N over that peak, above 0, at most 1; assumed until it is measured.
        days: how long, days, > 0.
        counted_days: what those days are: "compute" (the job makes progress all the time) or "calendar" (failures and
            restarts take their part).
        goodput: share of calendar time that makes progress, above 0, at most 1.
        model: a released model whose shape is taken; "" leaves the size to 20 tokens a parameter.
        loss_at_most: nats per token under `law_name`, > 0; None asks for none.
        gb_per_gpu_at_most: GB, > 0; None asks for none.
        law_name: the law that predicts the loss.
        corpus_name: what it reads.
        seq_len: tokens in a sequence, a whole number of at least 1.

    Raises:
        TypeError, ValueError: for a value of the wrong kind or out of range.
    """

    name: str
    cluster: Cluster
    peak_flops: float
    mfu: float
    days: float
    counted_days: str = "compute"
    goodput: float = GOODPUT
    model: str = ""
    loss_at_most: float | None = None
    gb_per_gpu_at_most: float | None = None
    law_name: str = "Besiroglu 2024"
    corpus_name: str = "The Pile"
    seq_len: int = 4096

    def __post_init__(self):
        check.fields(self, positive="peak_flops days loss_at_most gb_per_gpu_at_most", fraction="mfu goodput")
        check.fields(self, text="name model")
        check.instance(Cluster, cluster=self.cluster)
        check.choice(COUNTED_DAYS, counted_days=self.counted_days)
        check.integer(seq_len=self.seq_len)
        law(self.law_name)
        corpus(self.corpus_name)
        if self.model:
            model(self.model)

    @property
    def compute_flops(self):
        """What the cluster gives if every day of the brief computes  [FLOP].

        >>> f"{A100_FORTNIGHT.compute_flops:.3g}, {H100_MONTH.compute_flops:.3g}"
        '2.17e+22, 2.1e+24'
        """
        return compute_budget(self.cluster.n_gpus, self.days, self.peak_flops, self.mfu)

    @property
    def useful_flops(self):
        """What it gives in the days as the brief means them  [FLOP]."""
        return self.compute_flops * (self.goodput if self.counted_days == "calendar" else 1.0)


# Seed document 000: two weeks, and 312 TFLOP/s is the A100's dense peak.
A100_FORTNIGHT = Brief(
    name="128 A100s, two weeks",
    cluster=Cluster(accelerator="A100 80GB SXM", n_gpus=128),
    peak_flops=312e12,
    mfu=0.45,
    days=14,
)

# Seed document 003: at most 30 days. It divides by 989 TFLOP/s where the data sheet's half is 989.4.
H100_MONTH = Brief(
    name="2,048 H100s, a month",
    cluster=Cluster(accelerator="H100 SXM", n_gpus=2048),
    peak_flops=989e12,
    mfu=0.40,
    days=30,
    counted_days="calendar",
    model="llama-3-70b",
    loss_at_most=1.955,
    gb_per_gpu_at_most=72,
    law_name="Besiroglu 2024, rounded",
    corpus_name="FineWeb",
    seq_len=8192,
)
