"""The ladder's first four rungs pass a sound pilot, and each planted fault fails on the rung that should catch it.

Seeds share their programs; those that a fault does not touch are the sound pilot's.
"""

import gc
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from multiprocessing import get_context

import jax
import numpy as np
import pytest

from lib.description import parse, to_toml
from lib.ladder import Evidence, Piece, evaluate
from lib.pilot import model, one_batch, one_device, one_node, rung, unit
from lib.pilot.faults import FAULTS, planted
from lib.pilot.pilot import scale_down
from lib.pilot.programs import Programs, words

# Tied, with rotary positions and grouped keys.
RUN = parse('tokens = "1T"\n[model]\nname = "llama-3.2-1b"\n[cluster]\naccelerator = "h100"\nn_gpus = 8')
SMALL = {"n_layers": 1, "d_model": 32, "head_dim": 4, "d_ff": 64, "embedding_width": 32}
SEEDS = (0, 1, 2)
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
def low():
    """Rungs 1 to 3 while every fault of rung 4 is planted: programs, what is measured by seed, what rung 3 says."""
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(one_device, "_SIDES", (256,))
        patch.setattr(one_device, "_TIMED", 3)
        for fault in FAULTS.values():
            if fault.rung == 4:
                stack.enter_context(planted(fault.name))
        programs, said = Programs(small()), []
        third = one_device.measure(small(), said.append, programs)
        of = {seed: [measured(rung.measure, programs, seed=seed) for rung in (unit, one_batch)] for seed in SEEDS}
        return programs, {seed: [*enumerate([*two, third], 1), (3, LOOKED_AT)] for seed, two in of.items()}, said


@pytest.fixture(scope="module")
def right(low):
    """The programs of a sound pilot: no fault of rung 4 is in those of the lower rungs."""
    return low[0]


@pytest.fixture(scope="module")
def below(low):
    return low[1][0]


@pytest.fixture(scope="module")
def half(right, tmp_path_factory):
    """Of a run that goes on: the folder with its checkpoint, and its second half."""
    folder = tmp_path_factory.mktemp("run")
    return folder, one_node.uninterrupted(small(), folder, right)


def sharing(right, *names):
    """The programs of a pilot with a fault; those of some names, which it does not touch, of the sound one."""
    faulty = Programs(small())
    for name in names:
        setattr(faulty, name, getattr(right, name))
    return faulty


def resumed(right, half):
    folder, second = half
    return one_node.differences(second, one_node.second_half(small(), folder, right))


@pytest.fixture(scope="module")
def sound(right, half):
    """What rung 4 measures of a sound pilot, by seed."""
    first = measured(one_node.shared, right) | resumed(right, half)
    return {0: first} | {seed: measured(one_node.measure, right, seed=seed) for seed in SEEDS[1:]}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_sound_pilot_passes_four_rungs(low, sound, seed):
    found = climb(*low[1][seed], (4, sound[seed]))
    assert found.highest == 4, found.next.failures
    exact = {"resumed_loss_difference": 0.0, "resumed_data_difference": 0.0}
    assert exact.items() <= sound[seed].items()
    assert all(value < 2e-6 for name, value in sound[seed].items() if name.endswith("_difference"))
    assert 0 < dict(low[1][seed])[1]["gradient_error"] < 1e-5


def test_a_step_costs_what_is_counted_and_a_person_is_still_to_look(below):
    found = climb(*below[:3])
    assert dict(below[:3])[3]["flops_difference"] == 0
    assert found.next.words == "not passed: not measured: batches_inspected"
    assert climb(*below[2:]).verdicts[2].words == "not passed: unit is not, below it"


def test_a_compilers_bytes_are_never_called_measured(low):
    _, found, said = low
    measured = dict(found[0][:3])[3]
    assert measured["compiler_bytes"] > 0
    assert "device_bytes" not in measured
    assert any("by the compiler's word, not measured" in line for line in said)


CAUGHT_BY_RUNG_1 = {  # and the programs that a fault does not touch
    "mask-leak": (("start", "update"), {"mask_leak"}),
    "padding-averaged": (("start", "update", "scores"), {"padding_error"}),
    "tied-apart": ((), {"parameter_difference", "tied_difference"}),
}


@pytest.mark.parametrize("name", [fault.name for fault in FAULTS.values() if fault.rung == 1])
def test_rung_1_catches(below, right, name):
    untouched, failures = CAUGHT_BY_RUNG_1[name]
    with planted(name):
        found = climb(*below[1:], (1, measured(unit.measure, sharing(right, *untouched))))
    assert found.next.rung.number == 1
    assert {one.threshold.name for one in found.next.failures} == failures


def test_a_mask_that_lets_one_word_through_leaks(right, monkeypatch):
    seen, faulty, params = model._seen, sharing(right, "start"), right.start(jax.random.key(0)).weights
    monkeypatch.setattr(model, "_seen", lambda *args: seen(*args) | (seen(*args).T & (jax.numpy.arange(16) == 9)))
    assert unit._leak(small(), params, words(small()), faulty.scores) > 1e-4


def test_rung_2_and_none_below_it_catches_a_learning_rate_a_hundred_times_too_high(below, right):
    with planted("learning-rate-x100"):
        programs = sharing(right, "start", "scores", "loss", "gradients")
        found = climb((1, measured(unit.measure, programs)), (2, measured(one_batch.measure, programs)), *below[2:])
    assert found.highest == 1
    assert found.next.words == "failed"


def over(layout):
    """A layout whose exchanges are written out; on one device they have no part."""
    return lambda right, _: measured(one_node.shared, sharing(right, "start", "step"), [layout])


CAUGHT = {
    "gradients-not-averaged": (over("data_parallel"), {"data_parallel_difference"}),
    "positions-off-by-one": (over("sequence"), {"sequence_difference"}),
    "resume-forgets-data-position": (resumed, {"resumed_loss_difference", "resumed_data_difference"}),
    "resume-wrong-rng": (resumed, {"resumed_loss_difference"}),
}


@pytest.mark.parametrize("name", [fault.name for fault in FAULTS.values() if fault.rung == 4])
def test_rung_4_and_none_below_it_catches(below, sound, right, half, name):
    measure, failures = CAUGHT[name]
    with planted(name):
        found = climb(*below, (4, sound[0]), (4, measure(right, half)))
    assert found.highest == 3
    assert {one.threshold.name for one in found.next.failures} == failures


def test_another_process_goes_on_from_a_checkpoint_to_the_bit(half):
    folder, (losses, seen) = half
    with ProcessPoolExecutor(1, get_context("spawn"), gc.disable) as other:
        again, read = other.submit(go_on, folder).result(timeout=120)
    np.testing.assert_array_equal(again, losses)
    np.testing.assert_array_equal(read, seen)


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
