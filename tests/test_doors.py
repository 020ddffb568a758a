"""Every public function and dataclass of `lib` refuses what it cannot take, naming argument, value and what is allowed.

Functions and dataclasses are found, not listed. Listed is the library's vocabulary: each argument's name, with an
example and the kind of value that it takes. A name without a kind fails, so that no door is left unwatched.
"""

import contextlib
import dataclasses
import datetime
import importlib
import inspect
import math
import pkgutil
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import lib
from lib.architecture import FIGURES, WORDS, LatentAttention, MixtureOfExperts, model
from lib.architecture.shapes import Candidate, Constraints
from lib.compute.gpu_hours import run
from lib.compute.mfu import convention
from lib.compute.speeds import speed
from lib.corpus import FACTS, corpus
from lib.description import Expectations, RunDescription
from lib.exercises import ASSIGNMENTS, QUESTIONS, cases
from lib.fit import OBJECTIVES, approach_2, bootstrap, fit_law, hold_out, isoflop_runs, parabola
from lib.fit.floor import Floor
from lib.fit.forecast import forecast
from lib.fit.report import report
from lib.grading.jail import NO_JAIL
from lib.grading.record import CaseResult, QuestionResult, Record
from lib.hardware import Cluster, accelerator
from lib.ladder import Evidence, Piece, evaluate, rungs, tasks
from lib.ladder.late import LateFault
from lib.ladder.published import CALENDARS
from lib.ladder.verdicts import Judgement
from lib.layout import RULES as LAYOUT_RULES
from lib.layout import Layout, place
from lib.layout.slices import SCHEMES
from lib.logs import AgainstPlan, Entry, Log, Report
from lib.logs.finish import Progress
from lib.logs.interruptions import Interruptions
from lib.logs.outlook import Outlook
from lib.logs.stability import Trend
from lib.memory import LOSSES, OPTIMIZERS, PRECISIONS, Change, fit, ledger
from lib.memory.measured import MEASURED
from lib.memory.profiles import MEGATRON
from lib.memory.timeline import timeline
from lib.pilot.pilot import scale_down
from lib.pilot.small_logs import read_logs
from lib.pilot.small_runs import SmallRun
from lib.pilot.tensors import tensors
from lib.plan import A100_FORTNIGHT, Line, Plan
from lib.readiness import ITEMS, Statement, review
from lib.recipe import Recipe, Setup, size_and_tokens
from lib.recipe.advice import PRACTICES, SCALES, Facts, Finding
from lib.recipe.batches import Ramp
from lib.recipe.held_out import Residual
from lib.recipe.lr_law import GPT3_TABLE, STEP_LAW
from lib.recipe.mup import RULES as MUP_RULES
from lib.recipe.mup import Sweep
from lib.recipe.published_runs import COMPARABLE, habit, published_run
from lib.recipe.schedules import Schedule
from lib.recipe.seed_recipes import any_scale
from lib.recipe.small_runs import SmallRuns
from lib.runs import of_law
from lib.runs.identifiability import Design
from lib.scaling import FACTS as LAW_ROWS
from lib.scaling import law
from lib.scaling.allocations import Comparison, published
from lib.scaling.budget_laws import RULE_OF_20
from lib.scaling.certainty import Estimate
from lib.scaling.ensemble import GROUPS, Ensemble
from lib.scaling.evidence import LossVerdict
from lib.scaling.kaplan_gap import CORRECTIONS
from lib.scaling.moe_laws import moe_law
from lib.scaling.overtraining import Lifetime
from lib.scaling.repeated_data import DataLimitedLaw
from lib.whatif import model as whatif
from lib.whatif.catalogue import WHAT_IFS, RefusedError, answer

# The refusals have tests of their own, and so have faces, which are handed what the catalogue has made and checked. The
# what-ifs' view functions are tested below through the catalogue, by which alone a reader reaches them. Tables of
# chapters hand their arguments on to what is tested here. Reading a file of runs or a configuration is tested with
# files.
ELSEWHERE = ("check", "cli", "names", "plots", "reference", "tables", "whatif", "fit.tables", "runs.table")
ELSEWHERE += ("architecture.counting", "architecture.rules")  # handed a Transformer by its own methods
ELSEWHERE += ("architecture.families", "architecture.file_fields", "architecture.readers", "architecture.huggingface")
MEMORY_PARTS = ("about", "activations", "events", "plain", "pools", "rank", "resident", "simple", "stored")
MEMORY_PARTS += ("tables", "weights")
ELSEWHERE += tuple(f"memory.{name}" for name in MEMORY_PARTS)  # handed what a ledger has checked
OF_INPUTS = [f"exercises.questions.Question.{name}.inputs" for name in ("prompt_for", "answer")]
PILOT_CUTS = ("degrees", "rows", "padded", "device_params", "device_bytes")
ELSEWHERE += tuple(f"pilot.{name}" for name in ("lower", "mesh", "model", "shards", "step"))  # start JAX
ELSEWHERE += tuple(
    f"pilot.{name}"
    for name in ("checkpoint", "climb", "compiled", "one_batch", "one_device", "one_node", "programs", "rung", "unit")
)
ELSEWHERE += ("description.files", "whole_files", "ladder.files", "readiness.files")  # tested with files
GRADING = ("batch", "conversation", "doctor", "grader", "jailed", "release", "results", "submissions")
GRADING += ("gradescope_zip", "nbgrader_tree", "on_gradescope")
ELSEWHERE += tuple(f"grading.{name}" for name in GRADING)  # tested with submissions, folders and jails
ELSEWHERE += ("course",)  # tested with downloads, rosters and results folders
ELSEWHERE += ("pilot.small_logs", "pilot.small_train")  # tested with files; the second starts JAX
# What judges takes any value at all, and has tests that send it; chapters' questions are made by hand.
CHAPTERS = ("worked_example", "four_functions", "chips_to_flops", "how_big_how_long", "what_one_number_hides")
CHAPTERS += ("fitting", "memory_ledger", "sizing", "recipes", "pilot_ladder", "readiness_review")
JUDGING = ("amounts", "case", "choices", "masters", "own_work", "trying", "verdict")
ELSEWHERE += tuple(f"exercises.{name}" for name in (*CHAPTERS, *JUDGING))
ELSEWHERE += tuple(f"logs.{name}" for name in ("fields", "plain", "read", "records", "tables", "tensorboard", "times"))
ELSEWHERE += ("compute.counts", "plan.fortnight", "recipe.tables", "scaling.side_by_side", "scaling.trade_offs")
ELSEWHERE += ("ladder.tables", "readiness.tables")

SEVEN = "7"  # a number in text, which only a control reads
NO_NUMBER = (
    None,
    True,
    SEVEN,
    b"7",
    1j,
    [1.0],
    {},
    np.bool_(True),
    np.int64(7),
    np.float32(7),
    Decimal(7),
    Fraction(7),
)
NO_NUMBER += (
    np.array(7.0),
    np.array([1, 2]),
    np.array([]),
    np.array([[1, 2], [3, 4]]),
    np.ma.array([1.0, 2.0], mask=[0, 1]),
)
NOT_FINITE = (math.nan, math.inf, -math.inf, 10**400)
NO_TEXT = (None, 5, 1.5, True, b"text", ["text"], np.array([1.0]))
TWO = np.array([1.0, 1.0])  # fine for a formula, too many for a dataclass


@dataclasses.dataclass(frozen=True)
class Kind:
    """An example of what is taken, and what is refused. `bad` is None where a value is only shown as it is."""

    good: object
    bad: tuple | None

    def or_none(self):
        return Kind(self.good, tuple(value for value in self.bad if value is not None))


def number(good, *bad):
    return Kind(good, (*NO_NUMBER, *NOT_FINITE, *bad))


def positive(good):
    return number(good, 0, -1)


def fraction(good):
    return number(good, 0, -0.1, 1.1, 45)


def whole(good):
    return number(good, 0, -1, 1.5)


def integer(good, *bad):
    return number(good, -1, 1.5, 2.0, TWO, *bad)


def word(good):
    return Kind(good, (*NO_TEXT, "no such thing", ""))


def instance(good):
    return Kind(good, (None, 5, True, "no such thing", object()))


TEXT = Kind("text", NO_TEXT)
SWITCH = Kind(True, (None, 0, 1, "True", np.bool_(True)))
SHOWN = Kind(None, None)
SHOW = ("number", "roughly", "power", "count", "bytes", "seconds")

GROWING = [1e7 * 2**k for k in range(6)]

# One instance of every dataclass: its fields are the arguments that are spoilt one by one.
EXAMPLES = (
    A100_FORTNIGHT,
    PLAN := Plan(brief=A100_FORTNIGHT),
    Line(step="compute", label="compute", value=2.17e22, unit="FLOP"),
    LAW := law("Hoffmann 2022"),
    LAW.origin,
    next(law(name).origin.fitted for name in ("Hoffmann 2022", "Besiroglu 2024") if law(name).origin.fitted),
    law("Besiroglu 2024").origin.errors,
    LossVerdict(loss=1.95, target_loss=1.96, error=0.03),
    LLAMA := model("llama-3-8b"),
    EXPERTS := MixtureOfExperts(n_experts=8, experts_per_token=2, d_ff_expert=64),
    LATENT := LatentAttention(kv_rank=512, nope_head_dim=128, rope_head_dim=64, v_head_dim=128),
    RULES := Constraints(),
    CANDIDATE := Candidate(shape=LLAMA, target_params=8e9, constraints=RULES),
    CHIP := accelerator("h100"),
    CLUSTER := Cluster(accelerator=CHIP, n_gpus=128),
    CHIP.facts["peak_bf16"],
    FACTS["The Pile"],
    corpus("The Pile"),
    RUN := run("llama-13b"),
    CHINCHILLA := published("Chinchilla"),
    Comparison(run=CHINCHILLA, law=LAW),
    Estimate(value=0.1, error=0.03),
    CONVENTION := convention("Megatron-LM").dividing_by(989.4e12, "H100, bf16"),
    SPEED := speed("llama 3 8b, megatron-lm"),
    FIGURE := SPEED.figures[0],
    RULE_OF_20,
    CORRECTIONS[0],
    moe_law("Ludziejewski 2025"),
    moe_law("Clark 2022"),
    VOTES := Ensemble(compute=1e21),
    VOTES.votes[0],
    VOTES.least_regret,
    Lifetime(law=LAW, target_loss=2.0, inference_tokens=1e12),
    DataLimitedLaw(law=LAW, unique_tokens=1e10),
    USED := published_run("Llama 65B"),
    habit("weight_decay"),
    STEP_LAW["peak_lr"],
    GPT3_TABLE["peak_lr"],
    Residual(run=USED, group="Llama", used=1.5e-4, foretold=1.3e-4),
    COSINE := Schedule(kind="cosine", peak_lr=3e-4, min_lr=3e-5, total_steps=1e5, warmup_steps=1e3, decay_steps=1e4),
    Ramp(first_tokens=32e3, batch_tokens=3.2e6, ramp_tokens=12e9),
    MUP_RULES["hidden"],
    Sweep(n_trials=100, n_params=40e6, n_tokens=4e9),
    SmallRuns(n_trials=5),
    SETUP := Setup(),
    Recipe(run=size_and_tokens(compute=1e22), setup=SETUP),
    any_scale(1e22).step,
    any_scale(1e22),
    PLANNED := Facts(compute=1e23),
    SCALES[0],
    Finding(label="width", followed=True, words="as advised"),
    TABLE := isoflop_runs(LAW, (1e19, 1e20, 1e21)),
    Design(runs=TABLE, law=LAW),
    FIT := fit_law(TABLE, n_starts=3),
    RESAMPLED := bootstrap(FIT, n_resamples=10, n_starts=1),
    HELD := hold_out(TABLE, n_starts=3),
    LINE := approach_2(TABLE),
    report(TABLE, n_starts=3, n_resamples=10),
    parabola((1e8, 1e9, 1e10), (3.0, 2.0, 3.0)),
    FLOOR := Floor(value=1.69, error=0.03, source="text"),
    FORECAST := forecast(of_law(LAW, GROWING, [20 * n for n in GROWING]), FLOOR, CHINCHILLA, n_resamples=100),
    SmallRun(width=16, peak_lr=0.02),
    LAYOUT := Layout(data=8, tensor=2, pipeline=2, interleave=2, micro_batches=4, layers_per_stage=(8, 8, 8, 8)),
    LAYOUT_RULES[0],
    place(LLAMA, LAYOUT)[0],
    MEGATRON,
    LOSSES["megatron"],
    OPTIMIZERS["adamw"],
    PRECISIONS["bf16"],
    LEDGER := ledger(LLAMA, LAYOUT),
    LEDGER.stages[0],
    LEDGER.stages[0].phases[1],
    LEDGER.stages[0].phases[1].terms[0],
    timeline(LEDGER.stages[0])[0],
    SCHEMES[0],
    MEASURED["GPT 15B, TP 8"],
    FITTED := fit(LEDGER, CHIP),
    DESCRIBED := RunDescription(
        shape=LLAMA,
        n_tokens=1e12,
        cluster=Cluster(accelerator=CHIP, n_gpus=8),
        layout=Layout(data=8),
        schedule=Schedule(kind="cosine", peak_lr=3e-4, min_lr=3e-5, total_steps=61035156.0),
        price_usd_per_gpu_hour=2.0,
    ),
    EXPECTED := Expectations(run=DESCRIBED),
    EXPECTED.loss,
    RUNG := rungs(DESCRIBED)[1],
    RUNG.thresholds[0],
    PIECE := Piece(
        rung=2,
        what="seed 0",
        measured={"one_batch_loss": 0.01},
        run_digest=DESCRIBED.digest,
        time="2026-11-29T22:00:00+00:00",
    ),
    EVIDENCE := Evidence(run=DESCRIBED.plain, pieces=(PIECE,)),
    CLIMB := evaluate(DESCRIBED, EVIDENCE),
    LateFault(run=DESCRIBED, rung=4, unnoticed_tokens=1e11, stopped_hours=24.0),
    CLIMB.verdicts[1],
    ITEMS["resume"],
    STATEMENT := Statement(statement="done", date=datetime.date(2026, 11, 29), approved_gpu_hours=1e6),
    REVIEWED := review(DESCRIBED, {"configs": STATEMENT}),
    REVIEWED.states[0],
    Judgement(threshold=RUNG.thresholds[0], value=0.01),
    CALENDARS["OPT 175B, experiment 12"],
    Change(label="ZeRO 1", fit=FITTED, saved_bytes=1e9),
    scale_down(DESCRIBED),
    CASE_RESULT := CaseResult(hidden=True, outcome="right", sentence="Right."),
    QUESTION_RESULT := QuestionResult(
        name="f", title="F", outcome="passed", sentence="Right.", points=1, max_points=2, cases=(CASE_RESULT,)
    ),
    RECORD := Record(
        assignment="start",
        student="ada",
        file="ada.py",
        sha256="00",
        grading="00",
        outcome="graded",
        questions=(QUESTION_RESULT,),
    ),
    NO_JAIL,
    ASKED := QUESTIONS["train_flops"],
    ASKED.slips[0],
    ASSIGNMENTS["start"],
    LOG := Log(entries=tuple(Entry(line=i, step=i, loss=2.0, seconds=2.0, time=2.0 * i) for i in range(1, 60))),
    REPORTED := Report(log=LOG),
    REPORTED.course,
    REPORTED.pace,
    Trend(ratio=2.0, known=True),
    Outlook(best=2.0, low=1.0, high=3.0),
    Progress(rates=(0.5, 0.6), up_seconds=100.0),
    USUAL := Interruptions(between_seconds=9e4, least_between_seconds=3e4, cost_seconds=9e3),
    BESIDE := AgainstPlan(report=REPORTED, run=DESCRIBED),
    BESIDE.assumptions[0],
    tasks(5, EXPECTED)[0],
)


def _same(kind, names):
    return dict.fromkeys(names.split(), kind)


VOCABULARY = {
    **_same(Kind("text", NO_TEXT), "advice assignment file grading program slip"),
    **_same(Kind("text", NO_TEXT), "title prompt hint sentence intro"),
    **_same(Kind("text", NO_TEXT).or_none(), "student secret"),
    **_same(integer(2, 0), "points minutes"),
    **_same(SWITCH, "visible allows_lib hidden"),
    **_same(instance(ASKED.solution), "solution gives"),
    "question": instance(ASKED),
    **_same(positive(8e9), "n_params n_tokens source_tokens n_bytes target_params"),
    **_same(positive(1e21), "compute compute_at_most"),
    **_same(positive(2.0), "A B E alpha beta loss target_loss factor attention_backward bytes_per_token"),
    **_same(positive(20.0), "days compute_days gpu_hours memory_gb tokens_per_second figure value"),
    **_same(positive(1e15), "memory_bytes_per_second peak_flops"),
    **_same(positive(1e12).or_none(), "memory_bytes link_bytes_per_second power_watts printed_tokens n_runs"),
    **_same(positive(2.0).or_none(), "d_ff_ratio tokens_per_byte loss_at_most gb_per_gpu_at_most"),
    **_same(fraction(0.4), "mfu goodput utilization share tolerance"),
    **_same(Kind(1.0, (*NO_NUMBER, math.nan, 10**400)), "a b if_true if_false"),
    **_same(whole(128), "n_gpus seq_len"),
    **_same(integer(8, 0), "n_layers d_model n_heads d_ff vocab_size n_best devices_per_module"),
    **_same(integer(8, 0), "width_multiple d_ff_multiple layer_multiple query_group tensor"),
    **_same(integer(8, 0).or_none(), "n_kv_heads head_dim embedding_width"),
    **_same(integer(2), "norms_per_layer norms_outside_layers learned_positions n_mtp_layers layer"),
    **_same(integer(2, 0), "experts_per_token layer_period"),
    "bytes_per_number": positive(2.0),
    **_same(integer(8, 0), "d_ff_expert kv_rank nope_head_dim rope_head_dim v_head_dim"),
    **_same(integer(8, 0).or_none(), "q_rank window full_every"),
    **_same(integer(0), "n_shared_experts n_dense_layers"),
    "d_ff_shared": integer(0).or_none(),
    "dense_layers": Kind((), (None, 5, "3", [3], (-1,), (True,), ("3",))),
    "windows": Kind((None,), (None, 5, "4096", [4096], (), (0,), (True,), ("4096",))),
    "moe": instance(EXPERTS).or_none(),
    "latent": instance(LATENT).or_none(),
    **_same(Kind("text", NO_TEXT), "name source used_by peak printed remark tokenizer n_counts vendor note left_out"),
    **_same(positive(1e10), "unique_tokens matched_params decay epochs compute_unit tokens_decay params_decay"),
    **_same(number(1e12, -1), "inference_tokens"),
    **_same(number(0.1), "delta gamma omega zeta of_params of_experts of_both constant"),
    **_same(integer(8, 0), "n_experts most_experts"),
    **_same(positive(2.0), "E_start"),
    **_same(positive(300.0), "E_max"),
    **_same(positive(1.0).or_none(), "compute_at_least ln_A ln_B"),
    "stretch": Kind("text", NO_TEXT),
    **_same(Kind("text", NO_TEXT), "explanation"),
    "interval": Kind((0.4, 0.6), (None, 5, (0.4, 1.6), ("a", "b"))),
    **_same(Kind("text", NO_TEXT), "explanation"),
    **_same(SWITCH, "gated tied qkv_bias attention_output_bias mlp_bias head_bias head binary"),
    **_same(SWITCH, "attention_sinks router_bias router_buffer expert_bias shared_gate"),
    **_same(positive(3e-4), "peak_lr base_lr coefficient used foretold"),
    **_same(positive(2e6), "batch batch_tokens critical first_tokens noise_tokens ramp_tokens tokens_factor"),
    **_same(positive(1e5), "total_steps base_width width_factor tokens_per_param low_flops"),
    "warmup_steps": number(100.0, -1),
    **_same(number(3e-5, -1), "min_lr ablations_share pilot_share"),
    "proxy_share": fraction(0.1),
    **_same(number(-0.5), "params_exponent tokens_exponent lr_power std_power"),
    **_same(integer(8, 0), "data model_parallel micro_batch n_trials n_printed"),
    **_same(Kind((1e9, 2e9), (None, 5, (), (0.0, 1e9), ("a",))), "sizes values"),
    **_same(Kind("text", NO_TEXT), "batch_ramp family label lineage words what"),
    **_same(SWITCH, "is_fitted checkpoints_frequent data_filtered sparse"),
    "quantity": word("peak_lr"),
    "terms": word("params"),
    "rule": word("size and tokens"),
    "group": word("family"),
    "without": Kind("GPT-3", (*NO_TEXT, "no such thing")),
    "setting": word("weight_decay"),
    "kind": word("cosine"),
    "setup": instance(SETUP),
    "given_shape": instance(LLAMA).or_none(),
    "other": instance(COSINE),
    "runs": Kind(COMPARABLE, (5, (), ("a run",))),
    "condition": Kind(True, (None, 0, 1.0, "True", np.array([1.0]))),
    "peaks": Kind({"bf16": 1e15}, (None, 5, {}, {"bf16": -1}, {"bf16": None}, {"bf16": math.inf})),
    "law_name": word("Hoffmann 2022"),
    "corpus_name": word("The Pile"),
    "accelerator": word("h100"),
    "dtype": word("bf16"),
    "attention": word("causal"),
    "recompute": word("none"),
    "params": word("total"),
    "counts": word("total"),
    "counted_days": word("compute"),
    "norm": word("rms"),
    "qk_norm": word("none"),
    "step": word("compute"),
    **_same(word("tokens/s"), "unit to_unit"),
    **_same(instance(LLAMA), "model shape"),
    **_same(instance(CONVENTION), "convention to_convention"),
    "brief": instance(A100_FORTNIGHT),
    "plan": instance(PLAN),
    "cluster": instance(CLUSTER),
    "constraints": instance(RULES),
    "origin": instance(LAW.origin).or_none(),
    **_same(SHOWN, "aliases errors facts figures fine_errors fitted labels sources"),
    "objective": word(OBJECTIVES[0]),
    "objective_sum": number(0.1, -1),
    **_same(integer(2, 0), "n_starts n_at_best n_resamples n_draws"),
    "n_held": integer(2, 0).or_none(),
    "seed": integer(0),
    "noise": number(0.01, -1),
    "column": Kind("loss", NO_TEXT),
    "level": fraction(0.8),
}
COLUMN = Kind((1e8, 1e9, 1e10), (None, 5, "12", 1e9, (1e8, -1.0, 1e9), (1e8, "a", 1e9), (1e8, math.inf, 1e9)))
LOOKUPS = {
    "hardware.accelerator": "h100",
    "hardware.tpu_slice": "v5p-512",
    "compute.mfu.convention": "Megatron-LM",
    "corpus.corpus": "The Pile",
    "scaling.law": "Hoffmann 2022",
    "scaling.budget_laws.budget_law": "Kaplan 2020",
    "scaling.moe_laws.moe_law": "Clark 2022",
    "scaling.ensemble.dense_law": "Kaplan 2020",
    "architecture.released.model": "llama-3-8b",
    "scaling.allocations.published": "Chinchilla",
    "compute.gpu_hours.run": "llama-13b",
    "scaling.refits.refit": "240 points",
    "compute.speeds.speed": "llama 3 8b, megatron-lm",
    "recipe.published_runs.published_run": "Llama 65B",
    "plan.plan.Plan.days_if_counted": "Megatron-LM",
    **dict.fromkeys(("facts.load", "facts.sources"), "models"),
}
PAIR = Kind((1e8, 1e10), (None, 5, (1.0,), (0.0, 1.0), (2.0, 1.0), ("a", "b"), (1.0, math.inf)))

SCHEDULES = ("warmup", "cosine_lr", "linear_lr", "wsd_lr", "wsd_sqrt_lr", "Schedule.at")

VOCABULARY |= {
    **_same(
        integer(2, 0), "pipeline context expert interleave micro_batches vocab_multiple loss_chunks gathered_layers"
    ),
    **_same(Kind(True, (0, 1, "True")), "sequence_parallel reshard_after_forward"),
    **_same(SWITCH, "first last gradients_stay offload_optimizer packs_qkv side_streams simple"),
    **_same(SWITCH, "transposes_attention compiled async_tensor keeps_outputs"),
    **_same(number(4.0, -1), "forward backward saved gradient cached copies_bytes matrices others master copies"),
    **_same(number(4.0, -1), "norm_statistic_bytes score_bytes most_gathered_params bucket_params reduce_bytes"),
    **_same(number(4.0, -1), "workspace_bytes expert_workspace_bytes kernel_bytes fragmentation bytes_each"),
    **_same(positive(2.0), "weights gradients waiting tokens"),
    **_same(number(0.1, -0.1, 1.1), "hidden_dropout attention_dropout"),
    **_same(whole(8.0), "shards multiple chunks"),
    **_same(Kind("text", NO_TEXT), "event grows_with shrinks_with"),
    **_same(
        word("bf16"), "precision optimizer optimizer_step mlp selective spare_gradients loss_kind context_exchange"
    ),
    **_same(Kind("text", NO_TEXT), "rank doubt cause"),
    "found": instance(LEDGER),
    "fit": instance(FITTED),
    "headroom": number(0.1, -0.1, 1.1),
    "saved_bytes": number(1e9),
    **_same(SWITCH, "fits follows above_states with_experts seen last_stage"),
    **_same(positive(2.0), "expert_load states worst_load inputs numbers"),
    **_same(number(4.0, -1), "dropout_mask_bytes divisor"),
    "routing": word("inside"),
    "counter": word("driver"),
    "layout": instance(LAYOUT),
    "rows": integer(130_000, 0).or_none(),
    "over_data": SWITCH,
    "profile": instance(MEGATRON),
    "stage": instance(LEDGER.stages[0].stage),
    "index": integer(0),
    "first_layer": integer(0),
    "zero_stage": integer(1, 4),
    "most_zero_with_pipeline": integer(1),
    "recompute_layers": integer(2).or_none(),
    "layers_per_stage": Kind((8, 8, 8, 8), (5, "8888", (1, 2), (1.5, 2), ("a",))),
    "pieces": Kind((8, 8), (None, 5, "12", ())),
    "stages": Kind(LEDGER.stages, (None, 5, "12", ())),
    **_same(SHOWN, "products times over"),
    "holds": Kind(min, (None, 5, "no function")),
    "refusal": Kind(min, (None, 5, "no function")),
}

VOCABULARY |= {
    **_same(instance(DESCRIBED), "run"),
    **_same(instance(EXPECTED), "expected"),
    **_same(instance(RUNG), "rung"),
    **_same(instance(RUNG.thresholds[0]), "threshold"),
    **_same(Kind("text", NO_TEXT), "tolerance_source formula purpose failure below run_digest path"),
    **_same(Kind({}, (None, 5, "text", [1.0])), "plain one versions machine"),
    "evidence": instance(EVIDENCE).or_none(),
    "schedule": instance(COSINE),
    "convention_name": word("6N"),
    "number": integer(2, 0),
    **_same(positive(2.0).or_none(), "price_usd_per_gpu_hour"),
    "cost_usd": number(2.0, -1).or_none(),
    **_same(SWITCH, "on_target asked"),
    **_same(Kind((), (None, 5, "text", [1.0])), "thresholds judgements verdicts"),
    "measured": Kind({"loss": 0.01}, (None, 5, {}, {"loss": None}, {"loss": "0.01"}, {"loss": True})),
    "time": Kind("2026-11-29T22:00:00+00:00", (*NO_TEXT, "", "yesterday", "2026-11-29T22:00:00")),
    "usual": SHOWN,
    **_same(Kind("text", NO_TEXT), "key statement owner signed artefact sha256 found_sha256 revision escalation"),
    "date": Kind(STATEMENT.date, (5, "2026-11-29", 1.5)),
    "approved_gpu_hours": positive(1e6).or_none(),
    "needs": Kind((), (None, 5, "text", [1.0], ("owners",))),
    "measures": Kind((), (None, 5, "text", [1.0])),
    "reasons": Kind((), (None, 5, "text", [1.0])),
    "item": instance(ITEMS["resume"]),
    "state": word("stated"),
    "statements": Kind({}, (None, 5, "text", {"configs": 5})),
    "review": instance(REVIEWED),
    "climb": instance(CLIMB),
    "position": integer(0),
    "sequences": integer(8, 0),
    "dropout": number(0.1, -0.1, 1.1, 1),
    "learning_rate": positive(1e-3),
    **_same(positive(20.0), "wait_days lost_days calendar_days interruptions run_gpu_hours"),
    **_same(number(0.1, -0.1, 1.1), "fault_probability"),
    **_same(number(0.1, -1), "pilot_gpu_hours slow_share"),
    "found_share": fraction(0.9),
    "counted": Kind("text", NO_TEXT),
    "changed": Kind({}, (5, "text", [1.0])),
}

# Where a name means something else than elsewhere.
EXCEPTIONS = {
    "description.defaults.full_layout.given": Kind({}, (None, 5, "text", [1.0])),
    "description.defaults.full_schedule.given": Kind({}, (None, 5, "text", [1.0])),
    "description.expectations.Expectation.tolerance": number(0.1, -1).or_none(),
    **_same(word("6N"), "description.expectations.Expectations.speed_if_counted.name"),
    **_same(word("6N"), "description.expectations.Expectations.days_if_counted.name"),
    "description.expectations.Expectations.cost_of.gpu_hours": number(2.0, -1),
    "description.limits.limit.name": word("memory"),
    "description.limits.limit.field": word("share"),
    "description.run.RunDescription.name": Kind("text", NO_TEXT),
    "description.run.RunDescription.schedule": instance(DESCRIBED.schedule),
    "description.run.changed_fields.value": Kind(LAYOUT, None),
    "description.run.changed_fields.usual": SHOWN,
    "description.run.differences.other": Kind({}, (None, 5, "text", [1.0])),
    "ladder.evidence.Evidence.run": Kind(DESCRIBED.plain, (None, 5, "text", [1.0])),
    "ladder.evidence.Evidence.pieces": Kind((PIECE,), (None, 5, "text", [1.0], (5,))),
    "ladder.evidence.Piece.rung": integer(2, 0),
    "ladder.late.LateFault.rung": integer(4, 0, 7),
    "ladder.late.LateFault.unnoticed_tokens": number(1e11, -1),
    "ladder.late.LateFault.stopped_hours": number(24.0, -1),
    "ladder.evidence.seal.value": SHOWN,
    "ladder.rungs.Rung.gpu_hours": number(2.0, -1),
    "ladder.made_up.made_up.numbers": Kind((2,), (None, 5, "12", [2], (0,), (8,), ("a",), (True,))),
    "ladder.made_up.made_up.accelerator": Kind("cpu", NO_TEXT),
    **_same(integer(50, 0), "logs.made_up.made_up.last_step logs.made_up.made_up.every"),
    **_same(integer(50, 0).or_none(), "logs.made_up.made_up.killed_at logs.made_up.made_up.spike_at"),
    "logs.made_up.made_up.slower": number(0.1, -1),
    "pilot.recorded.faulty.name": word("mask-leak"),
    **_same(number(0.0).or_none(), "ladder.thresholds.Threshold.at_least ladder.thresholds.Threshold.at_most"),
    "ladder.thresholds.Threshold.undecided": TEXT,
    "ladder.thresholds.Threshold.margin.value": Kind(1.0, NO_NUMBER),
    **_same(Kind("USD", NO_TEXT), "description.expectations.Expectation.unit ladder.thresholds.Threshold.unit"),
    "ladder.verdicts.is_target.accelerator": Kind("h100", NO_TEXT),  # a machine may have one that nobody knows here
    "readiness.review.State.statement": instance(STATEMENT),
    "readiness.review.Review.states": Kind((), (None, 5, "text", [1.0])),
    "readiness.review.Statement.threshold": Kind("text", NO_TEXT),
    "ladder.verdicts.Judgement.value": Kind(1.0, tuple(value for value in NO_NUMBER if value is not None)),
    **{f"{lookup}.name": word(good) for lookup, good in LOOKUPS.items()},
    **_same(Kind(1.0, NO_NUMBER + NOT_FINITE), "elementwise.ceil.value elementwise.floor.value"),
    "elementwise.exp.value": number(1.0, 1e9),
    "recipe.batches.Ramp.at.n_tokens": number(1e9, -1),
    "elementwise.power.base": Kind(2.0, (*NO_NUMBER, math.nan, 10**400, -1.0)),
    "elementwise.power.exponent": number(0.5),
    **_same(PAIR.or_none(), "scaling.evidence.Range.n_params scaling.evidence.Range.n_tokens"),
    **_same(instance(LAW.origin.fitted).or_none(), "scaling.evidence.Origin.fitted"),
    **_same(instance(law("Besiroglu 2024").origin.errors).or_none(), "scaling.evidence.Origin.errors"),
    **_same(instance(law("Besiroglu 2024").origin.errors).or_none(), "scaling.evidence.Origin.fine_errors"),
    "scaling.evidence.read_origin.entry": Kind(LAW_ROWS["Hoffmann 2022"], None),
    "scaling.evidence.Origin.corpus": Kind("text", NO_TEXT),
    "scaling.evidence.LossVerdict.error": number(0.03, -1).or_none(),
    "scaling.allocations.Comparison.law": instance(LAW),
    "scaling.allocations.Comparison.run": instance(CHINCHILLA),
    **_same(instance(law("Besiroglu 2024")), "scaling.certainty.loss.law scaling.certainty.gap.law"),
    "scaling.certainty.ratio_exponent.law": instance(law("Besiroglu 2024")),
    **_same(instance(CHINCHILLA), "scaling.certainty.loss.run scaling.certainty.gap.run scaling.certainty.gap.other"),
    "scaling.certainty.Estimate.value": number(-0.1),
    "scaling.certainty.Estimate.error": number(0.03, -1),
    "corpus.Corpus.n_bytes": positive(1e9).or_none(),
    "scaling.budget_laws.BudgetLaw.quantity": word("n_params"),
    "scaling.budget_laws.BudgetLaw.coefficient": positive(0.1),
    "scaling.budget_laws.BudgetLaw.exponent": fraction(0.5),
    "scaling.kaplan_gap.Correction.exponent": fraction(0.5),
    "scaling.moe_laws.effective_experts.n_experts": whole(8),
    **_same(positive(2.0), "scaling.moe_laws.JointLaw.a scaling.moe_laws.JointLaw.b scaling.moe_laws.JointLaw.c"),
    **_same(number(-0.2), "scaling.moe_laws.JointLaw.alpha scaling.moe_laws.JointLaw.beta"),
    "scaling.moe_laws.JointLaw.origin": instance(LAW.origin),
    "scaling.moe_laws.RoutedLaw.origin": instance(LAW.origin),
    "scaling.ensemble.Ensemble.laws": Kind(GROUPS["laws with a loss"], (None, 5, (), (5,), ("Kaplan 2020",))),
    "scaling.ensemble.valley.tolerance": positive(0.01),
    **_same(instance(VOTES.least_regret.nats), "scaling.ensemble.Regret.nats scaling.ensemble.Regret.wasted"),
    **_same(instance(LAW), "scaling.ensemble.Vote.law scaling.ensemble.valley.law scaling.overtraining.Lifetime.law"),
    **_same(
        instance(LAW), "scaling.overtraining.implied_inference_tokens.law scaling.repeated_data.DataLimitedLaw.law"
    ),
    "scaling.overtraining.inference_flops.n_tokens": number(1e12, -1),
    "scaling.parametric.ScalingLaw.fewest_params.n_tokens": positive(8e12),
    **_same(
        positive(1e20).or_none(),
        "scaling.evidence.Range.compute_at_most scaling.evidence.Errors.A scaling.evidence.Errors.B",
    ),
    "hardware.Cluster.accelerator": instance(CHIP),
    **_same(
        positive(1e15).or_none(),
        "compute.mfu.MfuConvention.peak_flops compute.mfu.MfuConvention.dividing_by.peak_flops",
    ),
    **_same(instance(FIGURE), "compute.speeds.Speed.computed.figure compute.speeds.Speed.ratio.figure"),
    "compute.speeds.Speed.tokens_per_second_per_gpu": positive(1e4).or_none(),
    "compute.mfu.reported.tokens_per_second_per_gpu": positive(1e4),
    "architecture.kv_cache.kv_cache_bytes.context": whole(8192),
    "architecture.kv_cache.next_token_bytes.context": number(8192, -1, 1.5),
    "architecture.shapes.search.constraints": instance(RULES).or_none(),
    "plan.brief.Brief.model": Kind("llama-3-8b", (*NO_TEXT, "no such thing")),
    **_same(SHOWN, " ".join(f"plan.running.Line.{n}" for n in ("step", "label", "value", "unit"))),
    **_same(SHOWN, "facts.Fact.value facts.Fact.read facts.Entry.get.default facts.parse.words"),
    **_same(word("AdamW"), "recipe.published_runs.PublishedRun.optimizer"),
    **_same(word("cosine"), "recipe.published_runs.PublishedRun.schedule"),
    **_same(word("standard"), "recipe.published_runs.PublishedRun.parametrization"),
    "recipe.published_runs.PublishedRun.global_batch_tokens": positive(4e6).or_none(),
    "recipe.published_runs.PublishedRun.qk_norm": SWITCH,
    "recipe.published_runs.PublishedRun.settings": SHOWN,
    "recipe.published_runs.Habit.value": number(0.1, -1),
    "recipe.published_runs.Habit.n_runs": integer(8, 0),
    "recipe.held_out.Residual.run": instance(USED),
    "recipe.held_out.Residual.group": Kind("text", NO_TEXT),
    **_same(number(100.0, -1), " ".join(f"recipe.schedules.{name}.step" for name in SCHEDULES)),
    **_same(positive(1e4), "recipe.schedules.wsd_lr.decay_steps recipe.schedules.wsd_sqrt_lr.decay_steps"),
    "recipe.schedules.Schedule.decay_steps": positive(1e4).or_none(),
    "recipe.batches.accumulation_steps.global_batch": integer(128, 0),
    "recipe.batches.nearest_batch.seq_len": integer(4096, 0),
    **_same(
        whole(8), " ".join(f"recipe.batches.global_batch.{name}" for name in ("data", "micro_batch", "accumulation"))
    ),
    "recipe.mup.Rule.kind": word("hidden"),
    "recipe.mup.hidden_lr.d_model": positive(4096.0),
    "recipe.Recipe.run": instance(size_and_tokens(compute=1e22)),
    **_same(Kind(None, positive(1.0).or_none().bad), "recipe.size_and_tokens.n_params recipe.size_and_tokens.n_tokens"),
    "recipe.seed_recipes.Step.below": Kind(1e9, (*NO_NUMBER, math.nan, 10**400, 0, -1)),
    **_same(integer(8, 0).or_none(), "recipe.seed_recipes.Step.seq_len recipe.seed_recipes.Step.n_layers"),
    **_same(integer(8, 0), "recipe.seed_recipes.Step.batch_tokens"),
    "recipe.seed_recipes.SeedRecipe.step": instance(any_scale(1e22).step),
    "recipe.seed_recipes.SeedRecipe.warmup_share": fraction(0.01),
    "recipe.seed_recipes.SeedRecipe.least_warmup": integer(1000),
    **_same(COLUMN, "runs.Runs.n_params runs.Runs.n_tokens runs.Runs.loss"),
    **_same(COLUMN, "runs.planned.n_params runs.planned.n_tokens runs.of_law.n_params runs.of_law.n_tokens"),
    **_same(COLUMN, "fit.isoflop.parabola.n_params runs.identifiability.condition_number.n_params"),
    "runs.identifiability.condition_number.n_tokens": COLUMN,
    "fit.isoflop.parabola.loss": Kind((3.0, 2.0, 3.0), COLUMN.bad),
    **_same(Kind((), (None, 5, "12", (5, 5, 5))), "runs.Runs.groups runs.Runs.places"),
    "runs.Runs.warmup_tokens": Kind((), (None, 5, "12", (0.0, -1.0, 0.0))),
    **_same(
        Kind((0,), (None, 5, True, "0", {0}, (0.0,), (-1,), ("a",), (10**9,))),
        "runs.Runs.take.places runs.Runs.without.places",
    ),
    "runs.Runs.in_warmup.share": fraction(0.5),
    **_same(Kind("", NO_TEXT), "runs.planned.name runs.of_law.name"),
    **_same(
        instance(LAW), "runs.of_law.law runs.identifiability.condition_number.law runs.identifiability.same_losses.law"
    ),
    **_same(instance(LAW), "fit.isoflop.isoflop_runs.law fit.isoflop.IsoflopFit.size_ratio.law"),
    "runs.identifiability.Design.law": instance(LAW).or_none(),
    **_same(
        instance(TABLE),
        "runs.identifiability.Design.runs runs.doubts.refuse_units.runs runs.doubts.refuse_bits.runs"
        " runs.doubts.refuse_perplexities.runs",
    ),
    **_same(instance(TABLE), "runs.doubts.bits_for_nats.runs fit.law.fit_law.runs fit.law.surface_of.runs"),
    **_same(instance(TABLE), "fit.holdout.hold_out.runs fit.holdout.HoldOut.held fit.isoflop.approach_2.runs"),
    "fit.law.Fit.runs": instance(TABLE),
    "fit.law.Fit.law": instance(LAW),
    "fit.law.Fit.stuck": Kind(("beta",), (None, 5, "beta", ["beta"], ("gamma",))),
    "fit.law.refuse_pooling.runs": instance(TABLE),
    "fit.report.report.runs": instance(TABLE),
    **_same(
        Kind((1e22,), (None, 5, "1e22", {1e22}, (0.0,), ("a",), (math.inf,))),
        "fit.report.report.budgets fit.report.Report.budgets",
    ),
    "fit.report.report.n_resamples": integer(0),
    "fit.resampling.bootstrap.n_resamples": integer(10, 0, 9, 10**9),
    "fit.isoflop.isoflop_runs.budgets": Kind((1e19, 1e20), (None, 5, "1e22", (), (0.0,), ("a",), (math.inf,))),
    "fit.report.report.executor": SHOWN,
    "fit.report.Report.fit": instance(FIT),
    "fit.report.Report.resampled": instance(RESAMPLED).or_none(),
    "fit.report.Report.held": instance(HELD).or_none(),
    "fit.report.Report.without": Kind((), (None, 5, "text", (5,))),
    **_same(instance(FIT), "fit.resampling.bootstrap.fit fit.resampling.refits.fit"),
    **_same(instance(FIT), "fit.resampling.Bootstrap.fit fit.holdout.HoldOut.fit"),
    "fit.resampling.refits.numbers": Kind((0, 1), (None, 5, "12", (), (0.5,), (-1,), ("a",))),
    "fit.isoflop.Parabola.curvature": positive(0.1),
    "fit.floor.Floor.error": number(0.03, -1),
    "fit.floor.law_floor.name": word("Hoffmann 2022"),
    **_same(instance(FLOOR), "fit.forecast.Forecast.floor fit.forecast.forecast.floor"),
    **_same(instance(CHINCHILLA), "fit.forecast.Forecast.target fit.forecast.forecast.target"),
    **_same(instance(FORECAST.runs), " ".join(f"fit.forecast.{n}.runs" for n in ("Forecast", "forecast", "ratio_of"))),
    "fit.forecast.Forecast.constants": Kind(FORECAST.constants, (None, 5, "text", (5,))),
    "fit.forecast.Forecast.ends.level": number(0.8, 0, -0.1, 1.1, 45, 1),
    **_same(integer(100, 0, 99, 10**9), "fit.forecast.forecast.n_resamples fit.forecast.recorded.n_resamples"),
    "fit.forecast.recorded.logs": Kind(read_logs(), (None, 5, (), (5,))),
    "pilot.words.word_batch.seq_len": integer(80, 0, 7),
    "pilot.small_runs.SmallRun.width": integer(16, 0),
    "pilot.small_runs.transferred.width": integer(16, 0),
    **_same(word("check"), "pilot.small_runs.SmallRun.role pilot.small_runs.transferred.role"),
    "fit.isoflop.Parabola.loss": number(2.0),
    "fit.resampling.bootstrap.executor": Kind(None, (5, True, "processes", object())),
    "fit.resampling.refit.number": integer(0),
    **_same(word("alpha"), " ".join(f"fit.resampling.Bootstrap.{n}.constant" for n in ("interval", "standard_error"))),
    "fit.resampling.Bootstrap.constants": Kind(RESAMPLED.constants, (None, 5, (), ((1.0,) * 4,) * 10)),
    **{
        f"fit.isoflop.IsoflopFit.{name}": Kind(getattr(LINE, name), (None, 5, (), [1.0] * 3, ("a",) * 3, (-1.0,) * 3))
        for name in ("budgets", "n_params", "losses", "inside")
    },
    **_same(positive(2.0), "fit.isoflop.isoflop_runs.centre fit.isoflop.isoflop_runs.drift"),
    "fit.isoflop.isoflop_runs.n_sizes": integer(3, 0),
    "fit.surface.at_bounds.theta": Kind(np.zeros(5), None),
    "runs.identifiability.singular_values.columns": Kind(((1.0, 2.0),), ((None,), (5,), ("12",))),
    "runs.identifiability.same_losses.token_counts": Kind((2e9, 2e10), (None, 5, (1e9,), (0.0, 1e9), ("a", 1e9))),
    "runs.identifiability.same_losses.beta": positive(0.3),
    "runs.doubts.refuse_units.columns": Kind({"n_params": "N", "n_tokens": "D"}, None),
    "runs.doubts.refuse_units.units_said": SWITCH,
    **_same(positive(1e9).or_none(), " ".join(f"recipe.advice.Facts.{n}" for n in ("n_params", "n_tokens", "peak_lr"))),
    **_same(instance(PLANNED), "recipe.advice.findings.facts recipe.advice.broken.facts recipe.advice.summary.facts"),
    "recipe.advice.Facts.batch_tokens": positive(1e6).or_none(),
    "recipe.advice.Facts.warmup_share": number(0.01, -0.1, 1.1, 45).or_none(),
    **_same(integer(8, 0).or_none(), " ".join(f"recipe.advice.Facts.{n}" for n in ("n_layers", "d_model", "tensor"))),
    "recipe.advice.Facts.seq_len": integer(4096, 0).or_none(),
    **_same(Kind(True, (0, 1, "True")), " ".join(f"recipe.advice.Facts.{n}" for n in PRACTICES)),
    **_same(SHOWN, "recipe.advice.Scale.ranges recipe.advice.Scale.practices recipe.advice.Finding.followed"),
    "recipe.advice.Scale.high_flops": Kind(1.0, (*NO_NUMBER, math.nan, 10**400)),
    **_same(instance(Layout(data=2, tensor=2)), " ".join(f"pilot.cuts.{name}.layout" for name in PILOT_CUTS)),
    "pilot.cuts.cut.tensor": instance(tensors(LLAMA)["layers"]["query"]),
    "pilot.cuts.cut.mesh": Kind({"data": 2, "heads": 2, "copies": 1}, (None, 5, "text", ["data"])),
    "pilot.pilot.Pilot.precision": word("fp32"),
    "pilot.faults.planted.name": word("mask-leak"),
    "pilot.text.encode.text": Kind("Bread.", (*NO_TEXT, "[")),
    "pilot.text.decode.tokens": Kind((1, 2), (None, 5, (-1,), (64,), (1.0,))),
    **_same(integer(8, 0), "pilot.text.sequence.n_tokens pilot.text.batch.seq_len pilot.pilot.Pilot.seq_len"),
    "pilot.hlo.dot_flops.text": Kind("ENTRY %main (a: f32[1]) -> f32[1] {\n}", (*NO_TEXT, "", "no program")),
    **_same(word("train_flops"), "exercises.question.name exercises.check.name exercises.page.attempt.name"),
    "exercises.page.attempt.code": Kind("", NO_TEXT),
    "exercises.html.exercises.chapter": word("chips_to_flops"),
    "exercises.assignments.Assignment.names": Kind(("train_flops",), (None, 5, "text", (), ("no such thing",))),
    "exercises.assignments.assignment.name": word("start"),
    "exercises.assignments.Assignment.part": word("Start"),
    "exercises.questions.Question.chapter": word("chips_to_flops"),
    "exercises.questions.Question.task": word("write"),
    "exercises.questions.Question.kind": word("function"),
    "exercises.questions.Question.difficulty": word("easy"),
    "exercises.questions.Question.unit": Kind("FLOP", NO_TEXT),
    "exercises.questions.Question.slips": Kind(ASKED.slips, (None, 5, (), (5,))),
    "exercises.questions.Question.inputs": instance(ASKED.inputs),
    "exercises.questions.Question.expected": instance(ASKED.expected).or_none(),
    "exercises.questions.Question.rulings": Kind(None, (5, True, "no such thing")),
    **_same(Kind(cases(ASKED)[0].inputs, (None, 5, "text", [1.0])), " ".join(OF_INPUTS)),
    "exercises.questions.Question.solution_source.inputs": Kind(cases(ASKED)[0].inputs, (5, "text", [1.0])),
    "exercises.judge.case": instance(cases(ASKED)[0]),
    **_same(Kind("a seed", (None, 1.5, b"text", ["text"])), "exercises.check.seed exercises.draws.cases.seed"),
    "exercises.check.hidden": Kind(False, SWITCH.bad),  # True takes no seed from an argument
    "exercises.draws.cases.visible": SWITCH.or_none(),
    "exercises.judge.returned": SHOWN,
    "grading.record.CaseResult.hidden": SWITCH,
    "grading.record.CaseResult.outcome": Kind("right", NO_TEXT),
    "grading.record.QuestionResult.outcome": word("passed"),
    "grading.record.QuestionResult.points": integer(1),
    "grading.record.QuestionResult.max_points": integer(2),
    "grading.record.QuestionResult.cases": Kind((CASE_RESULT,), ((5,), ("a case",))),
    "grading.record.Record.outcome": word("graded"),
    "grading.record.Record.questions": Kind((QUESTION_RESULT,), ((5,), ("a question",))),
    "grading.record.Record.of.plain": Kind(RECORD.plain, (None, 5, "text", [1.0])),
    "grading.jail.Jail.command": instance(NO_JAIL.command),
    "grading.jail.Jail.uid": integer(61_000).or_none(),
    "grading.jail.container.tool": word("podman"),
    "grading.jail.jail.name": word("docker"),
    "exercises.check.answer": SHOWN,
    "facts.Fact.unit": Kind("FLOP", NO_TEXT),
    "facts.Entry.get.field": Kind("n_bytes", NO_TEXT),
    "facts.load.figures": Kind(FIGURES, None),
    "facts.load.words": Kind(WORDS, None),
    "facts.load.labels": Kind(("aliases",), None),
    "facts.parse.text": Kind("", NO_TEXT),
    "facts.parse.file": Kind("file", NO_TEXT),
    "facts.parse.figures": Kind({}, None),
    "facts.parse.labels": Kind((), None),
    "units.parse.text": Kind("14 days", (*NO_TEXT, "", "fourteen")),
    **_same(Kind("days", NO_TEXT), "units.parse.unit units.show.unit units.show_roughly.unit"),
    "units.show.value": Kind(14.0, (True, 1j, [1.0], {}, np.array([1.0]))),
    **_same(Kind(14.0, NO_NUMBER + NOT_FINITE), " ".join(f"units.show_{what}.value" for what in SHOW)),
    **_same(instance(CHIP), " ".join(f"memory.verdict.{n}.accelerator" for n in ("fit", "changes", "largest"))),
    "memory.verdict.Fit.memory_bytes": positive(80e9),
    "memory.many.peak_bytes.sequence_parallel": SWITCH,
    "memory.many.peak_bytes.zero_stage": Kind(1.0, (*NO_NUMBER, *NOT_FINITE, -1, 1.5)),
    **_same(positive(1e9).or_none(), "memory.measured.Measured.peak_bytes memory.measured.Measured.static_bytes"),
    **_same(positive(1e9).or_none(), "memory.measured.Measured.reserved_bytes memory.measured.Measured.first_bytes"),
    "memory.measured.Measured.other": instance(LEDGER).or_none(),
    "memory.measured.median_error.rows": Kind(tuple(row for row in MEASURED.values() if row.first_bytes)[:3], None),
    "memory.saved.saved_bytes.with_experts": Kind(False, (None, 0, 1, "True", np.bool_(True))),
    "layout.stages.in_flight.index": Kind(0.0, (*NO_NUMBER, *NOT_FINITE, -1, 1.5)),
    **_same(whole(2.0), " ".join(f"layout.stages.in_flight.{n}" for n in ("pipeline", "micro_batches", "interleave"))),
    "layout.stages.layers_of.shape": Kind(LLAMA, None),
    "layout.stages.layers_of.layout": Kind(LAYOUT, None),
    **_same(whole(8.0), "memory.loss.logit_bytes.tensor memory.loss.padded_vocabulary.tensor"),
    "memory.loss.logit_bytes.vocab_size": positive(128256.0),
    "memory.loss.padded_vocabulary.vocab_size": whole(128256.0),
    "memory.loss.Loss.copies": Kind("text", NO_TEXT),
    "memory.states.state_bytes.n_params": number(8e9, -1),
    "memory.states.shard_counts.zero_stage": Kind(1.0, (*NO_NUMBER, *NOT_FINITE, -1, 1.5)),
    "memory.states.Precision.compute": positive(2.0),
    "memory.profiles.profile.name": word("megatron"),
    "memory.profiles.Profile.norm": word("fused"),
    "memory.profiles.Profile.loss": word("megatron"),
    "memory.profiles.Profile.tensor_loss": word("megatron").or_none(),
    "memory.profiles.Profile.attention": word("flash"),
    "memory.terms.Term.bytes": number(4.0, -1),
    **_same(word("shards"), " ".join(f"layout.slices.Slices.{n}" for n in ("weights", "gradients", "optimizer"))),
    **_same(word("shards"), "layout.slices.Slices.tokens layout.slices.owners.cut"),
    "memory.verdict.largest.field": word("micro_batch"),
    "memory.verdict.largest.values": Kind((1, 2), None),
    "memory.timeline.timeline.found": instance(LEDGER.stages[0]),
    "memory.timeline.Moment.by_group": Kind({"weights": 1.0}, (None, 5, "text", [1.0])),
    "memory.entries.Phase.name": word("optimizer step"),
    "memory.entries.StageLedger.at.event": word("layer, backward"),
}
LINES = Kind((), (None, 5, "text", [1.0]))
_TIMES = ("step_seconds", "slow_step_seconds", "wall_seconds")
_HELD = ("lost_seconds", "restart_seconds")
_BETWEEN = ("between", "least_between")
_PAUSES = ("checkpoint_seconds", "evaluation_seconds")
EXCEPTIONS |= {
    **_same(
        LINES, "logs.entries.Log.events logs.entries.Log.problems logs.pace.Pace.stalls logs.finish.Progress.costs"
    ),
    **_same(LINES, " ".join(f"logs.order.Course.{n}" for n in ("kept", "walk", "restart_at", "restarts", "repeated"))),
    **_same(LINES, "logs.order.Course.problems logs.order.Course.events"),
    **_same(LINES, " ".join(f"logs.stability.{n}.kept" for n in ("spikes", "nan_lines", "gradient_trend"))),
    "logs.entries.Log.entries": Kind(LOG.entries, (None, 5, "text", (), (5,))),
    **_same(TEXT, " ".join(f"logs.entries.Log.{n}" for n in ("file", "form", "accelerator", "digest"))),
    "logs.entries.Log.n_lines": integer(0),
    "logs.order.Course.interval": integer(1, 0),
    **_same(instance(LOG), "logs.order.course.log logs.order.leading.log logs.pace.pace.log logs.report.Report.log"),
    **_same(instance(REPORTED.course), "logs.pace.pace.found logs.pace.stretches.found"),
    **_same(SHOWN, "logs.pace.pace.step_tokens logs.pace.stretches.step_tokens"),
    **_same(positive(2.0).or_none(), " ".join(f"logs.pace.Pace.{n}" for n in _TIMES)),
    **_same(number(2.0, -1), " ".join(f"logs.pace.Pace.{n}" for n in _HELD)),
    **_same(number(2.0, -1).or_none(), " ".join(f"logs.pace.Pace.{n}" for n in _PAUSES)),
    **_same(number(0.1).or_none(), "logs.pace.Pace.data_wait_share logs.pace.Pace.straggler_share"),
    **_same(integer(0), "logs.pace.Pace.n_steps_timed logs.pace.Pace.kept_steps"),
    **_same(SHOWN, "logs.pace.Pace.slowest_rank logs.pace.Pace.share.seconds"),
    "logs.report.Report.step_tokens_per_gpu": positive(2.0).or_none(),
    "logs.limits.log_limit.name": word("stall"),
    "logs.limits.log_limit.field": word("ratio"),
    "logs.stability.Trend.ratio": positive(2.0),
    "logs.stability.Trend.known": SWITCH,
    **_same(number(2.0).or_none(), "logs.outlook.Outlook.best logs.outlook.Outlook.low logs.outlook.Outlook.high"),
    **_same(TEXT, "logs.outlook.Outlook.covers logs.outlook.Outlook.reason"),
    "logs.outlook.student.level": number(0.95, 0, 1, -1),
    "logs.outlook.student.degrees": positive(18),
    "logs.finish.Progress.rates": Kind((0.5, 0.6), (None, 5, "text", (), (0.5,), (0.0, 0.0))),
    "logs.finish.Progress.up_seconds": positive(100.0),
    "logs.finish.Progress.longest": number(2.0, -1),
    "logs.finish.Progress.again_seconds": number(2.0, -1),
    "logs.finish.Progress.seconds_for.steps": positive(100),
    **_same(instance(USUAL), "logs.finish.Progress.rates_of_restarts.usual logs.finish.Progress.seconds_for.usual"),
    "logs.finish.finish_seconds.usual": instance(USUAL),
    **_same(positive(9e4), " ".join(f"logs.interruptions.Interruptions.{n}_seconds" for n in _BETWEEN)),
    "logs.interruptions.Interruptions.cost_seconds": number(2.0, -1),
    "logs.interruptions.usual_interruptions.n_gpus": integer(8, 0).or_none(),
    **_same(instance(REPORTED), "logs.finish.progress.report logs.finish.finish_seconds.report"),
    **_same(instance(REPORTED), "logs.outlook.final_loss.report logs.against_plan.AgainstPlan.report"),
    **_same(integer(100, 0), "logs.finish.finish_seconds.total_steps logs.outlook.final_loss.total_steps"),
    "logs.outlook.final_loss.exponent": positive(0.3),
    "logs.outlook.final_loss.warmup_steps": number(0.0, -1),
    **_same(TEXT, " ".join(f"logs.against_plan.Assumption.{n}" for n in ("name", "planned", "measured", "why"))),
    "logs.against_plan.Assumption.verdict": word("holds"),
    **_same(integer(8, 0).or_none(), "logs.against_plan.AgainstPlan.n_gpus logs.against_plan.AgainstPlan.batch_tokens"),
    "logs.measured.evidence.by_hand": Kind({}, (5, "text", [1.0])),
    "ladder.tasks.tasks.number": integer(5, 0, 4, 8),
    **_same(LINES, "ladder.tasks.Task.commands ladder.tasks.Task.thresholds"),
    "ladder.tasks.Task.reads": TEXT,
    "logs.against_plan.AgainstPlan.date.seconds": number(2.0, -1),
    **_same(instance(BESIDE), "logs.measured.evidence.beside logs.measured.quantities.beside"),
    **_same(positive(2.0).or_none(), "logs.measured.evidence.one_node_speed logs.measured.quantities.one_node_speed"),
    **_same(integer(6, 0, 4, 8), "logs.measured.evidence.rung logs.measured.asked.rung"),
    "logs.measured.evidence.accelerator": TEXT,
    "logs.measured.evidence.time": Kind(PIECE.time, (*NO_TEXT, "yesterday")),
    "description.expectations.Expectations.counted.name": word("6N"),
}
ALSO = {"compute.possible_utilization": {"hfu": 0.5}}  # keywords that may have any name


def _modules():
    found = sorted(module.name for module in pkgutil.walk_packages(lib.__path__, "lib."))
    left_out = tuple(f"lib.{name}." for name in ELSEWHERE)
    return [importlib.import_module(name) for name in found if not f"{name}.".startswith(left_out)]


def _public(owner, module):
    found = {name: thing for name, thing in vars(owner).items() if not name.startswith("_")}
    return {name: thing for name, thing in found.items() if getattr(thing, "__module__", None) == module.__name__}


def _doors():
    """(callable's name, argument's name, the callable, good values of all its arguments), for every public one."""
    for module in _modules():
        short = module.__name__.removeprefix("lib.")
        for name, thing in _public(module, module).items():
            if inspect.isfunction(thing):
                yield from _arguments(f"{short}.{name}", thing)
            elif inspect.isclass(thing) and dataclasses.is_dataclass(thing):
                yield from _fields(f"{short}.{name}", thing, module)


def _fields(name, thing, module):
    example = next((example for example in EXAMPLES if type(example) is thing), None)
    assert example is not None, f"{name}: no instance in EXAMPLES"
    fields = {field.name: getattr(example, field.name) for field in dataclasses.fields(thing)}
    yield from ((name, field, thing, fields) for field in fields)
    for method in (n for n, f in _public(thing, module).items() if inspect.isfunction(f)):
        yield from _arguments(f"{name}.{method}", getattr(example, method))


def _arguments(name, function):
    parameters = inspect.signature(function).parameters.values()
    names = [p.name for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    good = {argument: _kind(name, argument).good for argument in names if _kind(name, argument)} | ALSO.get(name, {})
    yield from ((name, argument, function, good) for argument in names)


def _kind(name, argument):
    return EXCEPTIONS.get(f"{name}.{argument}", VOCABULARY.get(argument))


DOORS = list(_doors())
EACH_PACKAGE = pytest.mark.parametrize("package", sorted({door[0].split(".")[0] for door in DOORS}))


def _of(package, doors):
    return (door for door in doors if door[0].split(".")[0] == package)


@EACH_PACKAGE
def test_a_door_refuses_what_it_cannot_take(package):
    faults = [fault for door in _of(package, DOORS) for fault in _let_in(*door)]
    assert not faults, "\n".join(faults)


def _let_in(name, argument, function, good):
    """What a door takes, or refuses without telling what it was."""
    kind = _kind(name, argument)
    assert kind is not None, f"{name}: the argument {argument!r} has no kind in VOCABULARY"
    too_many = (TWO,) if inspect.isclass(function) and isinstance(kind.good, float) else ()
    for bad in (*(kind.bad or ()), *too_many):
        found = _tried(function, good | {argument: bad})
        if not isinstance(found, TypeError | ValueError) or not _is_told(str(found), argument, bad):
            yield f"{name}({argument}={bad!r}): {found!r}"


def _tried(function, values):
    """What a call gives, or the exception that it ends in."""
    try:
        return function(**values)
    except Exception as refused:
        return refused


def _is_told(message, argument, bad):
    name = r"\w+" if argument in ("name", "text") else argument.removesuffix("_name")
    begins = rf"({name}(_name)?(\[.*?\])? (=|\()|'.*': )"
    parts = bad.values() if isinstance(bad, dict) else bad if isinstance(bad, tuple) else ()
    shown = (
        *map(repr, parts),
        *(f"{part:g}" for part in parts if isinstance(part, float)),
        repr(bad)[:50],
        str(bad).removesuffix(".0"),
        type(bad).__name__,
        "array",
        "an integer of 1329 bits",
    )
    named = re.match(begins, message) and any(words in message for words in shown)
    return named and len(message.splitlines()) == 1


@EACH_PACKAGE
def test_the_good_values_are_taken(package):
    calls = {name: (function, good) for name, _, function, good in _of(package, DOORS)}
    faults = [f"{name}: {found!r}" for name, call in calls.items() if isinstance(found := _tried(*call), Exception)]
    assert not faults, "\n".join(faults)


FLOATS = [door for door in DOORS if isinstance(door[3].get(door[1]), float) and not inspect.isclass(door[2])]


@EACH_PACKAGE
def test_a_number_of_numpys_gives_a_plain_number_back(package):
    for name, argument, function, good in _of(package, FLOATS):
        found = repr(function(**good | {argument: np.float64(good[argument])}))
        assert (found, "np." in found) == (repr(function(**good)), False), f"{name}({argument}=)"


@pytest.mark.parametrize("what_if", WHAT_IFS)
def test_every_control_of_a_what_if_refuses_by_its_own_name(what_if):
    for control in WHAT_IFS[what_if].controls:
        words = isinstance(control, whatif.Choice)
        bad = (*NO_TEXT, "", "no such thing") if words else (*NO_NUMBER, *NOT_FINITE, -1, "", "x", "1,5", "1e999")
        for value in (value for value in bad if words or value is not SEVEN):
            with pytest.raises(RefusedError, match=rf"^{control.name} ") as refused:
                answer(what_if, {control.name: value})
            assert refused.value.control == control.name


@pytest.mark.parametrize("settings", [5, True, "days=3", ["days"], 0, ""], ids=repr)
def test_settings_are_a_mapping(settings):
    with pytest.raises(RefusedError, match=r"^settings = .*: a Mapping"):
        answer("allocation", settings)


@pytest.mark.parametrize("name", [None, 5, True, "", "allocatoin"], ids=repr)
def test_a_what_if_is_found_by_its_name(name):
    with pytest.raises(RefusedError, match=r"^what_if = "):
        answer(name)


EXTREMES = (5e-324, 1e-300, 1e-100, 1e100, 1e300, 1.7e308)
NUMBERS = [door for door in DOORS if isinstance(door[3].get(door[1]), float) and door[0].startswith("recipe.")]


def _answers(found):
    """What a call gives: the number itself, or every number that follows from a dataclass; a refusal is an answer."""
    if not dataclasses.is_dataclass(found):
        return [found]
    answers = []
    for name in (name for name, thing in vars(type(found)).items() if isinstance(thing, property)):
        with contextlib.suppress(ValueError):
            answers.append(getattr(found, name))
    return answers


def test_a_number_at_the_edge_of_floats_gives_a_finite_answer_or_a_refusal():
    for name, argument, function, good in NUMBERS:
        for value in EXTREMES:
            with contextlib.suppress(ValueError):
                answers = _answers(function(**good | {argument: value}))
                held = all(math.isfinite(answer) for answer in answers if isinstance(answer, float))
                assert held, (name, argument, value, answers)
