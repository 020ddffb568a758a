"""The peak of many layouts at once is the ledger's, layout by layout."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.architecture import MixtureOfExperts, Transformer, model
from lib.layout import Layout, masks
from lib.memory import PROFILES, ledger, peak_bytes

LLAMA = model("llama-3-8b")
TIED = Transformer(n_layers=12, d_model=768, n_heads=12, d_ff=3072, vocab_size=50_257, tied=True, gated=False)
EXPERTS = Transformer(
    n_layers=12,
    d_model=512,
    n_heads=8,
    d_ff=2048,
    vocab_size=32_000,
    moe=MixtureOfExperts(n_experts=8, experts_per_token=2, d_ff_expert=1024, n_dense_layers=1),
)
SHAPES = {"llama": LLAMA, "tied": TIED, "experts": EXPERTS}
POWERS = st.sampled_from((1, 2, 4, 8))
DEGREES = st.fixed_dictionaries(
    {
        "data": POWERS,
        "tensor": st.sampled_from((1, 2, 4)),
        "pipeline": st.sampled_from((1, 2, 3, 4, 5)),
        "context": st.sampled_from((1, 2)),
        "micro_batch": st.sampled_from((1, 2)),
        "micro_batches": st.sampled_from((1, 4, 16)),
        "zero_stage": st.sampled_from((0, 1)),
    }
)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=list(SHAPES))
@pytest.mark.parametrize("profile", PROFILES.values(), ids=list(PROFILES))
@settings(max_examples=10, deadline=None)
@given(layouts=st.lists(DEGREES, min_size=1, max_size=6), recompute=st.sampled_from(("none", "selective", "full")))
def test_arrays_give_what_ledgers_give(shape, profile, layouts, recompute):
    columns = {name: np.array([float(layout[name]) for layout in layouts]) for name in layouts[0]}
    found = peak_bytes(shape, profile, recompute=recompute, **columns)
    for layout, peak in zip(layouts, found, strict=True):
        one = ledger(shape, Layout(**layout, recompute=recompute, sequence_parallel=True), profile)
        assert peak == pytest.approx(one.peak_bytes, rel=1e-12)


def test_fsdp_with_and_without_a_pipeline_in_one_array():
    columns = {"data": np.array([8.0, 8.0]), "pipeline": np.array([1.0, 4.0]), "micro_batches": np.array([1.0, 8.0])}
    titan = PROFILES["torchtitan 2024-12"]
    found = peak_bytes(LLAMA, titan, zero_stage=3.0, **columns)
    layouts = (Layout(data=8, zero_stage=3), Layout(data=8, zero_stage=3, pipeline=4, micro_batches=8))
    assert list(found) == pytest.approx([ledger(LLAMA, layout, titan).peak_bytes for layout in layouts])


def test_a_number_gives_a_number():
    assert isinstance(peak_bytes(LLAMA, tensor=2.0), float)


def test_illegal_layouts_are_for_the_masks():
    tensor = np.array([2.0, 3.0])
    refused = masks(LLAMA, tensor=tensor)["tensor divides the query heads"]
    assert list(refused) == [False, True]
    assert peak_bytes(LLAMA, tensor=tensor).shape == (2,)


def test_a_degree_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match=r"^degree = 'tensors': one of data, .*did you mean 'tensor'"):
        peak_bytes(LLAMA, tensors=2.0)
