"""Memory over one step: it starts and ends with the states, and its highest moment is the ledger's."""

import pytest

from lib.architecture import model
from lib.layout import Layout
from lib.memory import PROFILES, ledger, profile
from lib.memory.profiles import SIMPLE
from lib.memory.timeline import timeline

LLAMA = model("llama-3-8b")
LAYOUTS = (
    Layout(micro_batch=2),
    Layout(data=8, zero_stage=1, recompute="full", seq_len=8192),
    Layout(data=2, tensor=4, pipeline=2, micro_batches=8, zero_stage=1),
)


def stages():
    for knows in PROFILES.values():
        for layout in LAYOUTS:
            if not knows.simple:
                yield from ledger(LLAMA, layout, knows).stages


def test_the_highest_moment_is_the_highest_event_of_the_ledger():
    for found in stages():
        moments = {moment.name: moment.bytes for moment in timeline(found)}
        step = moments.pop("optimizer step")
        assert step <= found.bytes("allocated") * (1 + 1e-12)
        assert max(moments.values()) == pytest.approx(max(allocated for allocated, _ in found.event_bytes.values()))


def test_forward_adds_and_backward_takes_away():
    for found in stages():
        kept = [moment.by_group.get("activations", 0.0) for moment in timeline(found)]
        n = found.stage.n_layers
        forward, backward = kept[: n + 1], kept[-n - 2 : -1]
        assert forward == sorted(forward)
        assert backward == sorted(backward, reverse=True)


def test_the_seeds_simple_model_knows_no_moments():
    with pytest.raises(ValueError, match="moments"):
        timeline(ledger(LLAMA, LAYOUTS[0], SIMPLE).heaviest)


def test_a_124m_model_is_highest_at_its_loss():
    # 50,257 logits of ten bytes a token outweigh all twelve layers' activations of a token.
    moments = timeline(ledger(model("gpt2"), Layout(seq_len=1024, micro_batch=8), profile("torchtitan")).heaviest)
    assert max(moments, key=lambda moment: moment.bytes).name == "loss, backward"
