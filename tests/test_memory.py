"""The memory ledger against closed forms: states, stored activations, logits, and where other calculators go wrong."""

from dataclasses import replace

import pytest

from lib.architecture import Transformer, model
from lib.layout import Layout
from lib.memory import PROFILES, ledger, logit_bytes, saved_bytes, state_bytes
from lib.memory.profiles import DEEPSPEED, MEGATRON, SIMPLE
from lib.memory.states import shard_counts

GIB, GB = 2**30, 1e9
LLAMA_8B, LLAMA_70B = model("llama-3-8b"), model("llama-3-70b")
TENSOR_8 = Layout(data=64, tensor=8, zero_stage=1, seq_len=8192, recompute="full")


def term(found, name, phase=1):
    """GiB of all terms of a name on the heaviest stage."""
    return sum(term.bytes for term in found.heaviest.phases[phase].terms if term.name == name) / GIB


def in_group(stage, phase, *groups):
    return sum(term.bytes for term in stage.phases[phase].terms if term.group in groups) / GIB


@pytest.mark.parametrize(("stage", "gb"), [(0, 120), (1, 31.4), (2, 16.6), (3, 1.9)])
def test_zero_stages_of_7_5_billion_parameters_on_64_gpus(stage, gb):
    """Rajbhandari et al. 2020, figure 1."""
    weights, gradients, optimizer = shard_counts(stage, 64)
    found = state_bytes(7.5e9, 2, weights) + state_bytes(7.5e9, 2, gradients) + state_bytes(7.5e9, 12, optimizer)
    assert found / GB == pytest.approx(gb, abs=0.05)


@pytest.mark.parametrize(("stage", "gib"), [(0, 134.62), (1, 56.09), (2, 29.92), (3, 16.83)])
def test_states_of_llama_3_8b_with_fp32_gradients_on_8_gpus(stage, gib):
    unpadded = replace(MEGATRON, vocab_multiple=1)
    found = ledger(LLAMA_8B, Layout(data=8, zero_stage=stage), unpadded).stages[0]
    assert in_group(found, 2, "weights", "gradients", "optimizer states") == pytest.approx(gib, abs=0.005)


def test_full_recomputation_stores_the_inputs_of_layers_alone():
    """A well-known report prints 68.7 GiB here, as if recomputation changed nothing."""
    assert term(ledger(LLAMA_70B, TENSOR_8), "layer input") == 1.25
    assert term(ledger(LLAMA_70B, replace(TENSOR_8, sequence_parallel=False)), "layer input") == 10
    kept = ledger(LLAMA_70B, replace(TENSOR_8, recompute="none"))
    assert in_group(kept.heaviest, 1, "activations") > 16 * 1.25


def test_states_are_split_by_tensor_and_pipeline_before_zero():
    unpadded = replace(MEGATRON, vocab_multiple=1)
    found = ledger(LLAMA_70B, TENSOR_8, unpadded).stages[0]
    assert in_group(found, 2, "weights") == pytest.approx(16.43, abs=0.005)
    assert in_group(found, 2, "gradients") == pytest.approx(32.86, abs=0.005)
    assert in_group(found, 2, "optimizer states") == pytest.approx(1.54, abs=0.005)
    four = ledger(LLAMA_70B, replace(TENSOR_8, pipeline=4), unpadded).stages
    states = [in_group(stage, 2, "weights", "gradients", "optimizer states") for stage in four]
    assert states == pytest.approx([13.085, 12.33, 12.33, 13.085], abs=0.005)


def test_logits_of_a_long_sequence_are_more_than_one_copy_at_the_peak():
    assert logit_bytes(32_768, 151_936, 4) / GIB == pytest.approx(18.55, abs=0.005)
    shape = replace(LLAMA_8B, vocab_size=151_936)
    found = ledger(
        shape, Layout(data=8, zero_stage=3, seq_len=32_768, recompute="full"), PROFILES["torchtitan 2024-12"]
    )
    assert term(found, "logits") > 18.55


def test_uneven_stages_are_judged_by_the_heaviest():
    shape = replace(LLAMA_8B, n_layers=8, vocab_size=1024)
    found = ledger(shape, Layout(pipeline=4, micro_batches=8, layers_per_stage=(1, 2, 2, 3)))
    mean = sum(stage.bytes() for stage in found.stages) / 4
    assert found.heaviest.stage.index == 3
    assert found.peak_bytes == max(stage.bytes() for stage in found.stages) > 1.1 * mean


def test_a_small_model_on_many_gpus_needs_more_with_stage_3_than_with_stage_2():
    """Stage 3 saves 2 bytes a parameter of weights and gathers them again, with a bucket for what is fetched ahead."""
    gpt2 = model("gpt-2")
    two, three = (ledger(gpt2, Layout(data=64, zero_stage=stage, seq_len=1024), DEEPSPEED) for stage in (2, 3))
    assert term(two, "weights") == pytest.approx(2 * gpt2.n_params / GIB)
    assert term(two, "gathered weights") == 0
    assert term(three, "weights") == pytest.approx(2 * gpt2.n_params / 64 / GIB)
    assert term(three, "gathered weights") == pytest.approx(2 * gpt2.n_params / GIB)
    assert three.peak_bytes > two.peak_bytes


def test_the_seed_s_model_gives_its_figure():
    found = ledger(LLAMA_70B, Layout(seq_len=8192, recompute="full"), SIMPLE)
    assert in_group(found.heaviest, 1, "activations") * GIB == 10_737_418_240
    assert found.peak_bytes == 1_139_596_722_176
    states = in_group(found.heaviest, 1, "weights", "gradients", "optimizer states") * GIB
    assert states == 1_128_859_303_936  # the seed calls all 1,140 GB states; these are 1,129 of them


def test_a_term_s_formula_is_what_was_computed():
    for one in ledger(LLAMA_70B, TENSOR_8).heaviest.phases[1].terms:
        product = 1.0
        for _, factor in one.times:
            product *= factor
        for _, factor in one.over:
            product /= factor
        assert product == pytest.approx(one.bytes, rel=1e-12)
        assert one.formula
        assert one.source
        assert one.grows_with


def test_the_lines_of_every_event_sum_to_its_bytes():
    for profile in PROFILES.values():
        for zero_stage in [0, 1, 2, 3]:
            layout = Layout(data=4, tensor=4, zero_stage=zero_stage, seq_len=4096, recompute="selective")
            for stage in ledger(LLAMA_8B, layout, profile).stages:
                for event, (allocated, reserved) in stage.event_bytes.items():
                    phase = stage.at(event)
                    assert phase.bytes("allocated") == pytest.approx(allocated, rel=1e-12)
                    assert phase.bytes("reserved") == pytest.approx(reserved, rel=1e-12)
                    assert sum(line.bytes for line in phase.terms) == pytest.approx(phase.bytes(), rel=1e-12)


def test_a_stage_needs_what_its_worst_phase_needs():
    found = ledger(LLAMA_8B, Layout(data=8, pipeline=4, zero_stage=1, micro_batches=8)).stages
    for stage in found:
        assert stage.bytes() == pytest.approx(max(phase.bytes() for phase in stage.phases), rel=1e-12)


def test_stage_3_with_a_pipeline_is_refused_where_the_framework_cannot():
    with pytest.raises(ValueError, match=r"^zero_stage = 3: at most 1 with pipeline = 2 under DeepSpeed"):
        ledger(LLAMA_8B, Layout(pipeline=2, zero_stage=3), DEEPSPEED)


def test_a_gpu_alone_holds_nothing_for_the_others():
    names = {term.name for term in ledger(model("gpt2"), Layout()).heaviest.peak.terms}
    assert "driver's context" in names
    assert "communicators" not in names


WHOLE = Transformer(
    n_layers=4, d_model=64, n_heads=4, d_ff=192, vocab_size=1000
)  # 64,000 numbers in its largest tensor
ADAM = [
    ("fp32, bf16 compute", "adamw", 8),
    ("pure bf16", "adamw", 4),
    ("bf16", "adamw, bf16 moments", 4),
    ("fp32, bf16 compute", "sgd, momentum", 4),
    ("pure bf16", "sgd, momentum", 2),
    ("fp32, bf16 compute", "sgd", 0),
    ("bf16", "adamw, 8 bit", 2 + 8 / 256),
]


def of_torch(**changes):
    return replace(MEGATRON, vocab_multiple=1, **changes)


@pytest.mark.parametrize(("precision", "optimizer", "each"), ADAM)
def test_an_optimizer_keeps_what_pytorch_keeps(precision, optimizer, each):
    """Measured with PyTorch 2.13; bitsandbytes for 8 bits."""
    stage = ledger(WHOLE, Layout(), of_torch(precision=precision, optimizer=optimizer)).stages[0]
    found = sum(line.bytes for line in stage.phases[2].terms if line.name.startswith("moments"))
    assert found == each * WHOLE.n_params


@pytest.mark.parametrize(("precision", "each"), [("fp32, bf16 compute", 4), ("pure bf16", 2)])
def test_muon_keeps_one_momentum_of_matrices_and_adam_for_the_rest(precision, each):
    stage = ledger(WHOLE, Layout(), of_torch(precision=precision, optimizer="muon")).stages[0]
    found = {line.name: line.bytes for line in stage.phases[2].terms}
    assert found["moments, matrices"] == each * WHOLE.matmul_params
    assert found["moments, tables and norms"] == 2 * each * (WHOLE.n_params - WHOLE.matmul_params)


STEPS = [("fused", lambda n, largest: 0), ("foreach", lambda n, largest: n), ("loop", lambda n, largest: 2 * largest)]


@pytest.mark.parametrize(("step", "numbers"), STEPS)
@pytest.mark.parametrize(("precision", "each"), [("fp32, bf16 compute", 4), ("pure bf16", 2)])
def test_the_optimizer_step_needs_what_pytorch_s_step_needs(step, numbers, precision, each):
    stage = ledger(WHOLE, Layout(), of_torch(precision=precision, optimizer_step=step)).stages[0]
    found = sum(line.bytes for line in stage.phases[2].terms if line.name == "optimizer step")
    assert found == each * numbers(WHOLE.n_params, 64_000)


def test_offloading_takes_the_optimizer_off_the_gpu():
    kept, gone = (ledger(WHOLE, Layout(), of_torch(offload_optimizer=off)).stages[0] for off in (False, True))
    difference = kept.phases[2].bytes("allocated") - gone.phases[2].bytes("allocated")
    assert difference == 12 * WHOLE.n_params


def test_fp8_keeps_two_copies_of_each_matrix():
    stage = ledger(WHOLE, Layout(), of_torch(precision="fp8, fp32 gradients")).stages[0]
    found = {line.name: line.bytes for line in stage.phases[2].terms}
    assert found["low-precision copies"] == 2 * WHOLE.matmul_params


def test_megatron_s_distributed_optimizer_keeps_6_and_12_over_data():
    stage = ledger(WHOLE, Layout(data=4, context=2, zero_stage=1), of_torch()).stages[0]
    states = ("weights", "gradients", "optimizer states")
    assert in_group(stage, 2, *states) * GIB == pytest.approx((6 + 12 / 8) * WHOLE.n_params)


def test_learned_positions_are_whole_on_every_rank_of_the_first_stage():
    shape = replace(WHOLE, learned_positions=512)
    with_, without = (ledger(one, Layout(tensor=4, pipeline=2), of_torch()).stages for one in (shape, WHOLE))
    first, last = ((term_of(a) - term_of(b)) for a, b in zip(with_, without, strict=True))
    assert (first, last) == (2 * 512 * 64, 0)


def term_of(stage, name="weights"):
    return sum(line.bytes for line in stage.phases[2].terms if line.name == name)


def test_a_tied_table_is_copied_to_a_last_stage_of_its_own():
    tied = replace(WHOLE, tied=True)
    assert term_of(ledger(tied, Layout(), of_torch()).stages[0]) == 2 * tied.n_params
    stages = ledger(tied, Layout(pipeline=2), of_torch()).stages
    assert sum(map(term_of, stages)) == 2 * (tied.n_params + 64_000)


def test_the_vocabulary_is_padded_for_the_ranks_that_share_it():
    found = ledger(WHOLE, Layout(tensor=4)).stages[0]
    unpadded = ledger(WHOLE, Layout(tensor=4), of_torch()).stages[0]
    assert term_of(found) - term_of(unpadded) == 2 * 2 * (1024 - 1000) * 64 / 4


def test_fsdp_shards_states_over_data_and_context():
    titan = PROFILES["torchtitan 2024-12"]
    stage = ledger(LLAMA_8B, Layout(data=4, context=8, zero_stage=3), titan).stages[0]
    assert in_group(stage, 2, "weights", "gradients", "optimizer states") == 16 * LLAMA_8B.n_params / 32 / GIB


def test_a_loss_in_parts_holds_the_logits_of_one_part():
    whole, parts = (ledger(LLAMA_8B, Layout(), replace(MEGATRON, loss_chunks=n)).stages[0] for n in (1, 8))
    one, eight = (
        sum(line.bytes for line in stage.at("loss, forward").terms if line.name == "logits") for stage in (parts, whole)
    )
    assert eight == 8 * one


def test_a_layernorm_is_one_kernel_whatever_the_framework_does_to_an_rmsnorm():
    """PyTorch, aten/native/layer_norm: input, mean and deviation are saved; LlamaRMSNorm of transformers upcasts."""
    tokens, width = 8 * 1024, 768
    gpt2, llama = (replace(model("gpt2"), norm=norm) for norm in ("layer", "rms"))
    upcast = replace(MEGATRON, norm="upcast")
    saved = [saved_bytes(shape, Layout(micro_batch=8, seq_len=1024), upcast) for shape in (gpt2, llama)]
    assert saved[0]["attention norm, input"] == 2 * tokens * width
    assert saved[1]["attention norm, input"] == 4 * tokens * width
