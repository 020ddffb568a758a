"""Rungs 1 to 3 on a sound pilot: they pass with three seeds, and what they measure moves when the model is wrong.

A compiler's cache is shared, so that the seeds after the first only trace.
"""

from dataclasses import replace

import jax
import pytest

from lib.description import parse
from lib.ladder import Evidence, Piece, evaluate
from lib.pilot import one_batch, unit
from lib.pilot.pilot import scale_down

RUN = parse(
    'tokens = "1T"\n[model]\nname = "gpt-2"\n[cluster]\naccelerator = "h100"\nn_gpus = 8\n[layout]\nseq_len = 1024'
)
SMALL = {"n_layers": 1, "d_model": 32, "head_dim": 4, "d_ff": 64, "embedding_width": 32}
SEEDS = (0, 1, 2)


def pilot(seed=0, **changed):
    """A pilot of GPT-2 (tied, learned positions, biases), smaller still."""
    whole = scale_down(RUN, seed)
    return replace(whole, shape=replace(whole.shape, **SMALL), learning_rate=5e-3, **changed)


def verdict(rung, measured):
    made = {"what": "a test", "run_digest": RUN.digest, "time": "2026-11-30T00:00:00+00:00"}
    return evaluate(RUN, Evidence(run=RUN.plain, pieces=(Piece(rung=rung, measured=measured, **made),))).verdicts[
        rung - 1
    ]


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory):
    """Programs that are compiled once for all seeds."""
    settings = {"jax_compilation_cache_dir": str(tmp_path_factory.mktemp("jax"))}
    settings |= {"jax_persistent_cache_min_compile_time_secs": 0.0, "jax_persistent_cache_min_entry_size_bytes": -1}
    before = {name: getattr(jax.config, name) for name in settings}
    for name, value in settings.items():
        jax.config.update(name, value)
    yield
    for name, value in before.items():
        jax.config.update(name, value)


@pytest.fixture(scope="module")
def measured():
    """What rung 1 measures of each seed."""
    return {seed: unit.measure(pilot(seed), lambda line: None) for seed in SEEDS}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_sound_model_passes_the_unit_rung(measured, seed):
    found = verdict(1, measured[seed])
    assert found.passed, found.failures
    assert 0 < measured[seed]["gradient_error"] < 1e-5


@pytest.mark.parametrize("seed", SEEDS)
def test_a_sound_model_learns_one_batch(seed):
    found = verdict(2, one_batch.measure(pilot(seed), lambda line: None))
    assert not found.failures
    assert not found.missing
