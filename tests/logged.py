"""Logs for tests, written here in the forms of the frameworks: a run of a given course told in each of them."""

import csv
import io
import json
import math
import random
import struct
from dataclasses import dataclass, replace
from datetime import UTC, datetime

T0 = datetime(2026, 11, 29, 12, tzinfo=UTC).timestamp()


@dataclass(frozen=True)
class Told:
    """One step as a test wants it told."""

    step: int
    loss: float = 2.5
    seconds: float = 2.0
    time: float = T0
    grad_norm: float = 0.5


def run(n=60, seconds=2.0, loss=lambda step: 2.0 + 8.0 * step**-0.3, noise=0.0, seed=0, first=1, start=T0):
    """Steps one after the other, each as long as it is said to be."""
    draw, time, made = random.Random(seed), start, []
    for step in range(first, first + n):
        took = seconds(step) if callable(seconds) else seconds
        time += took
        made.append(Told(step, loss(step) + noise * draw.gauss(0, 1), took, time, 0.5 + 0.01 * draw.random()))
    return made


def moved(steps, seconds):
    """The same, so much later."""
    return [replace(one, time=one.time + seconds) for one in steps]


def _day(time, form="%Y-%m-%d %H:%M:%S"):
    return datetime.fromtimestamp(time, UTC).strftime(form)


def json_lines(steps, **more):
    """JSON lines, with `more` in each."""
    lines = [
        json.dumps(
            {"step": s.step, "loss": s.loss, "step_time": s.seconds, "timestamp": s.time, "grad_norm": s.grad_norm}
            | more
        )
        for s in steps
    ]
    return "".join(f"{line}\n" for line in lines)


def table(steps):
    """Comma-separated, as people write it."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["Step", "train_loss", "step_time_ms", "timestamp", "grad_norm"])
    writer.writerows([s.step, s.loss, 1000 * s.seconds, s.time, s.grad_norm] for s in steps)
    return out.getvalue()


def wandb(steps):
    """The export of a panel."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(["Step", *(f"big-run-7 - train/loss{end}" for end in ("", "__MIN", "__MAX"))])
    writer.writerows([s.step, s.loss, s.loss, s.loss] for s in steps)
    return out.getvalue()


def trainer_state(steps):
    """The state of a Hugging Face Trainer, an evaluation and its last summary among the records."""
    history = [
        {"epoch": 0.1, "grad_norm": s.grad_norm, "learning_rate": 3e-4, "loss": s.loss, "step": s.step} for s in steps
    ]
    last = steps[-1].step
    history.append(
        {"epoch": 0.1, "eval_loss": 2.4, "eval_runtime": 12.5, "eval_samples_per_second": 80.0, "step": last}
    )
    history.append({"epoch": 0.1, "step": last, "total_flos": 1e18, "train_loss": 3.3, "train_runtime": 120.0})
    state = {"best_metric": None, "epoch": 0.1, "global_step": last, "log_history": history, "logging_steps": 1}
    return json.dumps(state, indent=2)


def megatron(steps, batch=512):
    """Lines of Megatron-LM's training_log, with what it prints around them."""
    lines = ["> setting tensorboard ...", f"[before the start of training step] datetime: {_day(steps[0].time - 60)} "]
    for s in steps:
        lines.append(
            f" [{_day(s.time)}] iteration {s.step:8d}/{100000:8d} | consumed samples: {s.step * batch:12d} | elapsed "
            f"time per iteration (ms): {1e3 * s.seconds:.1f} | throughput per GPU (TFLOP/s/GPU): 402.1 | learning "
            f"rate: 3.000000E-04 | global batch size: {batch:5d} | lm loss: {s.loss:.6E} | loss scale: 1.0 | grad "
            f"norm: {s.grad_norm:.3f} | number of skipped iterations:   0 | number of nan iterations: {0:3d} |"
        )
    return "".join(f"{line}\n" for line in lines)


def torchtitan(steps, tps=7512):
    """Lines of torchtitan with its colours."""
    head = "[titan] {} - root - INFO - "
    lines = [head.format(_day(T0) + ",000") + "CUDA capacity: NVIDIA H100 80GB HBM3 with 79.11GiB memory"]
    for s in steps:
        stamp = _day(s.time) + f",{int(1000 * (s.time % 1)):03d}"
        lines.append(
            head.format(stamp)
            + f"\x1b[31mstep: {s.step:2}  \x1b[32mloss: {s.loss:7.4f}  \x1b[38;2;180;60;0mgrad_norm: "
            f"{s.grad_norm:7.4f}  \x1b[38;2;54;234;195mmemory: 46.51GiB(58.79%)  \x1b[34mtps: {tps:,}  \x1b[36mtflops: "
            f"435.01  \x1b[35mmfu: 43.99%\x1b[39m"
        )
    return "".join(f"{line}\n" for line in lines)


def maxtext(steps, tokens=3276.8):
    """Lines of MaxText's metric logger."""
    lines = ["Memstats: After params initialized:"]
    lines += [
        f"completed step: {s.step}, seconds: {s.seconds:.3f}, TFLOP/s/device: 212.301, Tokens/s/device: {tokens:.3f}, "
        f"total_weights: 65536, loss: {s.loss:.3f}"
        for s in steps
    ]
    return "".join(f"{line}\n" for line in lines)


def event_file(steps, tensors=False):
    """A TensorBoard event file, framed here and made of the package's own events."""
    from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2
    from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c

    events = [event_pb2.Event(wall_time=T0, file_version="brain.Event:2")]
    for s in steps:
        for tag, number in (("loss_metrics/global_avg_loss", s.loss), ("grad_norm", s.grad_norm)):
            tensor = {"tensor": tensor_pb2.TensorProto(dtype=1, float_val=[number])}
            value = summary_pb2.Summary.Value(tag=tag, **(tensor if tensors else {"simple_value": number}))
            events.append(event_pb2.Event(wall_time=s.time, step=s.step, summary=summary_pb2.Summary(value=[value])))
    parts = (part for event in events for data in [event.SerializeToString()] for part in (_length(data), data))
    return b"".join(part + struct.pack("<I", masked_crc32c(part)) for part in parts)


def _length(data):
    return struct.pack("<Q", len(data))


TEXTS = {
    "JSON lines": json_lines,
    "CSV": table,
    "Hugging Face trainer_state.json": trainer_state,
    "Megatron-LM": megatron,
    "torchtitan": torchtitan,
    "MaxText": maxtext,
}


def is_close(one, other, digits=6):
    """Whether two numbers agree to so many digits after the point; two that are none agree."""
    return (math.isnan(one) and math.isnan(other)) or abs(one - other) < 10**-digits
