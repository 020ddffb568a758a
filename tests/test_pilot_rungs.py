"""Rungs 1 to 3: what they measure of a pilot moves when something is wrong; a sound one passes in test_pilot_faults."""

from dataclasses import replace

import jax
import numpy as np

from lib.description import parse
from lib.pilot import model, one_device, unit
from lib.pilot.pilot import scale_down

RUN = parse(
    'tokens = "1T"\n[model]\nname = "gpt-2"\n[cluster]\naccelerator = "h100"\nn_gpus = 8\n[layout]\nseq_len = 1024'
)
SMALL = {"n_layers": 1, "d_model": 32, "head_dim": 4, "d_ff": 64, "embedding_width": 32}


def pilot():
    """A pilot of GPT-2 (tied, learned positions, biases), smaller still."""
    whole = scale_down(RUN)
    return replace(whole, shape=replace(whole.shape, **SMALL), seq_len=16)


def test_parameters_and_shapes_that_are_not_the_descriptions_are_counted():
    small = pilot()
    params = jax.eval_shape(lambda: model.initialise(small.shape, jax.random.key(0)))
    wider = replace(small, shape=replace(small.shape, d_ff=72))
    assert unit._parameters(small, params) == 0
    assert unit._parameters(wider, params) == wider.shape.n_params - small.shape.n_params
    assert unit._shapes(small, params, (17, 16, 64)) == 0
    assert unit._shapes(small, params, (17, 16, 63)) == 1
    assert unit._shapes(wider, params, (17, 16, 64)) == 3  # up, its bias, down


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
