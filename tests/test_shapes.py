"""The shape search: what it finds for known targets, and that every shape obeys what was asked."""

import bisect
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.architecture import Transformer, model, shapes
from lib.architecture.shapes import Candidate, Constraints, search

FORTNIGHT = 13459186305.271206  # parameters of the A100 fortnight: sqrt(compute / 120)


def test_the_fortnight_gets_a_shape_like_llama_13b():
    best = search(FORTNIGHT)[0]  # defaults: vocabulary 32,000, heads of 128, d_ff in 256s, tensor-parallel 8
    assert (best.shape.n_layers, best.shape.d_model, best.shape.n_heads, best.shape.d_ff) == (40, 5120, 40, 14592)
    assert best.shape.n_params == 13_487_723_520
    assert best.distance == pytest.approx(0.0021, abs=5e-5)


def test_every_shape_for_the_fortnight_is_within_a_percent_and_divides_by_eight():
    found = search(FORTNIGHT, n_best=20)
    assert len(found) >= 5
    for candidate in found:
        shape = candidate.shape
        assert candidate.within
        assert abs(shape.n_params / FORTNIGHT - 1) <= 0.01
        assert [n % 8 for n in (shape.n_heads, shape.n_kv_heads, shape.d_ff, shape.vocab_size)] == [0, 0, 0, 0]
        assert (shape.head_dim, shape.d_ff % 256, shape.d_model) == (128, 0, 128 * shape.n_heads)


@pytest.mark.parametrize("name", ["Llama 3 8B", "Llama 3 70B"])
def test_a_released_shape_comes_first_under_the_rules_it_was_made_by(name):
    released = model(name)
    rules = Constraints(vocab_size=128_256, n_kv_heads=8, d_ff_ratio=3.5)
    found = search(released.n_params, rules)[0]
    assert replace(found.shape, name=released.name, source=released.source) == released
    assert found.distance == 0


def test_gpt2_is_among_the_shapes_of_its_size():
    rules = Constraints(vocab_size=50_304, tied=True, gated=False, head_dim=64, width_multiple=64, tensor=1)
    assert (12, 768, 3072) in [(c.shape.n_layers, c.shape.d_model, c.shape.d_ff) for c in search(124e6, rules)]


def test_where_nothing_is_within_a_percent_the_nearest_shapes_are_the_answer():
    found = search(1e6)  # a table of 32,000 rows alone is larger at any width that eight ranks can share
    assert found
    assert not any(candidate.within for candidate in found)
    assert found[0].distance > 1


def test_a_wider_tolerance_only_adds():
    narrow, wide = (search(FORTNIGHT, Constraints(tolerance=t), n_best=10_000) for t in (0.005, 0.02))
    assert {c.shape for c in narrow if c.within} < {c.shape for c in wide if c.within}


def test_steps_of_distance_come_first_then_the_shape_then_the_stages():
    found = search(FORTNIGHT, n_best=3)
    assert [c.shape.n_layers for c in found] == [40, 42, 43]  # 8, 2 and 1 even stages, all in one step of distance
    assert all(abs(c.distance) < shapes.DISTANCE_STEP for c in found)
    assert all(100 <= c.shape.width_over_depth <= 140 for c in found)


@st.composite
def constraints(draw):
    tensor = draw(st.sampled_from([1, 2, 4, 8]))
    n_kv_heads = draw(st.sampled_from([None, tensor, 2 * tensor]))
    return Constraints(
        vocab_size=tensor * draw(st.integers(1, 8000)),
        tied=draw(st.booleans()),
        gated=draw(st.booleans()),
        head_dim=draw(st.sampled_from([64, 96, 128, 256])),
        n_kv_heads=n_kv_heads,
        query_group=1 if n_kv_heads else draw(st.sampled_from([1, 2, 4])),
        width_multiple=draw(st.sampled_from([1, 64, 128, 192])),
        d_ff_multiple=draw(st.sampled_from([1, 64, 256])),
        d_ff_ratio=draw(st.none() | st.floats(1, 8)),
        layer_multiple=draw(st.sampled_from([1, 2, 4])),
        tensor=tensor,
        counts=draw(st.sampled_from(list(shapes.COUNTS))),
        tolerance=draw(st.sampled_from([0.001, 0.01, 0.05])),
    )


@given(rules=constraints(), target=st.floats(1e6, 1e12), n_best=st.integers(1, 10))
def test_every_shape_found_obeys_every_constraint(rules, target, n_best):
    found = search(target, rules, n_best)
    assert 1 <= len(found) <= n_best
    for candidate in found:
        shape = candidate.shape
        assert (shape.vocab_size, shape.tied, shape.gated) == (rules.vocab_size, rules.tied, rules.gated)
        assert shape.head_dim == rules.head_dim
        assert shape.d_model == shape.n_heads * shape.head_dim
        assert shape.d_model % rules.width_multiple == shape.d_ff % rules.d_ff_multiple == 0
        assert shape.n_layers % rules.layer_multiple == 0
        sizes = (shape.n_heads, shape.n_kv_heads, shape.d_ff, shape.vocab_size)
        assert all(n % rules.tensor == 0 for n in sizes)
        assert shape.n_kv_heads == (rules.n_kv_heads or shape.n_heads // rules.query_group)
        assert candidate.within == (abs(candidate.counted_params / target - 1) <= rules.tolerance)
    assert len({candidate.within for candidate in found}) == 1


@given(rules=constraints(), target=st.floats(1e8, 1e11))
def test_distances_rise_by_whole_steps(rules, target):
    found = search(target, rules)
    key = abs if not found[0].within else lambda distance: abs(distance) // shapes.DISTANCE_STEP
    distances = [key(candidate.distance) for candidate in found]
    assert distances == sorted(distances)


@given(rules=constraints(), target=st.floats(2e8, 2e9))
def test_no_shape_within_the_tolerance_is_overlooked(rules, target):
    found = {(c.shape.n_layers, c.shape.d_model) for c in search(target, rules, n_best=10**6) if c.within}
    assert found == set(_within(target, rules))


def _within(target, rules):
    # By halving, with the counts of built models: no use of a count being linear in layers and d_ff, but of its rising.
    low, high = target * (1 - rules.tolerance), target * (1 + rules.tolerance)
    for d_model in range(rules.width_step, 6_000, rules.width_step):
        inner, depths = rules.d_ffs(d_model), _depths(d_model, rules.layer_multiple)
        first = bisect.bisect_left(depths, low, key=lambda n: _count(n, d_model, inner[-1], rules))
        last = bisect.bisect_right(depths, high, key=lambda n: _count(n, d_model, inner[0], rules))
        for n_layers in depths[first:last]:
            if any(abs(count / target - 1) <= rules.tolerance for count in _nearest(n_layers, d_model, target, rules)):
                yield n_layers, d_model


def _depths(d_model, multiple):
    depths = range(math.ceil(d_model / 280), math.floor(d_model / 50) + 1)
    return [n for n in depths if n % multiple == 0] or [shapes._multiples(d_model / 280, d_model / 50, multiple)[0]]


def _nearest(n_layers, d_model, target, rules):
    inner = rules.d_ffs(d_model)
    at = bisect.bisect_left(inner, target, key=lambda d_ff: _count(n_layers, d_model, d_ff, rules))
    return [_count(n_layers, d_model, inner[i], rules) for i in (at - 1, at) if 0 <= i < len(inner)]


def _count(n_layers, d_model, d_ff, rules):
    n_heads = d_model // rules.head_dim
    shape = Transformer(
        n_layers=n_layers,
        d_model=d_model,
        n_heads=n_heads,
        n_kv_heads=rules.n_kv_heads or n_heads // rules.query_group,
        d_ff=d_ff,
        vocab_size=rules.vocab_size,
        gated=rules.gated,
        tied=rules.tied,
    )
    return getattr(shape, shapes.COUNTS[rules.counts])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"vocab_size": 50_257}, "vocab_size = 50257: a multiple of 8, .*nearest 50256 or 50264"),
        ({"head_dim": 100}, "head_dim = 100: a multiple of 8, .*nearest 96 or 104"),
        ({"n_kv_heads": 4}, "n_kv_heads = 4: a multiple of 8, .*nearest 8"),
        ({"n_kv_heads": 8, "query_group": 4}, "query_group = 4: 1 where n_kv_heads is given"),
        ({"counts": "all"}, "counts = 'all': one of total"),
        ({"tolerance": 5}, "tolerance = 5: a fraction above 0, at most 1; 5% is written 0.05"),
        ({"d_ff_ratio": 1e3}, "d_ff_ratio = 1000: at most 100"),
        ({"tensor": 2**40}, "tensor = .*: at most 1e"),
    ],
)
def test_constraints_that_no_shape_can_meet_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        Constraints(**change)


@pytest.mark.parametrize("target", [0, -1e9, math.nan, math.inf, 1e14, 10**400])
def test_a_target_that_is_no_size_is_refused_by_name(target):
    with pytest.raises(ValueError, match="target_params = "):
        search(target)


def test_a_candidate_measures_any_shape():
    rules = Constraints(vocab_size=128_256)
    candidate = Candidate(shape=model("llama-3-8b"), target_params=8e9, constraints=rules)
    assert candidate.distance == pytest.approx(0.003783, abs=1e-6)
    assert isinstance(candidate.shape, Transformer)
