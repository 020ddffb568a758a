"""The pilot's tensors against the library's counts, and its slices against the memory ledger."""

import math
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lib.architecture import MODELS, MixtureOfExperts, Transformer, model
from lib.layout import Layout
from lib.memory import ledger, profile
from lib.pilot import cuts
from lib.pilot.tensors import tensors

SMALL = Transformer(n_layers=2, d_model=64, n_heads=8, n_kv_heads=2, d_ff=192, vocab_size=1000)
TORCHTITAN = replace(profile("torchtitan"), vocab_multiple=1)
PRECISIONS = [name for name in cuts.PRECISIONS if name != "fp64"]
# Models with parts that the pilot does not build.
OTHERS = {name for name, m in MODELS.items() if m.moe or m.latent or m.n_mtp_layers or m.attention_sinks}
flags = st.booleans()
shapes = st.builds(
    lambda heads, group, **rest: Transformer(n_heads=heads * group, n_kv_heads=heads, **rest),
    heads=st.sampled_from((1, 2, 4)),
    group=st.sampled_from((1, 2, 4)),
    n_layers=st.integers(1, 4),
    d_model=st.sampled_from((16, 24, 64, 80)),
    head_dim=st.sampled_from((2, 8, 16)),
    d_ff=st.sampled_from((16, 48, 64)),
    vocab_size=st.integers(1, 200),
    norm=st.sampled_from(("rms", "layer", "layer-without-bias", "none")),
    norms_per_layer=st.sampled_from((1, 2, 4)),
    norms_outside_layers=st.integers(0, 2),
    qk_norm=st.sampled_from(("none", "head", "width", "width-without-bias")),
    learned_positions=st.sampled_from((0, 32)),
    embedding_width=st.sampled_from((None, 8)),
    **dict.fromkeys(("gated", "tied", "qkv_bias", "attention_output_bias", "mlp_bias", "head_bias"), flags),
)
layouts = st.builds(
    Layout, data=st.sampled_from((1, 2, 3, 8)), tensor=st.sampled_from((1, 2, 4)), zero_stage=st.integers(0, 3)
)


def every(found):
    return [tensor for part in found.values() for tensor in part.values()]


def ledger_states(shape, layout, precision):
    (stage,) = ledger(shape, layout, replace(TORCHTITAN, precision=precision)).stages
    groups = stage.phases[-1].by_group
    return [groups[name] for name in ("weights", "gradients", "optimizer states")]


def test_the_tensors_of_a_released_model_add_up_to_its_parameters():
    for name in sorted(set(MODELS) - OTHERS):
        assert sum(tensor.n_params for tensor in every(tensors(MODELS[name]))) == MODELS[name].n_params


@pytest.mark.parametrize("name", sorted(OTHERS))
def test_a_released_model_with_other_parts_is_refused(name):
    with pytest.raises(ValueError, match=r"^shape\.(moe|latent|n_mtp_layers|attention_sinks) = "):
        tensors(MODELS[name])


@given(shapes)
def test_the_tensors_of_any_shape_add_up_to_its_parameters(shape):
    assert sum(tensor.n_params for tensor in every(tensors(shape))) == shape.n_params


def test_a_llamas_slices_are_the_ledgers_states_to_the_byte():
    """Every width of Llama 3 70B divides: nothing is rounded, key heads fewer than tensor ranks included."""
    shape = model("llama-3-70b")
    for zero_stage, (data, tensor) in product(range(4), [(1, 1), (8, 1), (8, 8), (4, 16), (64, 1)]):
        layout = Layout(data=data, tensor=tensor, zero_stage=zero_stage)
        for precision in PRECISIONS:
            found = cuts.device_bytes(shape, layout, precision)
            assert list(found.values()) == ledger_states(shape, layout, precision)


@given(shapes, layouts, st.sampled_from(PRECISIONS))
def test_slices_are_the_ledgers_states_but_for_tensors_that_the_data_ranks_do_not_divide(shape, layout, precision):
    assume(all(side % layout.tensor == 0 for side in (shape.n_heads, shape.d_ff)))
    mesh = cuts.degrees(shape, layout)
    whole = [
        t for t in every(cuts.padded(shape, layout)) if not any("data" in a for a in cuts.cut(t, mesh, True).values())
    ]
    held = sum(
        math.prod(size // math.prod(mesh[a] for a in cuts.cut(t, mesh, False)[side]) for side, size in t.sides.items())
        for t in whole
    )
    each = cuts.PRECISIONS[precision].state_bytes
    rounding = [
        held * each[kind] * (1 - 1 / layout.data) * (layout.zero_stage >= least) for kind, least in cuts.KINDS.items()
    ]
    found = cuts.device_bytes(shape, layout, precision).values()
    expected = [share + more for share, more in zip(ledger_states(shape, layout, precision), rounding, strict=True)]
    assert list(found) == pytest.approx(expected, rel=1e-12)


def test_a_precision_keeps_the_bytes_of_the_field():
    """Rajbhandari et al. 2020, section 3.1: 16 bytes a parameter; Megatron-LM, distributed optimizer: 18."""
    sums = {name: sum(precision.state_bytes.values()) for name, precision in cuts.PRECISIONS.items()}
    assert sums == {"fp32, bf16 compute": 16, "bf16": 16, "bf16, fp32 gradients": 18, "fp32": 16, "fp64": 32}


def test_rows_are_padded_for_the_tensor_ranks_alone():
    assert cuts.padded(replace(SMALL, vocab_size=1001), Layout(tensor=4))["outside"]["table"].sides["vocab"] == 1004
    assert cuts.padded(replace(SMALL, vocab_size=1001), Layout(data=4))["outside"]["table"].sides["vocab"] == 1001


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"moe": MixtureOfExperts(n_experts=4, experts_per_token=2, d_ff_expert=64)}, "shape.moe = "),
        ({"attention_sinks": True}, "shape.attention_sinks = True: none"),
        ({"n_mtp_layers": 1}, "shape.n_mtp_layers = 1: none"),
        ({"norms_per_layer": 3}, "shape.norms_per_layer = 3: 1, 2, 4"),
        ({"norms_outside_layers": 3}, "shape.norms_outside_layers = 3: 0, 1 or 2"),
        ({"head_dim": 7}, "shape.head_dim = 7: an even number"),
    ],
)
def test_what_the_pilot_does_not_build_is_refused_by_name(changed, words):
    with pytest.raises(ValueError, match=words):
        tensors(replace(SMALL, **changed))


def test_fewer_rows_than_words_are_refused():
    with pytest.raises(ValueError, match="rows = 999: at least vocab_size = 1000"):
        tensors(SMALL, rows=999)


@pytest.mark.parametrize("degree", ["pipeline", "context"])
def test_a_layout_that_the_pilot_does_not_lay_is_refused(degree):
    with pytest.raises(ValueError, match=f"layout.{degree} = 2: 1, for the pilot"):
        cuts.degrees(SMALL, Layout(**{degree: 2}))
