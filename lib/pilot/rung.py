"""Run as a process of its own, `python -m lib.pilot.rung`: climbs one rung and prints what it measured.

How many devices a CPU shows is settled before JAX starts, so the asking process, `lib.pilot.climb`, cannot do this. In
come the run's file, rung, seed and perhaps a fault to plant, as JSON; out go lines of JSON, each with a word of
progress, the last with the rest.
"""

import gc
import importlib
import json
import os
import platform
import signal
import sys
import threading
from contextlib import nullcontext
from importlib.metadata import PackageNotFoundError, version

from lib.description import parse
from lib.pilot.climb import MODULES
from lib.pilot.faults import planted
from lib.pilot.pilot import scale_down

_PACKAGES = ("jax", "jaxlib", "optax", "orbax-checkpoint", "numpy", "training-run-handbook")


def climbed(run, rung, seed, plant=None, part="measure"):
    """What a rung measured, with versions and machine, as plain data.

    Args:
        run: the text of a run's file.
        rung: 1 to 4.
        seed: of the pilot.
        plant: a fault that it has meanwhile, by name.
        part: the function of the rung's module that measures: all, or "mask" of rung 1.
    """
    pilot = scale_down(parse(run), seed)
    measure = getattr(importlib.import_module(f"lib.pilot.{MODULES[rung]}"), part)
    with planted(plant) if plant else nullcontext():
        measured = measure(pilot, lambda line: _print({"say": line}))
    return {"measured": measured, "versions": _versions(), "machine": _machine()}


def _print(plain):
    print(json.dumps(plain), flush=True)


def _versions():
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # lib may be run without being installed
            found[package] = "not installed"
    return found


def _machine():
    import jax

    first = jax.devices()[0]
    return {
        "accelerator": "cpu" if first.platform == "cpu" else first.device_kind,
        "devices": jax.device_count(),
        "cores": os.cpu_count() or 0,
        "system": platform.platform(),
        "xla_flags": os.environ.get("XLA_FLAGS", ""),
    }


def _end_with_the_asking_process():
    os.read(sys.stdin.fileno(), 1)  # nothing comes any more: it waits until the other end is closed
    os._exit(1)


if __name__ == "__main__":
    gc.disable()  # what is traced is no garbage, and soon all of it goes
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the asking process's, which ends this one
    asked = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_the_asking_process, daemon=True).start()
    _print(climbed(**asked))
