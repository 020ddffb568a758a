"""Lines that Megatron-LM, torchtitan and MaxText print, read by what they say.

Sources, read in the frameworks' own files in November 2026:
    Megatron-LM, megatron/training/training.py, training_log: "iteration N/ M | consumed samples: ... | elapsed time
        per iteration (ms): ... | ... lm loss: ... | ... grad norm: ... | number of nan iterations: ... |", its interval
        timer stops while it evaluates and saves; checkpointing.py: "saving checkpoint at iteration", "successfully
        saved checkpoint from iteration"; timers.py: "save-checkpoint ....: (min, max)" in ms.
    torchtitan, torchtitan/components/metrics.py: "step: ... loss: ... grad_norm: ... memory: ... tps: ... tflops: ...
        mfu: ...", coloured; tps is tokens per second of one device; tools/logging.py: the head of a line;
        components/checkpoint.py: "Finished saving the checkpoint in ... seconds".
    MaxText, MaxText/metric_logger.py: "completed step: ..., seconds: ..., TFLOP/s/device: ..., Tokens/s/device: ...,
        total_weights: ..., loss: ..."; checkpointing.py: "Started an asynchronous checkpoint save for step".
"""

import re

from lib.logs.entries import CHECKPOINT, EVALUATION, START, Entry, Event
from lib.logs.fields import number
from lib.logs.times import stamp_of

NOTHING = (None, (), "")
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_RANK = re.compile(r"^\s*(?:\[rank(\d{1,9})\]|(\d{1,9})): ?")  # torchrun's and srun's labels
_NUMBER = r"(-?(?:\d[\d,]*\.?\d*(?:[eE][+-]?\d+)?|nan|inf))"
_MILLI = 1e-3
_GIB = 2.0**30

_ITERATION = re.compile(r"\biteration\s+(\d{1,15})\s*/\s*\d+ *\|")
_MEGATRON = {
    "consumed samples": ("samples", 1.0),
    "elapsed time per iteration (ms)": ("seconds", _MILLI),
    "learning rate": ("learning_rate", 1.0),
    "lm loss": ("loss", 1.0),
    "loss": ("loss", 1.0),
    "grad norm": ("grad_norm", 1.0),
    "number of nan iterations": ("nan_steps", 1.0),
    "throughput (token/sec/GPU)": ("tokens_per_second_per_gpu", 1.0),
}
_MEGATRON_PARTS = re.compile(rf"\| +({'|'.join(map(re.escape, _MEGATRON))}): +(\S+) *(?=\|)")
_MEGATRON_EVENTS = (
    (re.compile(r"successfully saved checkpoint from iteration\s+(\d{1,15})"), CHECKPOINT),
    (re.compile(r"validation loss at iteration\s+(\d{1,15})"), EVALUATION),
    (re.compile(r"\[before the start of training step\]()"), START),
)
_MEGATRON_TIMER = re.compile(r"(save-checkpoint|evaluate) \.+: \(?[\d.]+(?:, ([\d.]+)\))?")

_TITAN = re.compile(rf"(?<!validate )\bstep: *(\d{{1,15}}) +loss: *{_NUMBER}(.*)")
_TITAN_REST = re.compile(rf"(grad_norm|memory|tps): *{_NUMBER}", re.IGNORECASE)
_TITAN_FIELDS = {
    "grad_norm": ("grad_norm", 1.0),
    "memory": ("reserved_bytes", _GIB),
    "tps": ("tokens_per_second_per_gpu", 1.0),
}
_TITAN_SAVED = re.compile(r"Finished saving the checkpoint in ([\d.]+) ?s", re.IGNORECASE)
_TITAN_EVALUATED = re.compile(r"validate step: *(\d{1,15})")
_TITAN_START = re.compile(r"Training starts at step (\d{1,15})")

_MAXTEXT = re.compile(rf"completed step: (\d{{1,15}}), seconds: {_NUMBER}(.*)")
_MAXTEXT_REST = re.compile(rf"(Tokens/s/device|(?<![\w-])loss): {_NUMBER}")
_MAXTEXT_FIELDS = {"Tokens/s/device": "tokens_per_second_per_gpu", "loss": "loss"}
_MAXTEXT_SAVED = re.compile(r"(?:Started an asynchronous checkpoint save for|Saved a checkpoint at) step (\d{1,15})")
_MAXTEXT_EVALUATED = re.compile(
    r"(?:eval metrics after step:|Completed eval after train step) (\d{1,15})", re.IGNORECASE
)

DEVICE = re.compile(r"capacity: (.+?) with [\d.]+GiB memory")  # torchtitan's components/metrics.py


def _bare(text):
    """A line without its colours, and the rank that stands before it."""
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    found = _RANK.match(text)
    return (text, None) if found is None else (text[found.end() :], int(found[1] or found[2]))


def megatron(line, text):
    """The entry, the events and what is wrong in a line of Megatron-LM.

    Args:
        line: its number.
        text: the line.

    >>> megatron(7, " iteration 20/ 100 | elapsed time per iteration (ms): 512.0 | lm loss: 2.5E+00 |")[0].seconds
    0.512
    """
    if "iteration" not in text and "..: " not in text and "[before the start" not in text:
        return NOTHING
    text, rank = _bare(text)
    found = _ITERATION.search(text)
    if found is None:
        return None, _megatron_events(line, text), ""
    fields = {}
    for name, value in _MEGATRON_PARTS.findall(text, found.end() - 1):
        field, factor = _MEGATRON[name]
        amount = number(value)
        if amount is not None:
            fields[field] = amount * factor
    wrong = "" if text.rstrip().endswith("|") else "the line is cut off"
    return Entry(line, int(found[1]), time=stamp_of(text[: found.start()]), rank=rank, **fields), (), wrong


def _megatron_events(line, text):
    timer = _MEGATRON_TIMER.search(text)
    if timer:
        kind = CHECKPOINT if timer[1] == "save-checkpoint" else EVALUATION
        milliseconds = number(timer[2] or timer[0].rpartition(" ")[2].strip("()"))
        return (Event(line, kind, None, milliseconds * _MILLI),)
    for pattern, kind in _MEGATRON_EVENTS:
        found = pattern.search(text)
        if found:
            return (Event(line, kind, int(found[1]) if found[1] else None, None, stamp_of(text)),)
    return ()


def torchtitan(line, text):
    """The same for a line of torchtitan.

    Args:
        line, text: as in `megatron`.

    >>> torchtitan(3, "step: 10  loss:  8.1  grad_norm:  1.2  memory: 40.00GiB(50%)  tps: 7,512  mfu: 41%")[0].loss
    8.1
    """
    if "step" not in text and "heckpoint" not in text:
        return NOTHING
    text, rank = _bare(text)
    found = _TITAN.search(text)
    if found is None:
        return None, _titan_events(line, text), ""
    rest = {}
    for name, value in _TITAN_REST.findall(found[3]):
        field, factor = _TITAN_FIELDS[name.lower()]
        amount = number(value)
        if amount is not None:
            rest[field] = amount * factor
    wrong = "" if "tokens_per_second_per_gpu" in rest else "no speed: cut off?"
    time = stamp_of(text[: found.start()])
    return Entry(line, int(found[1]), number(found[2]), time=time, rank=rank, **rest), (), wrong


def _titan_events(line, text):
    saved, evaluated = _TITAN_SAVED.search(text), _TITAN_EVALUATED.search(text)
    started = _TITAN_START.search(text)
    if saved:
        return (Event(line, CHECKPOINT, None, number(saved[1]), stamp_of(text)),)
    if evaluated:
        return (Event(line, EVALUATION, int(evaluated[1]), None, stamp_of(text)),)
    return (Event(line, START, int(started[1]), None, stamp_of(text)),) if started else ()


def maxtext(line, text):
    """The same for a line of MaxText.

    Args:
        line, text: as in `megatron`.

    >>> maxtext(3, "completed step: 4, seconds: 2.5, TFLOP/s/device: 200.1, Tokens/s/device: 3276.8, loss: 9.2")[0].loss
    9.2
    """
    if "step" not in text:
        return NOTHING
    text, rank = _bare(text)
    found = _MAXTEXT.search(text)
    if found is None:
        return None, _maxtext_events(line, text), ""
    rest = {}
    for name, value in _MAXTEXT_REST.findall(found[3]):
        rest.setdefault(_MAXTEXT_FIELDS[name], number(value))
    wrong = "" if "loss" in rest else "no loss: cut off?"
    time = stamp_of(text[: found.start()])
    return Entry(line, int(found[1]), seconds=number(found[2]), time=time, rank=rank, **rest), (), wrong


def _maxtext_events(line, text):
    for pattern, kind in ((_MAXTEXT_SAVED, CHECKPOINT), (_MAXTEXT_EVALUATED, EVALUATION)):
        found = pattern.search(text)
        if found:
            return (Event(line, kind, int(found[1]), None, stamp_of(text)),)
    return ()
