"""The controls that the what-ifs on memory share: model, layout, framework, device."""

from dataclasses import replace

from lib.layout import RECOMPUTE
from lib.memory import HEADROOM, OPTIMIZERS, PRECISIONS, PROFILES
from lib.whatif import controls
from lib.whatif.model import Choice, Number

_TENSOR = ("1", "2", "4", "8", "16", "32", "64")
AS_PROFILE = "as the framework sets it"
_SHORT = {"megatron": "Megatron core 0.14", "torchtitan": "torchtitan 2024-12", "deepspeed": "DeepSpeed 0.16"}


def _degree(name, start, high, label, help="", more=False, aliases=()):
    return Number(
        name=name,
        label=label,
        start=start,
        low=1,
        high=high,
        scale="log",
        whole=True,
        help=help,
        more=more,
        aliases=aliases,
    )


def memory_controls(**start):
    """All of them; starting values that differ from the H100 plan's are given by name."""
    at = {
        "model": "Llama 3 70B",
        "data": 64,
        "tensor": 8,
        "pipeline": 4,
        "zero_stage": 1,
        "recompute": "full",
        "micro_batch": 1,
        "micro_batches": 16,
        "seq_len": 8192,
        "framework": "Megatron core 0.14",
        "accelerator": "H100 SXM",
    } | start
    return (
        controls.model(at["model"]),
        _powers("tensor", at["tensor"], _TENSOR, "tensor parallel", "parts of each matrix, inside a node", ("tp",)),
        _degree("pipeline", at["pipeline"], 64, "pipeline stages", aliases=("pp", "stages")),
        _degree("data", at["data"], 4096, "data parallel", "copies of the model", aliases=("dp", "replicas")),
        _powers(
            "zero_stage",
            at["zero_stage"],
            ("0", "1", "2", "3"),
            "ZeRO stage",
            "1 shards optimizer states, 2 gradients too, 3 weights too",
            ("zero", "sharding", "fsdp"),
        ),
        Choice(
            name="recompute",
            label="recomputation",
            start=at["recompute"],
            options=RECOMPUTE,
            aliases=("checkpointing", "recomputation", "activation_checkpointing"),
        ),
        _degree("micro_batch", at["micro_batch"], 64, "micro-batch", "sequences at a time", True, ("mbs", "batch")),
        _degree("micro_batches", at["micro_batches"], 512, "micro-batches a step", "", True, ("accumulation",)),
        replace(controls.SEQ_LEN, start=at["seq_len"], aliases=("sequence_length", "context_length"), more=True),
        _degree("context", 1, 64, "context parallel", "parts of each sequence", True, ("cp",)),
        _degree("expert", 1, 256, "expert parallel", "groups of experts", True, ("ep",)),
        Choice(
            name="framework",
            label="framework",
            start=at["framework"],
            options=tuple(PROFILES),
            synonyms=tuple(_SHORT.items()),
            aliases=("profile", "trainer"),
            help="it decides what is kept",
            more=True,
        ),
        _option("precision", "precision", PRECISIONS, ("dtype",)),
        _option("optimizer", "optimizer", OPTIMIZERS, ()),
        replace(controls.accelerator(at["accelerator"]), more=True),
        Number(
            name="headroom",
            label="kept free",
            start=HEADROOM,
            low=0.0,
            high=0.5,
            aliases=("reserve", "margin"),
            help="share of the device, for evaluation and odd batches",
            more=True,
        ),
    )


def _powers(name, start, options, label, help, aliases):
    """A number that takes few values: a choice, so that a slider does not stop where a model cannot be cut."""
    return Choice(name=name, label=label, start=str(start), options=options, help=help, aliases=aliases)


def _option(name, label, known, aliases):
    return Choice(name=name, label=label, start=AS_PROFILE, options=(AS_PROFILE, *known), aliases=aliases, more=True)
