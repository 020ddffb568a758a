"""Rungs 1 to 3 on a sound pilot: they pass with three seeds, and what they measure moves when the model is wrong.

Seeds share their programs.
"""

from dataclasses import replace

import jax
import numpy as np
import pytest

from lib.description import parse
from lib.ladder import Evidence, Piece, evaluate
from lib.pilot import model, one_batch, one_device, unit
from lib.pilot.pilot import scale_down
from lib.pilot.programs import Programs

RUN = parse(
    'tokens = "1T"\n[model]\nname = "gpt-2"\n[cluster]\naccelerator = "h100"\nn_gpus = 8\n[layout]\nseq_len = 1024'
)
SMALL = {"n_layers": 1, "d_model": 32, "head_dim": 4, "d_ff": 64, "embedding_width": 32}
SEEDS = (0, 1, 2)


def pilot(seed=0, **changed):
    """A pilot of GPT-2 (tied, learned positions, biases), smaller still."""
    whole = scale_down(RUN, seed)
    return replace(whole, shape=replace(whole.shape, **SMALL), seq_len=16, learning_rate=1e-2, **changed)


def verdict(rung, measured):
    made = {"what": "a test", "run_digest": RUN.digest, "time": "2026-11-30T00:00:00+00:00"}
    return evaluate(RUN, Evidence(run=RUN.plain, pieces=(Piece(rung=rung, measured=measured, **made),))).verdicts[
        rung - 1
    ]


@pytest.fixture(scope="module")
def programs():
    return Programs(pilot())


@pytest.fixture(scope="module")
def measured(programs):
    """What rung 1 measures of each seed."""
    return {seed: unit.measure(pilot(seed), lambda line: None, programs) for seed in SEEDS}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_sound_model_passes_the_unit_rung(measured, seed):
    found = verdict(1, measured[seed])
    assert found.passed, found.failures
    assert 0 < measured[seed]["gradient_error"] < 1e-5


@pytest.mark.parametrize("seed", SEEDS)
def test_a_sound_model_learns_one_batch(programs, seed):
    found = verdict(2, one_batch.measure(pilot(seed), lambda line: None, programs))
    assert not found.failures
    assert not found.missing


def test_parameters_and_shapes_that_are_not_the_descriptions_are_counted():
    small = pilot()
    params = jax.eval_shape(lambda: model.initialise(small.shape, jax.random.key(0)))
    batch = unit.words(small)
    wider = replace(small, shape=replace(small.shape, d_ff=72))
    assert unit._parameters(small, params) == 0
    assert unit._parameters(wider, params) == wider.shape.n_params - small.shape.n_params
    assert unit._shapes(small, params, batch) == 0
    assert unit._shapes(wider, params, batch) == 3  # up, its bias, down


def test_a_mask_that_lets_one_word_through_leaks(programs, monkeypatch):
    small, params = pilot(), programs.start(jax.random.key(0)).weights
    faulty = Programs(small)
    faulty.start = programs.start
    seen = model._seen
    monkeypatch.setattr(model, "_seen", lambda *args: seen(*args) | (seen(*args).T & (jax.numpy.arange(16) == 9)))
    assert unit._leak(small, params, unit.words(small), faulty.scores) > 1e-4


def wrong_slope(leaves):
    return np.float64(sum(np.vdot(leaf, leaf) for leaf in leaves))


def test_a_gradient_that_is_wrong_in_one_number_of_one_tensor_is_seen():
    leaves = [np.arange(1.0, 9.0), np.full((3, 4), 0.5)]
    right = [2 * leaf for leaf in leaves]
    wrong = [right[0], right[1] + np.eye(3, 4) * 0.01]
    assert unit._worst(wrong_slope, leaves, right, 0) < 1e-8
    assert unit._worst(wrong_slope, leaves, wrong, 0) > 1e-4


def test_a_tensor_without_a_gradient_is_no_error_and_one_that_should_have_one_is():
    leaves = [np.ones(4), np.ones(4)]
    assert unit._worst(lambda found: wrong_slope(found[:1]), leaves, [2 * leaves[0], np.zeros(4)], 0) < 1e-8
    assert unit._worst(wrong_slope, leaves, [2 * leaves[0], np.zeros(4)], 0) > 0.5


def test_a_loss_that_is_averaged_over_padding_is_seen():
    targets = unit.words(pilot())[1]
    nats = np.random.default_rng(0).random(targets.shape)

    def mean(found, over=None):
        real = found != model.IGNORED
        return float((nats * real).sum() / (real.sum() if over is None else over))

    assert unit._padding(mean, targets, 0) < 1e-12
    assert unit._padding(lambda found: mean(found, found.size), targets, 0) > 0.2


def test_tables_that_came_apart_and_files_that_change_a_bit_are_seen(monkeypatch):
    table = np.ones((4, 2), np.float32)
    apart = np.nextafter(table, np.float32(2))
    monkeypatch.setattr(model, "output_table", lambda outside: outside["head"])
    assert unit._apart({"table": table, "head": table}) == 0
    assert unit._apart({"table": table, "head": apart}) > 0
    assert unit._differing(table, apart) == table.size
    assert unit._differing(table, table.astype(np.float64)) == table.size


def test_words_that_are_not_the_text_or_not_the_next_ones_are_counted():
    tokens, targets = unit.words(pilot())
    assert one_device.decoded_differences(pilot(), tokens, targets) == 0
    assert one_device.decoded_differences(pilot(), tokens, np.roll(targets, 1, axis=1)) > 60
    other = tokens.copy()
    other[3, 5] = (other[3, 5] + 1) % 64
    assert one_device.decoded_differences(pilot(), other, targets) == 2  # the word, and it is not what came next


@pytest.fixture(scope="module")
def on_a_device(programs):
    """What rung 3 measures, and what it says on the way."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(one_device, "_SIDES", (256,))
        patch.setattr(one_device, "_TIMED", 3)
        said = []
        return one_device.measure(pilot(), said.append, programs), said


def test_a_step_costs_what_is_counted_and_a_person_is_still_to_look(on_a_device):
    found = verdict(3, on_a_device[0])
    assert on_a_device[0]["flops_difference"] == 0
    assert not found.failures
    assert [one.threshold.name for one in found.missing] == ["batches_inspected"]
    assert verdict(3, on_a_device[0] | {"batches_inspected": 1.0}).words == "not passed: unit is not, below it"


def test_a_compilers_bytes_are_never_called_measured(on_a_device):
    measured, said = on_a_device
    assert measured["compiler_bytes"] > 0
    assert "device_bytes" not in measured
    assert any("by the compiler's word, not measured" in line for line in said)
