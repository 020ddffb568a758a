"""Questions of the chapter *Fitting your own law*: what small runs can tell."""

import math

from lib.exercises.amounts import spread
from lib.exercises.choices import named, ranked
from lib.exercises.questions import Question, Slip
from lib.runs import planned
from lib.runs.identifiability import Design
from lib.scaling import ScalingLaw
from lib.units import show


def size_exponent(compute_1, n_params_1, compute_2, n_params_2):
    """a in N* = k C^a."""
    return math.log(n_params_2 / n_params_1) / math.log(compute_2 / compute_1)


def grid_flops(sizes, tokens_per_param):
    """FLOPs of one run for every size and every ratio of tokens; a float."""
    return sum(6 * size * size * ratio for size in sizes for ratio in tokens_per_param)


def run_to_add(sizes, tokens, candidates):
    """Name of the run that makes the constants easiest to tell apart; text."""
    from lib.runs import planned
    from lib.runs.identifiability import Design

    def kappa(run):
        return Design(runs=planned([*sizes, run["n_params"]], [*tokens, run["n_tokens"]])).kappa

    return min(candidates, key=kappa)["name"]


def _sweeps(rng):
    alpha, beta = (round(0.22 + 0.3 * rng.random(), 3) for _ in range(2))
    found = ScalingLaw(name="of the question", E=1.8, A=480.0, B=2000.0, alpha=alpha, beta=beta)
    low, high = spread(rng, 1e18, 1e19, 1), spread(rng, 1e21, 1e23, 1)
    at = {compute: float(f"{found.optimum(compute)[0]:.3e}") for compute in (low, high)}
    return [{"compute_1": low, "n_params_1": at[low], "compute_2": high, "n_params_2": at[high]}]


def _between(compute_1, n_params_1, compute_2, n_params_2):
    return math.log(n_params_2 / n_params_1, compute_2 / compute_1)


def _grids(rng):
    edges = [([1e8], [20.0]), ([1e7, 6e7, 3e8], [5.0, 40.0, 320.0])]
    drawn = [(_several(rng, 1e7, 1e9), _several(rng, 2, 500)) for _ in range(4)]
    return [{"sizes": sizes, "tokens_per_param": ratios} for sizes, ratios in edges + drawn]


def _several(rng, low, high):
    return sorted(spread(rng, low, high) for _ in range(rng.randrange(2, 5)))


def _grid_flops(sizes, tokens_per_param):
    pairs = [(size, size * ratio) for size in sizes for ratio in tokens_per_param]
    return math.fsum(planned(*zip(*pairs, strict=True)).compute)


def _families(rng):
    return [_family(rng) for _ in range(3)]


def _family(rng):
    """Runs nearly on one line, and five that might be added."""
    smallest, ratio = spread(rng, 5e7, 2e8, 1), rng.choice((10, 20, 40))
    sizes = [smallest * 2.5**k for k in range(6)]
    tokens = [size * ratio * (1 + 0.2 * (k % 2)) for k, size in enumerate(sizes)]
    runs = (
        (3 * sizes[-1], ratio),
        (sizes[0], 100 * ratio),
        (sizes[3], 8 * ratio),
        (sizes[0] / 3, ratio),
        (sizes[1], 4 * ratio),
    )
    candidates = [{"n_params": size, "n_tokens": size * times} for size, times in runs]
    return {"sizes": sizes, "tokens": tokens, "candidates": named(rng, candidates)}


def _kappa(sizes, tokens, run):
    return Design(runs=planned([*sizes, run["n_params"]], [*tokens, run["n_tokens"]])).kappa


def _told_apart(sizes, tokens, candidates):
    kappas = {run["name"]: _kappa(sizes, tokens, run) for run in candidates}
    least = min(kappas.values())

    def worse(run):
        words = f"Condition number {show(kappas[run['name']])} instead of {show(least)}."
        return ("Another run tells the constants apart better.", words) if kappas[run["name"]] > least else None

    return ranked(candidates, worse, lambda run: kappas[run["name"]], "The constants are told apart best.", "")


def _flops(run):
    return run["n_params"] * run["n_tokens"]


QUESTIONS = (
    Question(
        solution=size_exponent,
        title="An exponent from two budgets",
        prompt="Sweeps find {n_params_1:parameters} best at {compute_1:FLOP}, and {n_params_2:parameters} at "
        "{compute_2:FLOP}. Which exponent a is in N* = k C^a? To 1%.",
        chapter="fitting",
        task="read",
        kind="value",
        inputs=_sweeps,
        expected=_between,
        tolerance=0.01,
        visible=False,
        hint="On two logarithmic axes a is the slope of a straight line.",
        minutes=5,
        slips=(
            Slip(
                name="no logarithm",
                sentence="A ratio of ratios is no slope: take the logarithms of both first.",
                gives=lambda compute_1, n_params_1, compute_2, n_params_2: (
                    (n_params_2 / n_params_1) / (compute_2 / compute_1)
                ),
            ),
            Slip(
                name="upside down",
                sentence="That is how compute goes with size: the question is the other way round.",
                gives=lambda **sweep: 1 / size_exponent(**sweep),
            ),
        ),
    ),
    Question(
        solution=grid_flops,
        title="What a grid of small runs costs",
        prompt="A grid has one run for each of `sizes` and each of `tokens_per_param`. Return the FLOPs of all of "
        "them, by 6ND. Then change the largest ratio: which runs take most of the money?",
        chapter="fitting",
        task="change",
        kind="function",
        inputs=_grids,
        expected=_grid_flops,
        unit="FLOP",
        hint="The tokens of a run are its size times the ratio.",
        points=2,
        minutes=8,
        slips=(
            Slip(
                name="no factor 6",
                sentence="The factor 6 of 6ND is missing.",
                gives=lambda **grid: grid_flops(**grid) / 6,
            ),
            Slip(
                name="ratio for tokens",
                sentence="The ratio was taken for the tokens: multiply by the size once more.",
                gives=lambda sizes, tokens_per_param: sum(
                    6 * size * ratio for size in sizes for ratio in tokens_per_param
                ),
            ),
            Slip(
                name="pairs",
                sentence="Sizes and ratios were paired off: a grid has every size with every ratio.",
                gives=lambda sizes, tokens_per_param: sum(
                    6 * size * size * ratio for size, ratio in zip(sizes, tokens_per_param, strict=False)
                ),
            ),
        ),
    ),
    Question(
        solution=run_to_add,
        title="Which run to add?",
        prompt="A family of runs (`sizes`, `tokens`) lies nearly on one line of tokens per parameter. One of "
        "`candidates` (dicts with `name`, `n_params`, `n_tokens`) can be paid for. Return the name of the one with "
        "which a law's five constants are told apart best: the smallest condition number. "
        "`lib.runs.identifiability.Design` gives it.",
        chapter="fitting",
        task="decide",
        kind="decision",
        inputs=_families,
        rulings=_told_apart,
        hint="A run on the line tells nothing new. Off the line, the smallest models are the cheapest.",
        points=2,
        minutes=10,
        difficulty="hard",
        allows_lib=True,
        slips=(
            Slip(
                name="largest",
                sentence="That is the largest run: it lies on the line, and tells nothing new.",
                gives=lambda candidates, **_: max(candidates, key=lambda run: run["n_params"])["name"],
            ),
            Slip(
                name="cheapest",
                sentence="That is the cheapest run: it lies on the line, and tells nothing new.",
                gives=lambda candidates, **_: min(candidates, key=_flops)["name"],
            ),
        ),
    ),
)
