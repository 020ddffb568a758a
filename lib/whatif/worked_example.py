"""The what-if "worked-example": from a cluster and a time to a model, its shape and its data, in four steps."""

from dataclasses import dataclass
from functools import cached_property

from lib import check
from lib.architecture.shapes import Constraints, search
from lib.compute import GOODPUT, TOKENS_PER_PARAM, calendar_days, chinchilla_optimal, compute_budget
from lib.compute.mfu import convention, days_ratio
from lib.corpus import CORPORA, FACTS
from lib.corpus import corpus as find_corpus
from lib.hardware import ACCELERATORS, SYNONYMS
from lib.hardware import accelerator as find_accelerator
from lib.units import HOURS_PER_DAY, show, show_power, show_roughly
from lib.whatif.model import Check, Choice, Number, Row, View, WhatIf
from lib.whatif.unfold import flops_per_token

_SHAPES = 3
_SEQ_LEN = 4096  # assumed where attention is counted
_RULE = "Hoffmann et al. 2022, arXiv:2203.15556, Table 3, read as a rule"
_MFU = "Chowdhery et al. 2022, arXiv:2204.02311, appendix B"
_GOODPUT = "Grattafiori et al. 2024, arXiv:2407.21783, section 3.3.4: more than 90%"
_ATTENTION = (("full attention", "Megatron-LM"), ("its causal half", "Megatron-Bridge"))


@dataclass(frozen=True, kw_only=True)
class _Example:
    n_gpus: int
    days: float
    accelerator: str
    mfu: float
    corpus: str

    @cached_property
    def chip(self):
        return find_accelerator(self.accelerator)

    @cached_property
    def dtype(self):
        """bf16 where the chip has it, else fp16: V100 and T4."""
        return "bf16" if "bf16" in self.chip.peaks else "fp16"

    @cached_property
    def peak_flops(self):
        return self.chip.peak_flops(self.dtype)

    @cached_property
    def compute(self):
        return compute_budget(self.n_gpus, self.days, self.peak_flops, self.mfu)

    @cached_property
    def size(self):
        return chinchilla_optimal(self.compute)

    @cached_property
    def shapes(self):
        return search(self.size[0], Constraints(), n_best=_SHAPES)

    @cached_property
    def source(self):
        return find_corpus(self.corpus)


def worked_example_view(n_gpus=128, days=14.0, accelerator="A100 80GB SXM", mfu=0.45, corpus="The Pile"):
    """What can this cluster train in this time?"""
    check.whole(n_gpus=n_gpus)
    example = _Example(n_gpus=n_gpus, days=days, accelerator=accelerator, mfu=mfu, corpus=corpus)
    rows = (*_compute_rows(example), *_size_rows(example), *_shape_rows(example), *_data_rows(example))
    return View(title=_title(example), rows=rows, checks=_checks(example), notes=_notes(example))


def _title(example):
    n_params, n_tokens = example.size
    passes = float(f"{example.source.passes(n_tokens):.3g}")  # nobody knows it better
    return (
        f"{example.n_gpus:,} x {example.chip.name} for {show(example.days, 'days')} train "
        f"{show(n_params, 'parameters')} on {show(n_tokens, 'tokens')}: "
        f"{show(passes, 'passes')} over {example.source.name}."
    )


def _compute_rows(example):
    common = {"group": "1. Compute", "assumed": (f"MFU {show(example.mfu)}",), "sources": (_MFU,)}
    peak, source = example.peak_flops, example.chip.sources.get(f"peak_{example.dtype}", "")
    counts = f"MFU counts 6N a token over the dense {example.dtype} peak; every day computes"
    yield Row(
        label="useful FLOP/s of one GPU",
        value=example.mfu * peak,
        unit="FLOP/s",
        formula=f"{show(example.mfu)} x {show_power(peak)}",
        convention=f"dense {example.dtype}, never the peak with sparsity",
        **common | {"sources": (f"peak: {source}", _MFU)},
    )
    yield Row(
        label="compute budget",
        value=example.compute,
        unit="FLOP",
        formula=f"{example.n_gpus:,} x {show(example.days)} x 86,400 x {show_power(peak)} x {show(example.mfu)}",
        convention=counts,
        **common,
    )
    yield Row(
        label="days on the calendar",
        value=calendar_days(example.days),
        unit="days",
        formula=f"{show(example.days)} / {GOODPUT:g}",
        convention=f"{show(example.days, 'compute days')}; the rest is failures, restarts and lost work",
        group="1. Compute",
        assumed=(f"goodput {GOODPUT:g}",),
        sources=(_GOODPUT,),
    )
    yield _hours_row(example)
    yield from _attention_rows(example)


def _hours_row(example):
    held = calendar_days(example.days)
    return Row(
        label="GPU-hours",
        value=example.n_gpus * held * HOURS_PER_DAY,
        unit="GPU-hours",
        group="1. Compute",
        formula=f"{example.n_gpus:,} x {show(held)} x {HOURS_PER_DAY:g}",
        assumed=(f"goodput {GOODPUT:g}",),
        sources=(_GOODPUT,),
        convention="hours on the calendar: what is held is paid, also while it restarts",
    )


def _attention_rows(example):
    shape = example.shapes[0].shape
    for words, name in _ATTENTION:
        ratio = days_ratio(convention(name), shape, _SEQ_LEN)
        parts = flops_per_token(convention(name), shape, _SEQ_LEN)
        yield Row(
            label=f"compute days if the MFU counts {words}",
            value=example.days * ratio,
            unit="days",
            group="1. Compute",
            formula=f"{show(example.days)} x ({parts}) / (6 x {show_power(shape.n_params_active)})",
            assumed=(
                "shape 1 below",
                f"sequences of {_SEQ_LEN:,} tokens",
                f"MFU {show(example.mfu)} counts what {name} counts",
            ),
            convention=convention(name).words,
            sources=(convention(name).source,),
        )


def _size_rows(example):
    n_params, n_tokens = example.size
    common = {"group": "2. Size and tokens", "assumed": (f"{TOKENS_PER_PARAM:g} tokens a parameter",)}
    common |= {"sources": (_RULE,), "convention": "all parameters, embeddings included; every token once"}
    yield Row(
        label="parameters",
        value=n_params,
        unit="parameters",
        formula=f"sqrt({show_power(example.compute)} / (6 x {TOKENS_PER_PARAM:g}))",
        **common,
    )
    yield Row(
        label="tokens",
        value=n_tokens,
        unit="tokens",
        formula=f"{TOKENS_PER_PARAM:g} x {show_power(n_params)}",
        **common,
    )


def _shape_rows(example):
    constraints = Constraints()
    assumed = (
        f"vocabulary {constraints.vocab_size:,}, untied",
        f"head dimension {constraints.head_dim}",
        f"d_ff a multiple of {constraints.d_ff_multiple}",
        f"tensor parallel {constraints.tensor} possible",
    )
    for place, found in enumerate(example.shapes, start=1):
        shape = found.shape
        yield Row(
            label=f"shape {place}: layers x width, d_ff",
            value=f"{shape.n_layers} x {shape.d_model:,}, {shape.d_ff:,}",
            group="3. Shape",
            formula=f"{shape.n_params:,} parameters, {found.beside}",
            assumed=assumed,
            convention=shape.text,
            sources=("search over all widths and depths: lib.architecture.shapes, where the ranking has its sources",),
        )


def _data_rows(example):
    source, n_tokens = example.source, example.size[1]
    common = {"group": "4. Data", "sources": (source.source,)}
    yield Row(
        label=f"tokens in {source.name}",
        value=source.n_tokens,
        unit="tokens",
        formula=source.counted,
        convention=f"{source.tokenizer} tokens" + (f"; {source.remark}" if source.remark else ""),
        **common,
    )
    yield Row(
        label=f"passes over {source.name}",
        value=source.passes(n_tokens),
        formula=f"{show_power(n_tokens)} / {show_power(source.n_tokens)}",
        assumed=(f"the run's tokenizer cuts text as {source.tokenizer} does",),
        **common,
    )


def _checks(example):
    n_tokens, there = example.size[1], example.source.n_tokens
    missing = "missing" if n_tokens > there else "to spare"
    margin = f"{show_roughly(abs(there - n_tokens), 'tokens')} {missing}"
    best = example.shapes[0]
    return (
        Check(label=f"one pass over {example.source.name} is enough", passed=n_tokens <= there, margin=margin),
        Check(label="a shape within 1% of the size", passed=best.within, margin=f"the nearest is {best.beside}"),
    )


def _notes(example):
    notes = ["Whether the model fits into memory, and how it is split, later chapters answer."]
    if example.dtype == "fp16":
        notes.insert(0, f"{example.chip.name} has no bf16: its fp16 peak is used.")
    return tuple(notes)


_CORPUS_SYNONYMS = tuple((alias, name) for name, entry in FACTS.items() for alias in entry.get("aliases", ()))

WHAT_IFS = (
    WhatIf(
        name="worked-example",
        title="A plan in four steps",
        question="What can this cluster train in this time, in which shape, and is there text enough for it?",
        view=worked_example_view,
        controls=(
            Number(
                name="n_gpus",
                label="GPUs",
                start=128,
                low=1,
                high=16_384,
                unit="GPUs",
                scale="log",
                whole=True,
                aliases=("gpus", "n_devices", "devices", "num_gpus"),
            ),
            Number(
                name="days",
                label="compute days",
                start=14,
                low=1,
                high=120,
                unit="days",
                aliases=("time", "duration"),
                help="days in which the job makes progress; failures come on top",
            ),
            Choice(
                name="accelerator",
                label="accelerator",
                start="A100 80GB SXM",
                options=tuple(ACCELERATORS),
                synonyms=tuple(SYNONYMS.items()),
                aliases=("gpu", "chip", "device", "hardware"),
            ),
            Number(
                name="mfu",
                label="MFU",
                start=0.45,
                low=0.05,
                high=0.7,
                aliases=("utilization", "utilisation"),
                help="by 6N a token over the dense peak; an assumption until it is measured",
            ),
            Choice(
                name="corpus",
                label="corpus",
                start="The Pile",
                options=tuple(CORPORA),
                synonyms=_CORPUS_SYNONYMS,
                aliases=("data", "dataset"),
            ),
        ),
    ),
)
