"""Times of the memory ledger in CPython. Each function gives (what, value, target, unit) as it is measured."""

import itertools
import time

import numpy as np

from lib.architecture import model
from lib.layout import Layout
from lib.memory import ledger, peak_bytes

MODEL = "llama-3-70b"
ONE = Layout(data=64, tensor=8, zero_stage=1, seq_len=8192, recompute="full")
MANY_STAGES = Layout(data=8, pipeline=80, zero_stage=1, micro_batches=160)


def ledgers():
    """The ledger of one stage with all its lines, of a layout with many stages, and of many layouts as arrays."""
    shape = model(MODEL)
    yield "ledger of one stage, every line", 1e6 * best(lambda: ledger(shape, ONE).heaviest.peak.terms), 200, "us"
    yield "ledger of one stage, bytes", 1e6 * best(lambda: ledger(shape, ONE).peak_bytes), 200, "us"
    yield "ledger of 80 stages", 1e6 * best(lambda: ledger(shape, MANY_STAGES).heaviest.peak.terms), 2000, "us"
    columns = layouts()
    seconds = best(lambda: peak_bytes(shape, **columns), repeats=5)
    yield f"peak of {len(columns['data']):,} layouts, each", 1e6 * seconds / len(columns["data"]), 2, "us"


def layouts():
    """Every combination of some degrees, as columns."""
    choices = {
        "data": (1, 2, 4, 8, 16, 32, 64),
        "tensor": (1, 2, 4, 8),
        "pipeline": (1, 2, 4, 8, 10, 16),
        "micro_batch": (1, 2, 4, 8),
        "micro_batches": (16, 32, 64),
        "zero_stage": (0, 1),
        "context": (1, 2, 4),
    }
    rows = np.array(list(itertools.product(*choices.values())), dtype=float)
    return dict(zip(choices, rows.T.copy(), strict=True))


def best(function, repeats=200):
    """Seconds of processor time of the fastest of five rounds, for one call."""
    function()
    rounds = []
    for _ in range(5):
        start = time.process_time()
        for _ in range(repeats):
            function()
        rounds.append((time.process_time() - start) / repeats)
    return min(rounds)
