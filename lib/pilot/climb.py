"""Climbing rungs 1 to 4 here: each in a process of its own with a time limit, its evidence kept as soon as it is there.

Stopped at any moment, the evidence holds the rungs that were done; started again, only the others are run.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from lib import check
from lib.description import to_toml
from lib.ladder import Evidence, Piece, add, evaluate, read
from lib.ladder.evidence import PLANTED
from lib.ladder.verdicts import Verdict
from lib.pilot.faults import FAULTS
from lib.pilot.pilot import DEVICES, scale_down

MODULES = MappingProxyType({1: "unit", 2: "one_batch", 3: "one_device", 4: "one_node"})  # each has `measure`
TEXT_RUNG = 3  # the one that asks a person to look
LIMIT_SECONDS = 600.0  # of a rung; an idle laptop takes a tenth of it for all four
_NEEDED = ("jax", "optax", "orbax.checkpoint")
_MISSING = 'JAX is missing: pip install "training-run-handbook[pilot]" has what pilots need; the rest works without it'
# Quick code for what hardly runs, faster code for hundreds of steps, the compiler's usual code where speed is measured.
_PLAIN = "--xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1"  # in one piece
_QUICK = f"--xla_backend_optimization_level=0 {_PLAIN}"
_VIRTUAL = f"--xla_force_host_platform_device_count={DEVICES}"
_FLAGS = {1: _QUICK, 2: f"--xla_backend_optimization_level=2 {_PLAIN}", 3: "", 4: f"{_VIRTUAL} {_QUICK}"}
# Neither a word of the compiler's, nor in its programs the lines that each operation comes from.
_QUIET = MappingProxyType({"TF_CPP_MIN_LOG_LEVEL": "3", "JAX_TRACEBACK_IN_LOCATIONS_LIMIT": "0"})
_ON_CPU = (1, 4)  # float64, and virtual devices: whatever else there is


class Step(NamedTuple):
    """A rung that was climbed now, or was before: its number, its verdict, and whether it was run now."""

    number: int
    verdict: Verdict
    is_new: bool


def refuse_without_jax():
    """Refuse to climb where a package is missing; the extra to install is named.

    Raises:
        ModuleNotFoundError: if JAX, Optax or Orbax is not installed.
    """
    for package in _NEEDED:
        if not _is_there(package):
            raise ModuleNotFoundError(_MISSING)


def _is_there(package):
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # of the package around it
        return False


def climb(run, path, numbers, report, *, seed=0, again=False, limit_seconds=LIMIT_SECONDS):
    """Climb rungs in order, until one fails; a `Step` after each.

    Args:
        run: a `RunDescription`; its pilot is that of `lib.pilot.pilot.scale_down`.
        path: of the file of evidence, new or of the same run.
        numbers: rungs, each from 1 to 4.
        report: called with a line of progress now and then.
        seed: of the pilot, a whole number of at least 0.
        again: True to repeat what there is evidence of.
        limit_seconds: after so long a rung's process is ended, > 0.

    Raises:
        TypeError, ValueError: for a value out of range; evidence of another run, or that was edited.
        OSError: if the evidence cannot be written.
        TimeoutError: for a rung that took longer.
        RuntimeError: for a rung whose process broke; its last line is passed on.
    """
    pilot = scale_down(run, seed)
    check.boolean(again=again)
    _check_limit(limit_seconds)
    add(path, run)  # refuses a bad file, or a folder that cannot be written, before any work
    for number in numbers:
        _check_number(number)
        is_new = again or not any(piece.what == pilot.what for piece in read(path).of_rung(number))
        if is_new:
            report(f"rung {number}: a process of its own starts")
            found = _asked({"run": to_toml(run), "rung": number, "seed": seed}, report, limit_seconds)
            add(path, run, _piece(run, number, pilot.what, found))
        verdict = evaluate(run, read(path)).verdicts[number - 1]  # read anew: who climbs may have added a word
        yield Step(number, verdict, is_new)
        if verdict.failures:
            return


def faulty(run, name, numbers, report, *, seed=0, limit_seconds=LIMIT_SECONDS):
    """Climb rungs in order with a planted fault, until one fails; a `Climb` after each.

    Nothing is kept, and no file takes what was measured: it is no evidence of the run.

    Args:
        run, numbers, report, seed, limit_seconds: as in `climb`.
        name: of the fault, in `lib.pilot.faults.FAULTS`.

    Raises:
        TypeError, ValueError, TimeoutError, RuntimeError: as `climb`.
    """
    pilot, pieces = scale_down(run, seed), ()
    check.choice(tuple(FAULTS), plant=name)
    if name == "tied-apart" and not run.shape.tied:
        raise ValueError(f"plant = {name!r}: a fault of a tied model, and the run's has a head of its own")
    _check_limit(limit_seconds)
    for number in numbers:
        _check_number(number)
        report(f"rung {number}: a process of its own starts, with a fault")
        asked = {"run": to_toml(run), "rung": number, "seed": seed, "plant": name}
        pieces += (_of_fault(run, pilot, asked, report, limit_seconds),)
        found = evaluate(run, Evidence(run=run.plain, pieces=pieces))
        yield found
        if found.verdicts[number - 1].failures:
            return


def leaking(run, report, *, seed=0, limit_seconds=LIMIT_SECONDS):
    """Ask rung 1 of a planted "mask-leak", and of the mask alone: seconds, where `faulty` asks everything.

    Args:
        run, report, seed, limit_seconds: as in `climb`.

    Returns:
        A `Climb`; nothing is kept.

    Raises:
        TypeError, ValueError, TimeoutError, RuntimeError: as `climb`.
    """
    pilot = scale_down(run, seed)
    _check_limit(limit_seconds)
    report("rung 1: a process of its own starts, with a fault")
    asked = {"run": to_toml(run), "rung": 1, "seed": seed, "plant": "mask-leak", "part": "mask"}
    return evaluate(run, Evidence(run=run.plain, pieces=(_of_fault(run, pilot, asked, report, limit_seconds),)))


def _of_fault(run, pilot, asked, report, limit_seconds):
    what = f"{PLANTED} {asked['plant']}: {pilot.what}"
    return _piece(run, asked["rung"], what, _asked(asked, report, limit_seconds))


def looked_at(run, path, seen, *, seed=0):
    """Keep in the evidence whether a person who looked at the text of a pilot found what should be trained on.

    Args:
        run: a `RunDescription`.
        path: of the file of evidence.
        seen: True if it is the text to train on, False if it is not.
        seed: of the pilot.

    Returns:
        The verdict of rung 3.

    Raises:
        TypeError, ValueError, OSError: as `climb`.
    """
    check.boolean(seen=seen)
    what = f"a person's word on the text: {scale_down(run, seed).what}"
    piece = _piece(run, TEXT_RUNG, what, {"measured": {"batches_inspected": float(seen)}})
    return evaluate(run, add(path, run, piece)).verdicts[TEXT_RUNG - 1]


def _check_limit(limit_seconds):
    check.scalar(limit_seconds=limit_seconds)
    check.positive(limit_seconds=limit_seconds)


def _check_number(number):
    check.integer(numbers=number)
    check.at_most(max(MODULES), numbers=number)


def _piece(run, number, what, found):
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return Piece(rung=number, what=what, run_digest=run.digest, time=now, **found)


def _asked(asked, report, limit_seconds):
    """What the rung's process says at last; its words of progress are passed on."""
    with tempfile.TemporaryFile("w+") as errors, _process(asked["rung"], errors) as child:
        started, late = time.monotonic(), threading.Timer(limit_seconds, child.kill)
        late.start()
        try:
            found = _heard(child, asked, report)
        finally:
            late.cancel()
        if found is not None:
            return found
        code = child.wait()
        if code == -signal.SIGKILL and time.monotonic() - started >= limit_seconds:
            raise TimeoutError(f"rung {asked['rung']} was not done after {limit_seconds:g} s; --limit allows more")
        raise RuntimeError(f"rung {asked['rung']} broke: {_last_line(errors, code)}")


@contextmanager
def _process(number, errors):
    """The process of a rung, ended with whatever ends its asking."""
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "lib.pilot.rung"],
        env=_environment(number),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
    ) as child:
        try:
            yield child
        finally:
            child.kill()


def _environment(number):
    root = str(Path(__file__).resolve().parents[2])
    paths = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    flags = " ".join(filter(None, (os.environ.get("XLA_FLAGS"), _FLAGS[number])))
    usual = _QUIET | {"PYTHONPATH": paths, "XLA_FLAGS": flags}
    return os.environ | usual | ({"JAX_PLATFORMS": "cpu"} if number in _ON_CPU else {})


def _heard(child, asked, report):
    print(json.dumps(asked), file=child.stdin, flush=True)  # and stays open: the rung ends when it is closed
    for line in child.stdout:
        said = json.loads(line)
        if "measured" in said:
            return said
        report(said["say"])
    return None


def _last_line(errors, code):
    """Its last words; a process that was killed has none of its own, whatever it warned of before."""
    if code == -signal.SIGKILL:
        return "its process was killed from outside, as a system does that runs out of memory"
    errors.seek(0)
    return (errors.read().strip().splitlines() or ["no word"])[-1]
