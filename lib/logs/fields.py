"""What trainers call the numbers of a step, and the units that they write them in."""

import math
import re
from functools import lru_cache

from lib import check
from lib.logs.entries import CHECKPOINT, EVALUATION, Entry, Event
from lib.logs.times import seconds_of_day

_MILLI = 1e-3
_GIB = 2.0**30
# Plain spelling -> (field, factor). Seen in: transformers' Trainer (step, loss, grad_norm, learning_rate,
# num_input_tokens_seen), torchtitan's components/metrics.py (loss_metrics/global_avg_loss, throughput(tps) of one GPU,
# time_metrics/end_to_end(s), memory/max_reserved(GiB)), MaxText's metric_logger.py (learning/loss,
# perf/step_time_seconds, perf/per_device_tokens_per_sec), Megatron-LM's training.py (lm loss, iteration-time,
# grad-norm, learning-rate), Lightning (train_loss, trainer/global_step), Weights & Biases' export (_step, _timestamp).
_SPELLINGS = {
    "step": ("step _step global_step trainer/global_step train/global_step iteration iter iter_num train_step", 1),
    "loss": (
        "loss train_loss train/loss training_loss lm_loss lm loss train/lm_loss loss_metrics/global_avg_loss "
        "global_avg_loss learning/loss train/lossavg metrics/loss",
        1,
    ),
    "seconds": (
        "seconds step_seconds step_time step_time_s step_time_seconds seconds_per_step time_per_step iteration-time "
        "iteration_time perf/step_time_seconds time_metrics/end_to_end(s) sec_per_step train/step_time",
        1,
    ),
    "seconds_ms": (
        "step_time_ms ms_per_step iteration_time_ms elapsed_time_per_iteration(ms) step_ms iter_time_ms",
        _MILLI,
    ),
    "time": ("time timestamp _timestamp wall_time walltime date datetime time_utc ts", 1),
    "tokens_per_second": ("tokens_per_second tokens/s tokens_per_sec tok/s tokens_s total_tps throughput_tokens", 1),
    "tokens_per_second_per_gpu": (
        "tokens_per_second_per_gpu tokens/s/gpu tokens/s/device tokens_per_sec_per_gpu tps throughput(tps) "
        "perf/per_device_tokens_per_sec tokens_per_gpu_per_second tokens_per_device_per_second tgs",
        1,
    ),
    "tokens": (
        "tokens n_tokens num_tokens tokens_seen ntokens_seen n_tokens_seen num_input_tokens_seen consumed_tokens "
        "total_tokens train/tokens_seen",
        1,
    ),
    "samples": ("samples consumed_samples consumed_train_samples samples_seen n_samples", 1),
    "grad_norm": ("grad_norm grad-norm gradient_norm gnorm train/grad_norm learning/grad_norm optim/grad_norm", 1),
    "learning_rate": (
        "learning_rate learning-rate lr train/learning_rate train/lr learning/current_learning_rate optim/lr",
        1,
    ),
    "data_seconds": (
        "data_seconds data_time data_loading_seconds time_metrics/data_loading(s) data_wait_seconds dataloader_time",
        1,
    ),
    "reserved_bytes": ("reserved_bytes max_reserved_bytes memory_reserved_bytes", 1),
    "reserved_gib": ("memory/max_reserved(gib) max_reserved_gib", _GIB),
    "rank": ("rank global_rank process_index", 1),
    "nan_steps": ("nan_steps nan_iterations", 1),
}
_UNITS = {"seconds_ms": "seconds", "reserved_gib": "reserved_bytes"}
_PLAIN = str.maketrans("", "", " _-")


def _plain(name):
    return name.lower().translate(_PLAIN)


_FIELDS = {}
for _field, (_names, _factor) in _SPELLINGS.items():
    for _name in _names.split():
        _FIELDS[_plain(_name)] = (_UNITS.get(_field, _field), _factor)
_FIELDS[_plain("lm loss")] = ("loss", 1)

_EVALUATION = re.compile(r"^(eval|val|valid|validation|test)(_metrics)?[/_. ].*|^(eval|val|validation)loss$")
_OF_A_STEP = {"loss", "seconds", "tokens_per_second", "tokens_per_second_per_gpu", "grad_norm", "learning_rate"}
_OF_A_STEP |= {"tokens", "data_seconds"}
_SUMMARY = "train_runtime"  # transformers' last record: its train_loss is the mean of the whole run
_TOOK = {
    "eval_runtime": EVALUATION,
    "eval_seconds": EVALUATION,
    "evaluation_seconds": EVALUATION,
    "checkpoint_seconds": CHECKPOINT,
    "checkpoint_time": CHECKPOINT,
    "save_seconds": CHECKPOINT,
    "save_time": CHECKPOINT,
}


@lru_cache(maxsize=4096)
def field_of(name):
    """The field that a name stands for, with the factor to its unit; None where it stands for none.

    Args:
        name: of a column or key; case, spaces, hyphens and underscores do not matter.

    >>> field_of("Train/Loss"), field_of("step_time_ms"), field_of("colour")
    (('loss', 1), ('seconds', 0.001), None)
    """
    check.text(name=name)
    return _FIELDS.get(_plain(name))


def number(value):
    """A value as a float: numbers, and texts of numbers, NaN and the infinities among them; None for what is none.

    Args:
        value: as a parser gives it.

    >>> number("1,024"), number("NaN"), number(True), number("a")
    (1024.0, nan, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value.replace(",", "") if type(value) is str and "," in value else value)
    except (ValueError, OverflowError):
        return None


@lru_cache(maxsize=4096)
def _meanings(names):
    """Of a record's names: (name, field, factor)s, (name, kind of event)s, and whether it evaluates."""
    told = [(name, *known) for name in names if name.lower() not in _TOOK and (known := field_of(name))]
    took = [(name, _TOOK[name.lower()]) for name in names if name.lower() in _TOOK]
    known = {name for name, *_ in (*told, *took)}
    return tuple(told), tuple(took), any(_EVALUATION.match(name.lower()) for name in names if name not in known)


def entry_of(line, named):
    """The entry of one record.

    Args:
        line: of the file.
        named: name -> value of the record.

    Returns:
        (entry, events, what is wrong): None, () and "" where there is none.
    """
    if _SUMMARY in named:
        return None, (), ""
    told, took, evaluates = _meanings(tuple(named))
    found = {}
    for name, field, factor in told:
        value = named[name]
        if field == "time":
            value = seconds_of_day(value)
        elif type(value) is not float:
            value = number(value)
        if value is not None and field not in found:
            found[field] = value * factor
    return _entry(line, named, found, [(kind, _seconds(named[name])) for name, kind in took], evaluates)


def _seconds(value):
    took = number(value)
    return took if took is not None and 0 <= took < math.inf else None


def _entry(line, named, found, events, evaluates):
    step = found.pop("step", None)
    if evaluates and not any(kind == EVALUATION for kind, _ in events):
        events.append((EVALUATION, None))
    if step is None or not 0 <= step <= check.EXACT or step != int(step):
        told = tuple(Event(line, kind, None, took, found.get("time")) for kind, took in events)
        return None, told, "" if told or not found else "no step that is a whole number"
    told = tuple(Event(line, kind, int(step), took, found.get("time")) for kind, took in events)
    # Evaluation and the summary at the end are records of their own, without what a step has.
    if _OF_A_STEP.isdisjoint(found) and (told or len(named) > 1):
        return None, told, "" if told else "a step without loss, time or speed"
    rank = found.pop("rank", None)
    whole = None if rank is None or not math.isfinite(rank) else int(rank)
    return Entry(line, int(step), rank=whole, **found), told, ""
