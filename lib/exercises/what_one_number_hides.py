"""Questions of the chapter *What one number hides*: use, and text that runs out."""

import math

from lib import compute
from lib.exercises.amounts import spread
from lib.exercises.choices import named, ranked
from lib.exercises.questions import Question, Slip
from lib.scaling import law, overtraining, repeated_data
from lib.units import show

_LAW = law("Besiroglu 2024")
_SIZES = (0.2, 0.3, 0.45, 0.7, 1.0, 1.6)  # over the size of the cheapest training


def tokens_served(n_params, n_tokens):
    """Tokens after which use has cost as much as training."""
    return 6 * n_params * n_tokens / (2 * n_params)


def effective_tokens(unique_tokens, n_tokens, decay):
    """Fresh tokens that would help as much as tokens read several times; a float."""
    import math

    if n_tokens <= unique_tokens:
        return n_tokens
    repeats = n_tokens / unique_tokens - 1
    return unique_tokens * (1 + decay * (1 - math.exp(-repeats / decay)))


def model_for_life(models, served_tokens):
    """Name of the model that costs the fewest FLOPs over its life; text."""
    return min(models, key=lambda m: 6 * m["n_params"] * m["n_tokens"] + 2 * m["n_params"] * served_tokens)["name"]


def _trained(rng):
    return [{"n_params": spread(rng, 1e9, 5e11), "n_tokens": spread(rng, 5e11, 2e13)}]


def _corpora(rng):
    edges = [(1e11, 1e11), (1e11, 4e10), (25e9, 100e9)]
    drawn = [(unique := spread(rng, 1e9, 1e12), unique * rng.randrange(2, 30)) for _ in range(4)]
    return [{"unique_tokens": u, "n_tokens": d, "decay": repeated_data.R_D_STAR} for u, d in edges + drawn]


def _lives(rng):
    return [_life(rng, spread(rng, 1e21, 1e25)) for _ in range(5)]


def _life(rng, budget):
    best, tokens = _LAW.optimum(budget)
    target = _LAW.optimal_loss(budget)
    sizes = [float(f"{factor * best:.2e}") for factor in _SIZES]
    models = [{"n_params": size, "n_tokens": _LAW.fewest_tokens(target, size)} for size in sizes]
    return {"models": named(rng, models), "served_tokens": float(f"{tokens * (2 + 8 * rng.random()):.2e}")}


def _cost(model, served_tokens):
    use = overtraining.inference_flops(model["n_params"], served_tokens)
    return compute.train_flops(model["n_params"], model["n_tokens"]) + use


def _over_life(models, served_tokens):
    least = min(_cost(model, served_tokens) for model in models)

    def dearer(model):
        more = _cost(model, served_tokens) / least - 1
        return ("Training and use together cost more.", f"{show(more, '%')} more FLOPs.") if more > 0 else None

    return ranked(models, dearer, lambda model: _cost(model, served_tokens), "The fewest FLOPs over its life.", "")


QUESTIONS = (
    Question(
        solution=tokens_served,
        title="When use overtakes training",
        prompt="A model of {n_params:parameters} was trained on {n_tokens:tokens}. In use a token costs a "
        "forward pass alone. After how many tokens has use cost as much compute as training?",
        chapter="what_one_number_hides",
        task="read",
        kind="value",
        inputs=_trained,
        expected=lambda n_params, n_tokens: (
            compute.train_flops(n_params, n_tokens) / overtraining.inference_flops(n_params, 1.0)
        ),
        tolerance=0.01,
        unit="tokens",
        visible=False,
        hint="6N for a token of training, 2N for one of use: the size does not matter.",
        minutes=4,
        slips=(
            Slip(
                name="same cost",
                sentence="A token of training costs three times one of use: forward and backward.",
                gives=lambda n_params, n_tokens: n_tokens,
            ),
            Slip(
                name="upside down",
                sentence="Use is cheaper than training, so it takes more tokens, not fewer.",
                gives=lambda n_params, n_tokens: n_tokens / 3,
            ),
            Slip(
                name="factor 6",
                sentence="Six times would be right if a token of use cost N FLOPs: it costs 2N.",
                gives=lambda n_params, n_tokens: 6 * n_tokens,
            ),
        ),
    ),
    Question(
        solution=effective_tokens,
        title="What repeated text is worth",
        prompt="A run reads `n_tokens` from a corpus of `unique_tokens`. By Muennighoff et al. it learns as from "
        "U + U R (1 - exp(-(D / U - 1) / R)) fresh tokens, with R = `decay`; less than one pass repeats nothing. "
        "Return these. Then raise the passes: where does it stop paying?",
        chapter="what_one_number_hides",
        task="change",
        kind="function",
        inputs=_corpora,
        expected=repeated_data.effective_tokens,
        unit="tokens",
        hint="D / U - 1 are the repeats after the first pass. What if it is below 0?",
        points=2,
        minutes=8,
        difficulty="medium",
        slips=(
            Slip(
                name="all count",
                sentence="Every pass was counted in full: a repeated token is worth less.",
                gives=lambda unique_tokens, n_tokens, decay: n_tokens,
            ),
            Slip(
                name="first pass",
                sentence="The first pass repeats nothing: the repeats are D / U - 1.",
                gives=lambda unique_tokens, n_tokens, decay: (
                    unique_tokens * (1 + decay * (1 - math.exp(-n_tokens / unique_tokens / decay)))
                ),
            ),
            Slip(
                name="none counts",
                sentence="Repeats were counted for nothing: the first few are worth nearly as much as fresh text.",
                gives=lambda unique_tokens, n_tokens, decay: min(unique_tokens, n_tokens),
            ),
        ),
    ),
    Question(
        solution=model_for_life,
        title="Which size for its whole life?",
        prompt="All `models` (dicts with `name`, `n_params`, `n_tokens`) reach the same loss. The chosen one will "
        "read and write `served_tokens`. Return the name of the one that takes the fewest FLOPs, training and use "
        "together.",
        chapter="what_one_number_hides",
        task="decide",
        kind="decision",
        inputs=_lives,
        rulings=_over_life,
        hint="6 N D for the training, 2 N for every token served.",
        points=2,
        minutes=8,
        difficulty="medium",
        slips=(
            Slip(
                name="training alone",
                sentence="That is the cheapest to train: its use was left out.",
                gives=lambda models, served_tokens: model_for_life(models, 0.0),
            ),
            Slip(
                name="use alone",
                sentence="That is the cheapest to use: its training was left out.",
                gives=lambda models, served_tokens: min(models, key=lambda model: model["n_params"])["name"],
            ),
        ),
    ),
)
