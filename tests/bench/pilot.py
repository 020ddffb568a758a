"""Time of the ladder's first four rungs, by the command that a reader types."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HANDBOOK = (sys.executable, "-c", "from lib.cli import main; main()")
RUN = ("new-run", "run.toml", "--model", "llama-3-8b", "--tokens", "2T", "--accelerator", "h100", "--n-gpus", "256")


def rungs():
    """Rungs 1 to 4 of a pilot of Llama 3 8B, each in its process; text and thresholds as they are."""
    with tempfile.TemporaryDirectory() as folder:
        _handbook(folder, *RUN)
        start = time.perf_counter()
        _handbook(folder, "pilot", "run.toml", "--rungs", "1-4", "--inspected", "-o", "evidence.json")
        yield "rungs 1 to 4 of the pilot ladder", time.perf_counter() - start, 300, "s"


def _handbook(folder, *words):
    here = os.environ | {"PYTHONPATH": f"{Path(__file__).resolve().parents[2]}"}
    subprocess.run([*HANDBOOK, *words], cwd=folder, env=here, check=True, capture_output=True, timeout=900)
