"""A run description: a file in a minute, a hash that stands for it, expectations that say where they come from."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.architecture import MODELS, MixtureOfExperts, Transformer, model
from lib.compute import training_days
from lib.compute.mfu import convention
from lib.description import Expectations, RunDescription, differences, parse, read, to_toml, write
from lib.description.limits import limit
from lib.hardware import Cluster
from lib.layout import Layout
from lib.memory import ledger
from lib.memory.measured import MEASURED
from lib.memory.profiles import MEGATRON, TORCHTITAN
from lib.recipe.schedules import Schedule
from lib.scaling import LAWS

MINUTE = """
tokens = "2T"
[model]
name = "llama-3-8b"
[cluster]
accelerator = "h100"
n_gpus = 256
"""
FULL = (
    MINUTE
    + """
[layout]
tensor = 2
zero_stage = 1
seq_len = "8k"
batch_tokens = "4_194_304"
recompute = "full"
[recipe]
peak_lr = 3e-4
warmup_steps = 2000
[speed]
mfu = "40%"
"""
)


def made(**fields):
    """A run as `FULL` describes it, with changed fields."""
    return replace(parse(FULL), **fields)


# Reading


def test_four_facts_make_a_run():
    run = parse(MINUTE)
    assert (run.n_tokens, run.shape, run.cluster.n_gpus) == (2e12, model("llama-3-8b"), 256)
    assert run.layout.data == 256
    assert run.schedule.total_steps == run.steps == 2e12 // run.batch_tokens


def test_numbers_are_read_as_people_write_them():
    run = parse(FULL)
    assert (run.layout.seq_len, run.layout.data, run.batch_tokens, run.mfu) == (8192, 128, 4_194_304, 0.4)
    assert run.layout.micro_batches == 4


def test_a_shape_may_be_a_configuration_beside_the_file(tmp_path):
    config = {"model_type": "llama", "hidden_size": 64, "intermediate_size": 192, "num_attention_heads": 4}
    (tmp_path / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 2, "vocab_size": 512}))
    (tmp_path / "run.toml").write_text(MINUTE.replace('name = "llama-3-8b"', 'config = "config.json"'))
    assert read(str(tmp_path / "run.toml")).shape.d_model == 64


def test_a_shape_may_be_sizes_or_a_released_model_with_changes():
    sizes = "n_layers = 2\nd_model = 64\nn_heads = 4\nd_ff = 192\nvocab_size = 512\ntied = true"
    assert parse(MINUTE.replace('name = "llama-3-8b"', sizes)).shape.tied
    shallow = parse(MINUTE.replace('"llama-3-8b"', '"llama-3-8b"\nn_layers = 4')).shape
    assert shallow == replace(model("llama-3-8b"), n_layers=4)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('tokens = "2T"\n', "", "tokens: missing"),
        ('tokens = "2T"', 'tokens = "2 days"', "tokens = '2 days': the unit 'days'"),
        ('tokens = "2T"', "tokens = nan", "tokens = nan: a finite number above 0"),
        ('tokens = "2T"', "tokens = 0", "tokens = 0: a finite number above 0"),
        ('tokens = "2T"', "tokens = true", "tokens = True (bool): one number"),
        ('tokens = "2T"', 'tokens = "2T"\ntoken = 3', "token = 3: no field; did you mean 'tokens'?"),
        ("n_gpus = 256", "", "cluster.n_gpus: missing"),
        ("n_gpus = 256", "n_gpus = 0", "cluster.n_gpus = 0: a whole number, 1 or more"),
        ("n_gpus = 256", "n_gpus = 2.5", "cluster.n_gpus = 2.5 (float): a whole number"),
        ('"h100"', '"h1000"', "cluster.accelerator = 'h1000': one of"),
        ('"llama-3-8b"', '"llama-3-9b"', "model.model = 'llama-3-9b': one of"),
        ('name = "llama-3-8b"', "", "model.name: missing; a released model, or config, or all of n_layers"),
        ('"llama-3-8b"', '"llama-3-8b"\nn_heads = 5', "model.n_kv_heads = 8: a divisor of n_heads = 5"),
        ("[cluster]", "[cluster]\npower = 3", "cluster.power = 3: no field"),
        (
            "tensor = 2",
            "tensor = 3",
            "layout.tensor = 3, with pipeline and context 3 GPUs a copy: a divisor of the 256",
        ),
        ("tensor = 2", "tensor = 64", "tensor = 64: a divisor of n_heads = 32"),
        ("tensor = 2", "data = 64", "layout = data x tensor x pipeline x context = 64: 256"),
        ('"4_194_304"', "4_000_000", "layout.batch_tokens = 4,000,000: a multiple of the 1,048,576 tokens"),
        ("tensor = 2", "tensor = 2\nmicro_batches = 3", "layout.batch_tokens = 4194304: it or micro_batches"),
        ("zero_stage = 1", "zero_stage = 4", "layout.zero_stage = 4: 0, 1, 2 or 3"),
        ("peak_lr = 3e-4", "peak_lr = -1", "recipe.peak_lr = -1: a finite number above 0"),
        ("warmup_steps = 2000", "warmup_steps = 1e9", "recipe.warmup_steps = 1e+09: fewer than"),
        ("[recipe]", "[recipe]\nschedule = 'cosin'", "recipe.schedule = 'cosin': one of cosine"),
        ('mfu = "40%"', "mfu = 40", "mfu = 40: a fraction above 0, at most 1; 40% is written 0.4"),
        ("[speed]", "[speed]\nconvention = '7N'", "convention = '7N': one of 6N"),
        ("[speed]", "[speed]\ndtype = 'fp4'", "dtype = 'fp4': H100 SXM has no fp4"),
        ("[speed]", "[framework]\nname = 'megatro'\n[speed]", "framework.profile = 'megatro': one of"),
        ("[speed]", "[framework]\nnorm = 'no'\n[speed]", "framework.norm = 'no': one of"),
        ("[layout]", "layout = 3\n[other]", "other"),
        ("[layout]", "[layout", "Expected ']'"),
    ],
)
def test_what_a_file_says_wrongly_is_told_with_file_field_and_value(old, new, told):
    assert FULL.count(old) >= 1
    with pytest.raises(ValueError, match=r"^run\.toml: ") as refused:
        parse(FULL.replace(old, new, 1), "run.toml")
    assert told in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize("raw", [b"\xff\xfe", b"", b"\x00" * 10, b"tokens = 1\ntokens = 2", b"[" * 10_000])
def test_bytes_that_are_no_description_are_refused_in_one_line(tmp_path, raw):
    (tmp_path / "run.toml").write_bytes(raw)
    with pytest.raises(ValueError, match=r"run\.toml: ") as refused:
        read(str(tmp_path / "run.toml"))
    assert len(str(refused.value).splitlines()) == 1


def test_a_folder_and_a_device_are_no_files(tmp_path):
    for path in (str(tmp_path), "/dev/zero", str(tmp_path / "none.toml")):
        with pytest.raises(ValueError, match="cannot be read"):
            read(path)


# Writing, and the hash

LETTERS = st.characters(exclude_categories=["Cs"])  # what UTF-8 can write, found ten times as fast as by its codec

shapes = st.sampled_from([model(name) for name in sorted(MODELS)[::7]]) | st.builds(
    Transformer,
    name=st.text(LETTERS, max_size=8),
    n_layers=st.integers(2, 4),
    d_model=st.just(64),
    n_heads=st.just(4),
    n_kv_heads=st.sampled_from([1, 2, 4]),
    d_ff=st.just(192),
    vocab_size=st.just(512),
    tied=st.booleans(),
    windows=st.sampled_from([(None,), (16, None)]),
    moe=st.sampled_from([None, MixtureOfExperts(n_experts=4, experts_per_token=2, d_ff_expert=64)]),
)


@st.composite
def descriptions(draw):
    layout = Layout(
        data=draw(st.integers(1, 64)),
        zero_stage=draw(st.integers(0, 3)),
        seq_len=draw(st.integers(1, 64)) * 128,
        micro_batches=draw(st.integers(1, 8)),
        recompute=draw(st.sampled_from(["none", "full"])),
    )
    n_tokens = draw(st.floats(1e10, 1e13))
    peak = draw(st.floats(1e-6, 1e-2))
    schedule = Schedule(
        kind=draw(st.sampled_from(["cosine", "warmup-stable-decay"])),
        peak_lr=peak,
        min_lr=peak * draw(st.floats(0, 1)),
        total_steps=float(int(n_tokens // layout.global_batch_tokens)),
        warmup_steps=float(draw(st.integers(0, 10))),
        decay_steps=draw(st.floats(1, 100)),
    )
    return RunDescription(
        name=draw(st.text(LETTERS, max_size=12)),
        shape=draw(shapes),
        n_tokens=n_tokens,
        cluster=Cluster(accelerator=draw(st.sampled_from(["h100", "a100"])), n_gpus=layout.n_gpus),
        layout=layout,
        profile=draw(st.sampled_from([MEGATRON, TORCHTITAN, replace(MEGATRON, optimizer="adamw, 8 bit")])),
        schedule=schedule,
        mfu=draw(st.floats(0.01, 1)),
        convention_name=draw(st.sampled_from(["6N", "palm", "Megatron-LM"])),
        goodput=draw(st.floats(0.01, 1)),
        law_name=draw(st.sampled_from(sorted(LAWS))),
        price_usd_per_gpu_hour=draw(st.none() | st.floats(0.01, 100)),
    )


@given(run=descriptions())
def test_what_is_written_is_read_back(run):
    again = parse(to_toml(run))
    assert again == run
    assert again.digest == run.digest
    assert json.loads(json.dumps(run.plain)) == run.plain


def test_comments_order_and_spelling_do_not_change_the_hash():
    spelled = FULL.replace("llama-3-8b", "Llama 3 8B").replace('"40%"', "0.40  # assumed").replace('"2T"', "2_000e9")
    other = spelled.replace("[speed]\nmfu = 0.40  # assumed\n", "")
    assert parse(spelled).digest == parse(FULL).digest
    assert parse('name = "another"\n' + other + "[speed]\nmfu = 0.4").digest == parse(FULL).digest


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"goodput": 0.8}, "goodput"),
        ({"mfu": 0.41}, "speed.mfu"),
        ({"price_usd_per_gpu_hour": 2.5}, "price_usd_per_gpu_hour"),
        ({"shape": replace(model("llama-3-8b"), tied=True)}, "model.tied"),
        ({"profile": replace(MEGATRON, optimizer="adamw, 8 bit")}, "framework.optimizer"),
        ({"law_name": "Hoffmann 2022"}, "law"),
    ],
)
def test_every_change_changes_the_hash_and_is_named(fields, path):
    run, other = made(), made(**fields)
    assert run.digest != other.digest
    assert list(differences(run.plain, other.plain)) == [path]


def test_a_file_is_never_written_over_unless_told(tmp_path):
    path = str(tmp_path / "run.toml")
    write(path, made())
    before = (tmp_path / "run.toml").read_bytes()
    with pytest.raises(FileExistsError):
        write(path, made(mfu=0.5))
    assert (tmp_path / "run.toml").read_bytes() == before
    write(path, made(mfu=0.5), replace=True)
    assert read(path).mfu == 0.5
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.toml"]


def test_a_write_that_fails_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "run.toml"
    write(str(path), made())
    before = path.read_bytes()

    def full(number):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("lib.whole_files.os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write(str(path), made(mfu=0.5), replace=True)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.toml"]


def test_a_schedule_of_another_length_contradicts_the_run():
    run = made()
    with pytest.raises(ValueError, match=r"^schedule = .* steps: 476,837"):
        replace(run, schedule=replace(run.schedule, total_steps=1000.0, warmup_steps=10.0))


# Expectations


def test_days_are_those_of_the_formula_and_of_the_other_conventions():
    run = made()
    expected = Expectations(run=run)
    days = training_days(float(run.shape.n_params), 2e12, 256, 989.4e12, 0.4)
    assert expected.days.value == pytest.approx(days)
    assert expected.calendar_days.value == pytest.approx(days / 0.9)
    assert "Megatron-LM hardware" not in expected.other_conventions
    assert {"PaLM", "Megatron-LM", "Megatron-Bridge"} <= set(expected.other_conventions)
    palm = convention("PaLM").flops_per_token(run.shape, 8192) / (6 * run.shape.n_params)
    assert expected.days_if_counted("PaLM") == pytest.approx(days * palm)


def test_memory_is_the_ledgers_as_the_allocator_reserves():
    run = made()
    assert Expectations(run=run).memory.value == ledger(run.shape, run.layout, run.profile).bytes("reserved")
    assert Expectations(run=run).fit.fits


def test_the_tolerance_of_memory_holds_the_published_readings_but_for_pipelines_of_pytorch():
    """By the counters that the expectation is in; the driver's come from an older framework."""
    rows = [row for row in MEASURED.values() if row.counter != "driver"]
    far = [row for row in rows if max(map(abs, row.range_errors)) > limit("memory", "share").value]
    assert (len(rows), len(far)) == (46, 2)
    assert all("torchtitan" in row.found.profile.name and row.found.layout.pipeline > 1 for row in far)


def test_the_rate_of_interruptions_is_that_of_llama_3():
    assert limit("GPU-hours between interruptions", "gpu_hours").value == round(54 * 24 * 16_384 / 419)
    assert limit("scaling", "share").value == round(400 / 430, 2)
    assert limit("speed", "share").value == round(1 - 400 / 430, 2)


def test_the_loss_has_the_laws_own_error_and_says_when_there_is_none():
    both = Expectations(run=made()).loss
    assert 0.01 < both.tolerance < 0.05
    alone = Expectations(run=made(law_name="Gadre 2024, C4")).loss
    assert alone.tolerance == pytest.approx(1.96 * 0.275)
    assert "of E alone" in alone.tolerance_source
    unknown = Expectations(run=made(law_name="Hoffmann 2022")).loss
    assert unknown.tolerance is None
    assert unknown.range is None


def test_every_expectation_says_where_it_and_its_tolerance_come_from():
    for row in Expectations(run=made()).rows:
        assert row.source
        assert row.tolerance_source


def test_money_is_hours_times_price_and_unknown_without_one():
    expected = Expectations(run=made(price_usd_per_gpu_hour=2.0))
    assert expected.cost_usd == pytest.approx(2 * 256 * 24 * expected.calendar_days.value)
    assert Expectations(run=made()).cost_usd is None
