"""A training log that no cluster wrote: for examples and tests, with the faults that it is told to have."""

import json
import math
import random
from datetime import datetime

from lib import check
from lib.description import Expectations, RunDescription
from lib.scaling import law

START = "2026-11-30T12:00:00+00:00"
LOST_STEPS, DOWN_SECONDS = 300, 2 * 3600.0  # done again, and standing still, after a killed node
_NOISE = 0.004  # of the loss from line to line, nats per token
_UNEVEN = 0.01  # of the time of a step
_SPIKE, _BACK = 1.5, 20  # nats per token, gone again in so many lines


def made_up(run, last_step, every=50, killed_at=None, slower=0.0, spike_at=None, seed=0):
    """JSON lines of a run's first steps, as planned but for what is planted.

    Args:
        run: a `RunDescription`: speed, batch and law are its own.
        last_step: where the log ends, a whole number of at least 1.
        every: steps from line to line, likewise.
        killed_at: a step at which a node dies; 300 steps are done again after two hours. None for never.
        slower: share by which each step takes longer from then on, 0 or more.
        spike_at: a step at which the loss jumps by 1.5 nats, to come back in twenty lines; None for never.
        seed: of the noise, a whole number of at least 0.

    Returns:
        Bytes, as `lib.logs.parse` reads them.

    Raises:
        TypeError, ValueError: for a value of the wrong kind or out of range.

    >>> from lib.description import parse
    >>> text = 'tokens = "1T"\\n[model]\\nname = "llama-3-8b"\\n[cluster]\\naccelerator = "h100"\\nn_gpus = 64'
    >>> made_up(parse(text), 100).count(b"step_time")
    2
    """
    check.instance(RunDescription, run=run)
    check.integer(last_step=last_step, every=every)
    check.natural(seed=seed)
    check.scalar(slower=slower)
    check.non_negative(slower=slower)
    for name, step in (("killed_at", killed_at), ("spike_at", spike_at)):
        if step is not None:
            check.integer(**{name: step})
    told = _Teller(run, every, random.Random(seed), spike_at)
    told.steps(every, last_step if killed_at is None else min(killed_at, last_step), 1.0)
    if killed_at is not None and killed_at < last_step:
        told.clock += DOWN_SECONDS
        told.steps(max(1, (killed_at - LOST_STEPS) // every + 1) * every, last_step, 1.0 + slower)
    return "".join(told.lines).encode()


class _Teller:
    """The clock, and the lines so far."""

    def __init__(self, run, every, draw, spike_at):
        self.run, self.every, self.draw, self.spike_at = run, every, draw, spike_at
        self.usual = run.batch_tokens / Expectations(run=run).tokens_per_second.value
        self.law, self.size = law(run.law_name), float(run.shape.n_params_active)
        self.clock, self.lines = datetime.fromisoformat(START).timestamp(), []

    def steps(self, first, last, longer):
        for step in range(first, last + 1, self.every):
            seconds = self.usual * longer * (1 + _UNEVEN * self.draw.gauss(0, 1))
            self.clock += seconds * self.every
            known = {"step": step, "loss": self._loss(step), "step_time": seconds, "timestamp": self.clock}
            self.lines.append(json.dumps(known | {"grad_norm": 0.3 + 0.02 * self.draw.random()}) + "\n")

    def _loss(self, step):
        at_start = math.log(self.run.shape.vocab_size)
        loss = min(at_start, self.law.loss(self.size, step * self.run.batch_tokens)) + _NOISE * self.draw.gauss(0, 1)
        since = math.inf if self.spike_at is None else (step - self.spike_at) / self.every
        return loss + (_SPIKE * (1 - since / _BACK) if 0 <= since < _BACK else 0.0)
