"""For the doctests of `lib` and all tests: what is settled before JAX starts, and what is left out without it."""

import gc
import os
from importlib.util import find_spec

# As many devices as the tests of the pilot lay a step on, and quick code instead of fast code, for it hardly runs:
# not optimised, and in one piece, for pieces cost half as much again.
FLAGS = ("--xla_force_host_platform_device_count=8", "--xla_backend_optimization_level=0")
FLAGS += ("--xla_cpu_use_fusion_emitters=false", "--xla_cpu_parallel_codegen_split_count=1")
os.environ.setdefault("XLA_FLAGS", " ".join(FLAGS))  # read when JAX starts
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_TRACEBACK_IN_LOCATIONS_LIMIT", "0")  # no operation is told which lines it comes from

NEED_JAX = [f"lib/pilot/{name}.py" for name in ("checkpoint", "lower", "mesh", "model", "shards", "step")]
NEED_JAX += [f"lib/pilot/{name}.py" for name in ("one_batch", "one_device", "one_node", "programs", "rung", "unit")]
NEED_JAX += ["lib/pilot/small_train.py", "tests/test_pilot_small_runs.py"]
NEED_JAX += [f"tests/test_pilot_{name}.py" for name in ("checkpoint", "compiled", "faults", "model", "rungs", "step")]
LEFT_OUT = find_spec("jax") is None and os.environ.get("CI") != "true"  # in a forge they fail
collect_ignore = NEED_JAX if LEFT_OUT else []


# What is imported and what thousands of tests keep is no garbage: looking through it took a twentieth of all time.
gc.set_threshold(100_000, 50, 100)


def pytest_collection_finish():
    """Modules and tests stay to the end."""
    gc.freeze()


def pytest_report_header():
    """Say it loudly."""
    return "NO JAX: the tests of the pilot are left out; make setup installs it" if LEFT_OUT else None
