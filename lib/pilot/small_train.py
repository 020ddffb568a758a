"""Makes the small runs: trains each with AdamW and a cosine, and writes its log. Minutes on two cores."""

import os
import time
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import optax

from lib import check, whole_files
from lib.pilot import small_runs, words
from lib.pilot.model import loss
from lib.pilot.small_logs import Log, parse_log
from lib.pilot.small_runs import SEQ_LEN, SEQUENCES, SmallRun, transferred
from lib.pilot.step import adamw, start, step

_PRECISION = "fp32"
_WARMUP_SHARE, _END_SHARE = 0.1, 0.1
_LINES = 20  # of a log, about
_EVAL_SEED, _EVAL_BATCHES, _EVAL_SEQUENCES = 1_000_003, 12, 250  # 240,000 tokens that nobody trains on


def train(run):
    """Train a small run to its end, and evaluate it.

    Args:
        run: a `SmallRun`.

    Returns:
        A `Log`.
    """
    began = time.monotonic()
    weights, lines = trained(run)
    found = round(evaluate(weights, run.shape), 5)
    return Log(head=run.head, steps=tuple(lines), eval_loss=found, seconds=round(time.monotonic() - began, 1))


def trained(run, most_steps=None):
    """The weights after so many steps, and the lines of the log on the way.

    Args:
        run: a `SmallRun`.
        most_steps: stop there, for a look at the beginning; None for all.
    """
    check.instance(SmallRun, run=run)
    rate = schedule(run)
    optimizer = adamw(run.shape, rate)
    state = jax.jit(partial(start, run.shape, optimizer, _PRECISION))(jax.random.key(run.seed))
    one = jax.jit(partial(step, shape=run.shape, optimizer=optimizer, precision=_PRECISION), donate_argnums=0)
    lines, last = [], run.steps if most_steps is None else min(most_steps, run.steps)
    every = max(1, run.steps // _LINES)
    for number in range(1, last + 1):
        tokens, targets, _ = words.word_batch(run.seed, (number - 1) * SEQUENCES, SEQUENCES, SEQ_LEN)
        state, nats = one(state, (jnp.array(tokens), jnp.array(targets)))
        if number <= 2 or number % every == 0 or number == last:
            lines.append(_line(number, nats, rate))
    return state.weights, lines


def schedule(run):
    """The learning rate at each step: warm-up over a tenth, a cosine to a tenth of the peak.

    Args:
        run: a `SmallRun`.
    """
    check.instance(SmallRun, run=run)
    warmup = max(1, int(_WARMUP_SHARE * run.steps))
    return optax.warmup_cosine_decay_schedule(0.0, run.peak_lr, warmup, run.steps, _END_SHARE * run.peak_lr)


def _line(number, nats, rate):
    seen = {"step": number, "tokens": number * SEQUENCES * SEQ_LEN}
    return seen | {"loss": round(float(nats), 5), "lr": float(f"{float(rate(number - 1)):.6g}")}


def evaluate(weights, shape):
    """The loss on text that nobody trains on: the entropy, plus what a model loses beyond the source itself.

    The source's own nats on the same words go off, and with them the luck of the draw.

    Args:
        weights: as `lib.pilot.model.initialise` makes them.
        shape: the `Transformer` they were made for.
    """
    lost = jax.jit(lambda weights, tokens, targets: loss(weights, shape, tokens, targets))
    beyond = 0.0
    for number in range(_EVAL_BATCHES):
        place = number * _EVAL_SEQUENCES
        tokens, targets, nats = words.word_batch(_EVAL_SEED, place, _EVAL_SEQUENCES, SEQ_LEN)
        beyond += float(lost(weights, jnp.array(tokens), jnp.array(targets))) - nats
    return words.entropy() + beyond / _EVAL_BATCHES


def make(folder, say=lambda line: None):
    """Make all small runs; a log that is there and whole is kept, so that an interrupted making goes on.

    Args:
        folder: where the logs go; made where there is none.
        say: is given a line for each run.

    Returns:
        A list of `Log`, in the order in which they were made.
    """
    os.makedirs(folder, exist_ok=True)
    tuned = [SmallRun(width=small_runs.TUNED_WIDTH, peak_lr=rate, role="tuning") for rate in small_runs.RATES]
    logs = [_made(folder, run, say) for run in tuned]
    base = min(logs, key=lambda log: log.eval_loss).head["peak_lr"]
    runs = [transferred(base, width) for width in small_runs.WIDTHS]
    runs += [transferred(factor * base, small_runs.CHECKED_WIDTH, "check") for factor in (0.5, 2.0)]
    runs.append(transferred(base, small_runs.HELD_WIDTH, "held out"))
    return [*logs, *(_made(folder, run, say) for run in runs)]


def _made(folder, run, say):
    path = Path(folder) / run.file
    if path.exists():
        log, how = parse_log(whole_files.read_text(str(path)), path.name), "is there"
        if log.head != run.head:
            raise ValueError(f"{path}: the log of another run; move it away")
    else:
        log = train(run)
        whole_files.write_text(str(path), log.to_text())
        how = f"{log.seconds:.0f} s"
    say(f"{run.file}: {run.shape.n_params:,} parameters, {run.n_tokens:,} tokens, loss {log.eval_loss:.4f}; {how}")
    return log
