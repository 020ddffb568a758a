"""The pilot's transformer: what it computes must not depend on what it should not see, and must on what it should."""

import functools
import math
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lib.architecture import MODELS, Transformer
from lib.pilot import model
from lib.pilot.model import IGNORED, initialise, rotate
from lib.pilot.tensors import tensors

SMALL = Transformer(n_layers=2, d_model=32, n_heads=4, n_kv_heads=2, d_ff=48, vocab_size=50)
GPT = {"gated": False, "norm": "layer", "qkv_bias": True, "attention_output_bias": True, "mlp_bias": True}
GPT |= {"learned_positions": 16, "tied": True, "n_kv_heads": 4}
KINDS = {
    "llama": SMALL,
    "gpt": replace(SMALL, **GPT),
    "one key head, one norm": replace(SMALL, n_kv_heads=1, norms_per_layer=1, norm="layer-without-bias"),
    "four norms, windows": replace(SMALL, norms_per_layer=4, qk_norm="head", windows=(3, 2), head_bias=True),
    "narrow table, no norm outside": replace(SMALL, embedding_width=16, norms_outside_layers=0, qk_norm="width"),
    "norm behind the table": replace(SMALL, norms_outside_layers=2, norm="none", tied=True),
}
TOKENS = np.random.default_rng(1).integers(0, SMALL.vocab_size, (2, 12), dtype=np.int32)
TARGETS = np.concatenate([TOKENS[:, 1:], np.full((2, 1), IGNORED, np.int32)], axis=1)


logits = jax.jit(model.logits, static_argnums=1, static_argnames=("dropout", "dtype"))
loss = jax.jit(model.loss, static_argnums=1)


@functools.cache
def make(shape):
    """Weights as at the start, by NumPy: chance costs a compiler dear."""
    chance, found = np.random.default_rng(0), tensors(shape)
    return {
        part: {name: np.float32(chance.normal(one.mean, one.deviation, one.shape)) for name, one in inside.items()}
        for part, inside in found.items()
    }


@functools.cache
def large(shape):
    """Weights ten times as large: attention that is far from even, so that a wrong mask shows."""
    return jax.tree.map(lambda leaf: np.float32(10) * np.asarray(leaf) if leaf.ndim > 2 else leaf, make(shape))


@functools.cache
def in_float64(shape):
    """The same in float64, and the function of them that has the loss and its gradient."""
    of = jax.jit(jax.value_and_grad(lambda params: model.loss(params, shape, TOKENS, TARGETS, dtype=jnp.float64)))
    return jax.tree.map(np.float64, large(shape)), of


def cross_entropy(scores, targets=TARGETS):
    """What `loss` makes of scores, by NumPy in float64, where the table has no padding."""
    wide = np.float64(scores)
    nats = np.log(np.exp(wide).sum(axis=-1)) - np.take_along_axis(wide, targets[..., None], axis=-1)[..., 0]
    return nats[targets != IGNORED].mean()


def other_word(place):
    """The words with one of each sequence replaced by another."""
    changed = TOKENS.copy()
    changed[:, place] = (changed[:, place] + 1) % SMALL.vocab_size
    return changed


def filled(array, start, value):
    """A copy with one value from a position on."""
    return np.concatenate([array[:, :start], np.full_like(array[:, start:], value)], axis=1)


RELEASED = ("Llama 3 70B", "GPT-2 XL", "OLMo 2 13B", "Gemma 2 9B", "OPT 350M")


@pytest.mark.parametrize("shape", [*KINDS.values(), *map(MODELS.get, RELEASED)], ids=[*KINDS, *RELEASED])
def test_the_parameters_are_those_of_the_shape_and_need_not_be_made_to_be_counted(shape):
    leaves = jax.tree.leaves(jax.eval_shape(lambda: initialise(shape, jax.random.key(0))))
    assert sum(math.prod(leaf.shape) for leaf in leaves) == shape.n_params


def test_weights_are_drawn_as_their_tensors_say_and_no_two_tensors_alike():
    """Mean and deviation to five standard errors, and what is not drawn to the bit."""
    shape, firsts = replace(KINDS["gpt"], tied=False), []
    made = jax.jit(lambda: initialise(shape, jax.random.key(0)))()
    for part, inside in tensors(shape).items():
        for name, tensor in inside.items():
            values, near = np.asarray(made[part][name]), 5 * tensor.deviation / math.sqrt(tensor.n_params)
            assert values.mean() == pytest.approx(tensor.mean, abs=near)
            assert values.std() == pytest.approx(tensor.deviation, abs=near)
            firsts += [round(float(values.flat[0]) / tensor.deviation, 4)] if tensor.is_matrix else []
    assert len(set(firsts)) == len(firsts) == 9


@pytest.mark.parametrize("shape", KINDS.values(), ids=KINDS)
def test_the_first_loss_is_that_of_a_guess(shape):
    """Standard deviation 0.02: every word is about as likely as any other, ln V."""
    assert cross_entropy(logits(make(shape), shape, TOKENS)) == pytest.approx(math.log(shape.vocab_size), abs=0.1)


@pytest.mark.parametrize("shape", KINDS.values(), ids=KINDS)
def test_a_later_word_changes_nothing_before_it_and_something_from_it_on(shape):
    params = large(shape)
    changed = other_word(7)
    before, after = (np.asarray(logits(params, shape, tokens)) for tokens in (TOKENS, changed))
    np.testing.assert_array_equal(before[:, :7], after[:, :7])
    assert (abs(before - after)[:, 7:].max(axis=-1) > 1e-6)[:, 0].all()


def test_a_window_hides_what_is_further_back():
    """A layer that looks at 3 tokens and one that looks at 2 reach 3 tokens back together."""
    shape = KINDS["four norms, windows"]
    before, after = (np.asarray(logits(large(shape), shape, tokens)) for tokens in (TOKENS, other_word(2)))
    moved = np.abs(before - after).max(axis=(0, 2))
    assert (moved > 0).tolist() == [False] * 2 + [True] * 4 + [False] * 6


@pytest.mark.parametrize("length", [12, 8, 0])
def test_padding_has_no_part_in_the_loss(length):
    """The mean is over real targets and words, whatever stands where a sequence or the table is padded."""
    params = large(SMALL)
    wider = {name: dict(part) for name, part in params.items()}
    for name in ("table", "head"):
        wider["outside"][name] = np.pad(params["outside"][name], ((0, 14), (0, 0)), constant_values=9.0)
    targets = filled(TARGETS, length, IGNORED)
    found = float(loss(wider, SMALL, filled(TOKENS, length, 0), targets))
    expected = cross_entropy(logits(params, SMALL, TOKENS), targets) if length else 0.0
    assert found == pytest.approx(expected, rel=1e-6)


def test_shared_key_heads_are_plain_heads_with_equal_keys_and_values():
    plain = replace(SMALL, n_kv_heads=4)
    params = large(SMALL)
    layers = dict(params["layers"])
    for name in ("key", "value"):
        layers[name] = np.repeat(layers[name], 2, axis=2)
    for name, axis in (("query", 2), ("attention_out", 1)):
        heads = layers[name]
        layers[name] = heads.reshape(*heads.shape[:axis], 4, 1, *heads.shape[axis + 2 :])
    found = logits(params | {"layers": layers}, plain, TOKENS)
    np.testing.assert_allclose(found, logits(params, SMALL, TOKENS), atol=2e-5)


def test_rotary_scores_depend_on_the_distance_alone():
    vectors = np.random.default_rng(2).normal(size=(2, 1, 1, 8)).astype(np.float32)
    query, key = np.asarray(jax.jit(rotate)(np.broadcast_to(vectors, (2, 20, 1, 8))))[:, :, 0]
    scores = query @ key.T
    for back in (0, 3, 11):
        diagonal = np.diagonal(scores, -back)
        np.testing.assert_allclose(diagonal, diagonal[0], atol=1e-5)
    assert abs(scores[3, 0] - scores[0, 0]) > 1e-3


@pytest.mark.parametrize("name", ["gpt", "four norms, windows"])
def test_the_gradient_is_the_slope_in_float64(name):
    """Central differences along random directions, to 1e-4 relative; what a Llama has, that of four norms has too."""
    shape = KINDS[name]
    ways = np.random.default_rng(3)
    with jax.enable_x64(True):
        params, of = in_float64(shape)
        leaves, form = jax.tree.flatten(params)
        gradient = jax.tree.leaves(of(form.unflatten(leaves))[1])
        for _ in range(3):
            way = [ways.normal(size=leaf.shape) for leaf in leaves]
            ends = [
                of(form.unflatten([leaf + h * to for leaf, to in zip(leaves, way, strict=True)]))[0]
                for h in (1e-6, -1e-6)
            ]
            along = sum(np.vdot(slope, to) for slope, to in zip(gradient, way, strict=True))
            assert float((ends[0] - ends[1]) / 2e-6) == pytest.approx(float(along), rel=1e-4)


def test_a_tied_head_is_the_table():
    shape = KINDS["gpt"]
    assert "head" not in large(shape)["outside"]
    with jax.enable_x64(True):
        params, of = in_float64(shape)
        gradient = np.asarray(of(params)[1]["outside"]["table"])
    unseen = np.setdiff1d(np.arange(50), TOKENS)
    assert (np.abs(gradient[unseen]).max(axis=-1) > 0).all()  # words that no position looks up: from the head alone


def test_dropout_follows_its_key():
    params = make(SMALL)
    drop = [np.asarray(logits(params, SMALL, TOKENS, dropout=0.5, key=jax.random.key(n))) for n in (0, 0, 1)]
    np.testing.assert_array_equal(drop[0], drop[1])
    assert (drop[0] != drop[2]).any()
    none = jax.make_jaxpr(functools.partial(model.logits, dropout=0.0), static_argnums=1)
    default = jax.make_jaxpr(model.logits, static_argnums=1)
    assert str(none(params, SMALL, TOKENS)) == str(default(params, SMALL, TOKENS))


def test_products_in_bfloat16_come_near_those_in_float32():
    narrow, wide = (cross_entropy(logits(large(SMALL), SMALL, TOKENS, **of)) for of in ({"dtype": jnp.bfloat16}, {}))
    assert narrow != wide
    assert narrow == pytest.approx(wide, rel=0.02)


def test_a_sequence_longer_than_the_learned_positions_is_refused():
    with pytest.raises(ValueError, match="seq_len = 17: at most 16"):
        logits(make(KINDS["gpt"]), KINDS["gpt"], np.zeros((1, 17), int))
