"""Tables that put conventions of utilization side by side: what they count, what they make of speeds and days."""

from lib import check
from lib.architecture import Transformer, model
from lib.compute import GOODPUT, calendar_days, train_flops
from lib.compute.flops import attention_flops, head_flops, layer_flops, train_flops_per_token
from lib.compute.gpu_hours import Run
from lib.compute.mfu import CONVENTIONS, convention, days_under
from lib.compute.speeds import SPEEDS, Speed, speed
from lib.tables import Table
from lib.units import HOURS_PER_DAY, show_number

_PARAMS = {"total": "all", "without_input_table": "no input table", "without_tables": "no tables"}
_ATTENTION = {"none": "no", "causal": "half", "full": "full"}
_RECOMPUTE = {
    "none": "no",
    "full": "the layers",
    "whole_model": "all of it",
    "palm_540b": "most of it",
    "selective_twice": "attention",
}
_LENGTHS = tuple(int(1024 * 2 ** (k / 4)) for k in range(25))  # 1k to 64k
_DAYS = {
    "6N": "MFU counts 6N alone",
    "Megatron-Bridge": "MFU counts matrices and half of attention",
    "Megatron-LM": "MFU counts matrices and full attention",
}


def conventions():
    """What each published convention counts, and who uses it.

    >>> conventions().rows[2]
    ('PaLM', 'all', 'full', 'no', 'PaLM, llm-foundry')
    """
    rows = tuple(
        (c.name, _PARAMS[c.params], _ATTENTION[c.attention], _RECOMPUTE[c.recompute], c.used_by)
        for c in CONVENTIONS.values()
    )
    head = ("convention", "N", "attention", "recomputation", "used by")
    return Table(head=head, rows=rows, caption="What a utilization has counted, by convention.")


def speeds(names=tuple(SPEEDS)):
    """Published speeds, the figure that was printed beside each, and the same figure computed from the speed.

    Args:
        names: of entries in `lib.compute.speeds.SPEEDS`; those without a speed are left out.

    >>> print(*str(speeds(["Llama 3 8B, Megatron-LM"])).splitlines()[2].split())
    Llama 3 8B, Megatron-LM 13,812 800 TFLOP/s 799.9 TFLOP/s 1.000 Megatron-LM
    """
    check.several(names=names)
    rows = []
    for row in (row for row in map(speed, names) if row.tokens_per_second_per_gpu):
        for figure in row.figures:
            cells = (row.name, show_number(row.tokens_per_second_per_gpu), _figure(figure.value, figure))
            computed = row.computed(figure)
            rows.append((*cells, _figure(computed, figure), f"{row.ratio(figure):.3f}", figure.convention.name))
    head = ("model, publisher", "tokens/s per GPU", "printed", "computed", "ratio", "counted by")
    return Table(head=head, rows=tuple(rows), caption="Printed figures against the speeds beside them.")


def _figure(value, figure):
    if figure.unit in ("MFU", "HFU"):
        return f"{100 * value:.1f}% {figure.unit}"
    return f"{show_number(value)} TFLOP/s"


def days(shape, n_tokens, seq_len, n_gpus, peak_flops, utilization):
    """Compute days of one run, by what the utilization has counted: (words, days) of each, for `plots.compare`.

    Args:
        shape: a `Transformer`.
        n_tokens, seq_len, n_gpus, utilization: as in `lib.compute.mfu.days_under`.
        peak_flops: dense peak of one device, FLOP/s, > 0.

    >>> from lib.architecture import model
    >>> found = days(model("llama-3-8b"), 15e12, 8192, 1024, 989.4e12, 0.40)
    >>> found[0][0], [round(number, 1) for _, number in found]
    ('MFU counts 6N alone', [20.6, 22.1, 24.8])
    """
    run = {"model": shape, "n_tokens": n_tokens, "seq_len": seq_len, "n_gpus": n_gpus, "utilization": utilization}
    return tuple(
        (words, days_under(convention(name).dividing_by(peak_flops, "as given"), **run))
        for name, words in _DAYS.items()
    )


def against(run, reported, goodput=GOODPUT):
    """A published run's device hours against what its own MFU would have planned, by what the MFU counted.

    Args:
        run: a `lib.compute.gpu_hours.Run`: tokens and hours.
        reported: a `lib.compute.speeds.Speed` of the same run, with an MFU: shape, devices, sequence length, peak.
        goodput: share of the time held that makes progress, above 0, at most 1.

    Returns:
        A `Table`: planned compute and calendar days, the days that the hours make, and actual over planned.

    >>> from lib.compute.gpu_hours import run
    >>> from lib.compute.speeds import speed
    >>> print(*str(against(run("llama-3.1-405b"), speed("llama 3.1 405b, meta"))).splitlines()[-1].split())
    PaLM 71.7 79.6 78.4 0.985
    """
    check.instance(Run, run=run)
    check.instance(Speed, reported=reported)
    check.scalar(goodput=goodput)
    figure = reported.figures[0]
    held = run.gpu_hours / reported.n_gpus / HOURS_PER_DAY
    rows = []
    for name in (*_DAYS, "PaLM"):
        counted = convention(name).dividing_by(figure.convention.peak_flops, figure.convention.peak)
        planned = days_under(counted, reported.model, run.n_tokens, reported.seq_len, reported.n_gpus, figure.value)
        on_calendar = calendar_days(planned, goodput)
        rows.append((name, f"{planned:.1f}", f"{on_calendar:.1f}", f"{held:.1f}", f"{held / on_calendar:.3f}"))
    head = ("MFU counted by", "compute days", "calendar days", "days published", "actual over planned")
    return Table(head=head, rows=tuple(rows), caption=f"{run.name}: planned from its MFU, and as it was.")


def by_length(shape, lengths=_LENGTHS):
    """FLOPs a token, forward and backward, part by part over the sequence length: for `plots.token_flops`.

    Args:
        shape: a `Transformer`.
        lengths: whole numbers of tokens, rising.

    Returns:
        lengths, the parts from the bottom up, and the line of 6N.

    >>> from lib.architecture import model
    >>> lengths, parts, rule = by_length(model("llama-3-8b"), (8192,))
    >>> [(name, round(values[0] / 1e9, 1)) for name, values in parts[:3]], round(rule[1] / 1e9, 1)
    ([("layers' matrices", 41.9), ('output head', 3.2), ('causal half of attention', 6.4)], 48.2)
    """
    check.several(lengths=lengths)
    half = [3.0 * attention_flops(shape, length, "causal") for length in lengths]
    parts = (
        ("layers' matrices", [3.0 * layer_flops(shape)] * len(lengths)),
        ("output head", [3.0 * head_flops(shape)] * len(lengths)),
        ("causal half of attention", half),
        ("the other half", half),
    )
    return lengths, parts, ("6N", train_flops(shape.n_params_active, 1))


def length_at(shape, attention, ratio=1.0):
    """Sequence length at which the exact FLOPs are so many times 6N; 1 is where 6N is exact  [tokens].

    Attention makes up for what 6N counts in vain: an untied input table, norms, biases.

    Args:
        shape: a `Transformer`.
        attention: "causal" or "full".
        ratio: exact FLOPs over 6N, > 0.

    Returns:
        A float; 0 or less where the count is above that at every length.

    Raises:
        ValueError: if the ratio is not positive.

    >>> from lib.architecture import model
    >>> round(length_at(model("llama-3-8b"), "causal")), round(length_at(model("llama-3-8b"), "full", 2.0))
    (4010, 32638)
    """
    check.positive(ratio=ratio)
    check.instance(Transformer, shape=shape)
    left = ratio * train_flops(shape.n_params_active, 1) - 3.0 * (layer_flops(shape) + head_flops(shape))
    return left / (3.0 * attention_flops(shape, 1, attention))


def ratios(names, lengths, attention):
    """Exact FLOPs over 6N for several models and sequence lengths.

    Args:
        names: as `lib.architecture.model` takes them.
        lengths: whole numbers of tokens.
        attention: "none", "causal" or "full".

    >>> print(*str(ratios(["llama-3-8b"], [8192], "causal")).splitlines()[2].split())
    Llama 3 8B 7% 1.07
    """
    check.several(names=names, lengths=lengths)
    rows = []
    for name in names:
        shape = model(name)
        table = shape.input_embedding_params / shape.n_params_active
        six = train_flops(shape.n_params_active, 1)
        found = [train_flops_per_token(shape, length, attention) / six for length in lengths]
        rows.append((shape.name, f"{100 * table:.0f}%", *(f"{ratio:.2f}" for ratio in found)))
    head = ("model", "input table in N", *(f"{length // 1024}k" for length in lengths))
    counted = {"none": "no attention", "causal": "the causal half of attention", "full": "full attention"}[attention]
    return Table(
        head=head, rows=tuple(rows), caption=f"Exact FLOPs a token over 6N by sequence length, with {counted}."
    )


def recomputation(shape, lengths, attention):
    """How much longer a step is, in FLOPs, by what is computed twice; never 4/3, for the head is not repeated.

    Args:
        shape: a `Transformer`.
        lengths: whole numbers of tokens.
        attention: "none", "causal" or "full".

    >>> from lib.architecture import model
    >>> recomputation(model("llama-3-8b"), [2048, 8192], "full").rows[1]
    ('full', '1.312', '1.315')
    """
    check.several(lengths=lengths)
    rows = []
    for kind in ("selective", "full", "stopping_early"):
        plain = [train_flops_per_token(shape, length, attention) for length in lengths]
        again = [train_flops_per_token(shape, length, attention, recompute=kind) for length in lengths]
        rows.append((kind.replace("_", " "), *(f"{a / b:.3f}" for a, b in zip(again, plain, strict=True))))
    head = ("recomputed", *(f"{length // 1024}k" for length in lengths))
    caption = f"FLOPs of a step of {shape.name} over those without recomputation, by sequence length."
    return Table(head=head, rows=tuple(rows), caption=caption)
