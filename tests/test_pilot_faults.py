"""The ladder's first four rungs pass a sound pilot, and each planted fault fails on the rung that should catch it.

Programs that a fault does not touch are those of the sound pilot; others that are the same to the letter are compiled
once.
"""

from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from multiprocessing import get_context

import numpy as np
import pytest

from lib.description import parse, to_toml
from lib.ladder import Evidence, Piece, evaluate
from lib.pilot import model, one_batch, one_device, one_node, rung, shards, unit
from lib.pilot.faults import FAULTS, planted
from lib.pilot.pilot import scale_down
from lib.pilot.programs import LAYOUTS, Programs

# Tied, with rotary positions and grouped keys.
RUN = parse('tokens = "1T"\n[model]\nname = "llama-3.2-1b"\n[cluster]\naccelerator = "h100"\nn_gpus = 8')
SMALL = {"n_layers": 1, "d_model": 32, "head_dim": 4, "d_ff": 64, "embedding_width": 32}
SEEDS = (0, 1, 2)
pytestmark = pytest.mark.usefixtures("compile_once")
LOOKED_AT = {"batches_inspected": 1.0}  # by a person


def small(seed=0):
    whole = scale_down(RUN, seed)
    return replace(whole, shape=replace(whole.shape, **SMALL), seq_len=16, learning_rate=5e-3)


def measured(measure, *more, seed=0):
    return measure(small(seed), lambda line: None, *more)


def go_on(folder):
    """What `second_half` returns, in a process that has the pilot from here."""
    return one_node.second_half(small(), folder, Programs(small()))


def climb(*found):
    """The verdicts on what the rungs measured, the lowest first; of a quantity that comes twice the later counts."""
    made = {"what": "a test", "run_digest": RUN.digest, "time": "2026-11-30T00:00:00+00:00"}
    pieces = tuple(Piece(rung=rung, measured=values, **made) for rung, values in found)
    return evaluate(RUN, Evidence(run=RUN.plain, pieces=pieces))


@pytest.fixture(scope="module")
def right():
    """The programs of a sound pilot."""
    return Programs(small())


@pytest.fixture(scope="module")
def below():
    """What rungs 1 to 3 measure while every fault of rung 4 is planted; its speeds, judged by nothing, hardly."""
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(one_device, "_SIDES", (256,))
        patch.setattr(one_device, "_TIMED", 3)
        for fault in FAULTS.values():
            if fault.rung == 4:
                stack.enter_context(planted(fault.name))
        programs = Programs(small())
        learned = measured(unit.measure, programs), measured(one_batch.measure, programs)
        return [*enumerate((*learned, measured(one_device.measure)), 1), (3, LOOKED_AT)]


@pytest.fixture(scope="module")
def sound(right):
    """What rung 4 measures of a sound pilot, by seed."""
    return {seed: measured(one_node.measure, right, seed=seed) for seed in SEEDS}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_sound_pilot_passes_four_rungs(below, sound, seed):
    found = climb(*below, (4, sound[seed]))
    assert found.highest == 4, found.next.failures
    exact = {"resumed_loss_difference": 0.0, "resumed_data_difference": 0.0}
    assert exact.items() <= sound[seed].items()
    assert all(value < 2e-6 for name, value in sound[seed].items() if name.endswith("_difference"))


CAUGHT_BY_RUNG_1 = {
    "mask-leak": {"mask_leak"},
    "padding-averaged": {"padding_error"},
    "tied-apart": {"parameter_difference", "tied_difference"},
}


@pytest.mark.parametrize("name", [fault.name for fault in FAULTS.values() if fault.rung == 1])
def test_rung_1_catches(below, name):
    with planted(name):
        found = climb(*below[1:], (1, measured(unit.measure)))
    assert found.next.rung.number == 1
    assert {one.threshold.name for one in found.next.failures} == CAUGHT_BY_RUNG_1[name]


def test_rung_2_and_none_below_it_catches_a_learning_rate_a_hundred_times_too_high(below):
    with planted("learning-rate-x100"):
        programs = Programs(small())
        found = climb((1, measured(unit.measure, programs)), (2, measured(one_batch.measure, programs)), *below[2:])
    assert found.highest == 1
    assert found.next.words == "failed"


def of_written_exchanges(programs):
    """What the layouts measure whose exchanges `shards` writes out; on one device it has no part."""
    faulty = Programs(small())
    faulty.start, faulty.step = programs.start, programs.step
    names = [name for name, (lay, _) in LAYOUTS.items() if lay is shards.lay]
    return measured(one_node.shared, faulty, names)


def of_a_resumed_run(programs):
    return measured(one_node.resumed, programs)


CAUGHT = {
    "gradients-not-averaged": (of_written_exchanges, {"data_parallel_difference", "sequence_difference"}),
    "positions-off-by-one": (of_written_exchanges, {"sequence_difference"}),
    "resume-forgets-data-position": (of_a_resumed_run, {"resumed_loss_difference", "resumed_data_difference"}),
    "resume-wrong-rng": (of_a_resumed_run, {"resumed_loss_difference"}),
}


@pytest.mark.parametrize("name", [fault.name for fault in FAULTS.values() if fault.rung == 4])
def test_rung_4_and_none_below_it_catches(below, sound, right, name):
    half, failures = CAUGHT[name]
    with planted(name):
        found = climb(*below, (4, sound[0]), (4, half(right)))
    assert found.highest == 3
    assert {one.threshold.name for one in found.next.failures} == failures


def test_another_process_goes_on_from_a_checkpoint_to_the_bit(right, tmp_path):
    losses, words = one_node.uninterrupted(small(), tmp_path, right)
    with ProcessPoolExecutor(1, get_context("spawn")) as other:
        again, read = other.submit(go_on, tmp_path).result(timeout=120)
    np.testing.assert_array_equal(again, losses)
    np.testing.assert_array_equal(read, words)


def test_nothing_is_left_of_a_fault_that_was_planted():
    right = model._seen
    with planted("mask-leak"):
        assert model._seen is not right
    assert model._seen is right
    with pytest.raises(ValueError, match="name = 'mask leak'"), planted("mask leak"):
        pass


def test_a_rungs_process_plants_what_it_is_asked_to(monkeypatch):
    right = model._seen
    for part in ("measure", "mask"):
        monkeypatch.setattr(unit, part, lambda pilot, report: {"planted": float(model._seen is not right)})
        told = [rung.climbed(to_toml(RUN), 1, 0, plant, part)["measured"]["planted"] for plant in ("mask-leak", None)]
        assert told == [1.0, 0.0]
