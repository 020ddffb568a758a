"""Laws of memory that hold for every layout: what more sharding, splitting, recomputing and fewer tokens can do."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.architecture import model
from lib.layout import Layout
from lib.memory import GROUPS, PROFILES, ledger, saved_bytes
from lib.memory.profiles import DEEPSPEED, MEGATRON, TORCHTITAN

LLAMA = model("llama-3-8b")
STATES = ("weights", "gradients", "optimizer states")
LAYOUTS = st.builds(
    Layout,
    data=st.sampled_from((1, 2, 8)),
    tensor=st.sampled_from((1, 2, 4, 8)),
    pipeline=st.sampled_from((1, 2, 3, 4, 8)),
    context=st.sampled_from((1, 2)),
    micro_batch=st.sampled_from((1, 2)),
    micro_batches=st.sampled_from((1, 4, 8)),
    zero_stage=st.sampled_from((0, 1)),
    seq_len=st.sampled_from((1024, 4096)),
)


def in_groups(phase, *groups):
    return sum(phase.by_group.get(group, 0.0) for group in groups)


@given(layout=LAYOUTS, stage=st.sampled_from((1, 2, 3)))
def test_sharding_more_never_keeps_more_states(layout, stage):
    layout = replace(layout, pipeline=1)
    less, more = (ledger(LLAMA, replace(layout, zero_stage=z), DEEPSPEED).stages[0] for z in (stage - 1, stage))
    assert in_groups(more.phases[2], *STATES) <= in_groups(less.phases[2], *STATES)


@given(layout=LAYOUTS)
def test_recomputing_more_never_stores_more(layout):
    none, selective, full = (
        sum(saved_bytes(LLAMA, replace(layout, recompute=kind), TORCHTITAN).values())
        for kind in ("none", "selective", "full")
    )
    assert full < selective < none


@given(layout=LAYOUTS, profile=st.sampled_from((MEGATRON, TORCHTITAN)))
def test_twice_the_sequences_save_twice_the_bytes(layout, profile):
    one, two = (saved_bytes(LLAMA, replace(layout, micro_batch=n), profile) for n in (1, 2))
    assert two == {name: 2 * found for name, found in one.items()}


@given(layout=LAYOUTS)
def test_ranks_of_a_sequence_share_what_one_rank_would_save(layout):
    whole, half = (saved_bytes(LLAMA, replace(layout, context=n)) for n in (1, 2))
    assert whole == {name: 2 * found for name, found in half.items()}


@given(layout=LAYOUTS)
def test_no_stage_needs_more_than_the_heaviest(layout):
    found = ledger(LLAMA, layout)
    assert found.heaviest.bytes() == max(stage.bytes() for stage in found.stages)


@given(layout=LAYOUTS, profile=st.sampled_from([p for p in PROFILES.values() if not p.simple]))
def test_groups_are_known_and_sum_to_the_whole(layout, profile):
    for phase in ledger(LLAMA, layout, profile).heaviest.phases:
        assert set(phase.by_group) <= set(GROUPS)
        assert sum(phase.by_group.values()) == pytest.approx(phase.bytes(), rel=1e-12)
        assert phase.bytes("allocated") <= phase.bytes("reserved") <= phase.bytes("driver")


@given(layout=LAYOUTS)
def test_without_sequence_parallelism_norms_and_stream_stay_whole(layout):
    split, kept = (saved_bytes(LLAMA, replace(layout, sequence_parallel=sp)) for sp in (True, False))
    for name in ("attention norm, input", "MLP norm, output"):
        assert kept[name] == layout.tensor * split[name]
    assert kept["queries"] == split["queries"]
