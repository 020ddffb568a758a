"""The what-if "law-explorer": what to train by one law and by many, for use, on text that runs out."""

from functools import partial

from lib import check, units
from lib.scaling import FACTS, LAWS
from lib.scaling.ensemble import GROUPS, Ensemble
from lib.scaling.moe_laws import MOE_LAWS
from lib.scaling.overtraining import Lifetime
from lib.scaling.repeated_data import DataLimitedLaw
from lib.whatif import controls
from lib.whatif.law_rows import scarce_rows, spread_rows, use_rows, vote_rows
from lib.whatif.model import Axis, Chart, Choice, Number, Reference, View, WhatIf
from lib.whatif.scaling import best_rows, curve, mark, spaced

_JOINT = "Ludziejewski 2025"
_COMPUTE = 1.89e24  # the month on 2,048 H100s, at a goodput of 0.90


def explorer_view(
    compute=_COMPUTE,
    law="Besiroglu 2024",
    beside="every law",
    inference_tokens=1e13,
    unique_tokens=1e12,
    n_experts=1,
):
    """What should a budget train, and how far do other laws, use and scarce text move the answer?"""
    check.positive(compute=compute, unique_tokens=unique_tokens)
    check.non_negative(inference_tokens=inference_tokens)
    check.integer(n_experts=n_experts)
    chosen = MOE_LAWS[_JOINT].at(n_experts) if law == _JOINT else LAWS[law]
    best = chosen.optimum(compute)
    life = Lifetime(law=chosen, target_loss=chosen.optimal_loss(compute), inference_tokens=inference_tokens)
    limited = DataLimitedLaw(law=chosen, unique_tokens=unique_tokens)
    scarce = limited.optimum(compute)
    ensemble = Ensemble(compute=compute, laws=GROUPS[beside])
    return View(
        title=_title(chosen, compute, best, life, scarce, ensemble),
        rows=(
            *best_rows(chosen, compute, best, life.target_loss),
            *use_rows(life, compute),
            *scarce_rows(limited, compute, best, scarce),
            *spread_rows(ensemble),
            *vote_rows(ensemble),
        ),
        chart=_chart(chosen, limited, compute, best, scarce, ensemble),
        notes=_notes(chosen, best, life, ensemble, n_experts),
    )


def _title(chosen, compute, best, life, scarce, ensemble):
    show = partial(units.show, unit="parameters")
    low, high = ensemble.sizes
    return (
        f"By {chosen.name}, {units.show(compute, 'FLOP')} want {show(best[0])} on {units.show(best[1], 'tokens')}; "
        f"the use makes it {show(life.n_params)}, the unique text {show(scarce[0])}; "
        f"{len(ensemble.laws)} laws say from {show(low)} to {show(high)}."
    )


def _chart(chosen, limited, compute, best, scarce, ensemble):
    smallest, largest = ensemble.sizes
    sizes = spaced(min(smallest, scarce[0], best[0] / 8), max(largest, best[0] * 8))
    lines = [curve("unlimited text", chosen, compute, sizes)]
    marks = [mark("best size", best, chosen)]
    if scarce != best:
        lines.append(curve(f"{units.show(limited.unique_tokens, 'tokens')} unique", limited, compute, sizes))
        marks.append(mark("best with repeating", scarce, limited))
    reach = "" if chosen.inside_range(*best) else f" ({chosen.label(*best)})"
    ratio = largest / smallest
    return Chart(
        title=f"The best sizes of the laws lie a factor of {ratio:,.3g} apart; each law is flat near its own{reach}.",
        alt=f"Loss against model size at {compute:.3g} FLOP: a valley with its lowest point at {best[0]:.3g}, "
        f"and lines at the smallest and largest best size of the laws, {smallest:.3g} and {largest:.3g}.",
        x=Axis(label="model size (parameters)", scale="log"),
        y=Axis(label="loss (nats per token)"),
        series=(*lines, *marks),
        references=(
            Reference(label="smallest best size", value=smallest),
            Reference(label="largest best size", value=largest),
        ),
    )


def _notes(chosen, best, life, ensemble, n_experts):
    notes = []
    reach = chosen.label(*best, n_experts)
    if reach != "within the fitted range":
        notes.append(f"{chosen.name} here: {reach}.")
    elif not chosen.inside_range(life.n_params, life.n_tokens):
        notes.append(f"{chosen.name} for use: {chosen.label(life.n_params, life.n_tokens)}.")
    if ensemble.n_extrapolated:
        notes.append(f"Extrapolated here: {ensemble.n_extrapolated} of the {len(ensemble.laws)} laws beside it.")
    if n_experts > 1:
        notes.append("The laws beside it are of dense models: not fitted for mixtures of experts.")
    notes.append("Compare sizes and tokens between laws, not losses: tokenizers and corpora differ.")
    return tuple(notes)


def _synonyms():
    known = (*((alias, name) for name in LAWS for alias in FACTS[name].get("aliases", ())), ("joint", _JOINT))
    return (*known, ("ludziejewski", _JOINT), ("moe", _JOINT))


WHAT_IFS = (
    WhatIf(
        name="law-explorer",
        title="What to train: laws, use and scarce text",
        question="How far do other laws, the model's use and scarce text move the best size?",
        view=explorer_view,
        controls=(
            controls.budget(
                _COMPUTE, "6 x parameters x tokens; 1.89e24 is a month on 2,048 H100s, MFU 0.40, goodput 0.90"
            ),
            Choice(
                name="law",
                label="law",
                start="Besiroglu 2024",
                options=(*LAWS, _JOINT),
                synonyms=_synonyms(),
                aliases=("scaling_law",),
                help="it predicts the loss",
            ),
            Choice(
                name="beside",
                label="laws beside it",
                start="every law",
                options=tuple(GROUPS),
                aliases=("laws", "ensemble", "compare"),
            ),
            Number(
                name="inference_tokens",
                label="tokens in use",
                start=1e13,
                low=1e9,
                high=1e16,
                unit="tokens",
                scale="log",
                aliases=("inference", "served_tokens", "use", "d_inf", "lifetime_tokens"),
                help="read and written over the model's whole use; 0 for none",
            ),
            Number(
                name="unique_tokens",
                label="unique tokens",
                start=1e12,
                low=1e9,
                high=1e14,
                unit="tokens",
                scale="log",
                aliases=("unique", "u", "corpus_tokens", "data"),
                help="what there is to read before anything is read again",
            ),
            Number(
                name="n_experts",
                label="experts a layer",
                start=1,
                low=1,
                high=64,
                scale="log",
                whole=True,
                aliases=("experts", "moe", "num_experts", "e"),
                help="1 is a dense model; the law of Ludziejewski et al. covers up to 32",
            ),
        ),
    ),
)
