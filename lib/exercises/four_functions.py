"""The four functions of a first plan: FLOPs, size and tokens, days, utilization."""

from lib import compute
from lib.exercises.amounts import doubled, spread
from lib.exercises.questions import Question, Slip

_HOURS, _SECONDS = 3600, 86_400


def train_flops(n_params, n_tokens):
    """FLOPs of a training run by 6ND; a float."""
    return 6.0 * n_params * n_tokens


def chinchilla_optimal(compute):
    """Parameters and tokens for a compute budget at 20 tokens a parameter; a tuple of two floats."""
    n_params = (compute / 120) ** 0.5
    return n_params, 20 * n_params


def training_days(n_params, n_tokens, n_gpus, peak_flops, mfu):
    """Days that a run takes, by 6ND; a float."""
    seconds = 6 * n_params * n_tokens / (n_gpus * peak_flops * mfu)
    return seconds / 86_400


def model_flops_utilization(n_params, tokens_per_second, n_gpus, peak_flops):
    """MFU of a running job, counted as 6N a token; a fraction."""
    return 6 * n_params * tokens_per_second / (n_gpus * peak_flops)


def _models(rng):
    drawn = [{"n_params": spread(rng, 1e8, 5e11), "n_tokens": spread(rng, 1e9, 2e13)} for _ in range(4)]
    return [{"n_params": 1.0, "n_tokens": 1.0}, {"n_params": 1e9, "n_tokens": 2e10}, *drawn]


def _budgets(rng):
    return [{"compute": 120.0}, {"compute": 1e21}, *({"compute": spread(rng, 1e18, 1e26, 3)} for _ in range(4))]


def _runs(rng):
    edges = [(1e9, 2e10, 8, 1e15, 0.4), (1e8, 2e9, 1, 1e14, 1.0)]
    drawn = [
        (
            spread(rng, 1e8, 5e11),
            spread(rng, 1e10, 2e13),
            doubled(rng, 8, 16_384),
            spread(rng, 1e14, 3e15, 3),
            round(0.2 + 0.4 * rng.random(), 2),
        )
        for _ in range(4)
    ]
    return [
        dict(zip(("n_params", "n_tokens", "n_gpus", "peak_flops", "mfu"), run, strict=True)) for run in edges + drawn
    ]


def _jobs(rng):
    edges = [(1e9, 2e5, 8, 1e15), (1e9, 5e4, 1, 1e15)]
    drawn = []
    for _ in range(4):
        n_params, n_gpus, peak = spread(rng, 1e8, 5e11), doubled(rng, 8, 16_384), spread(rng, 1e14, 3e15, 3)
        speed = (0.15 + 0.4 * rng.random()) * n_gpus * peak / (6 * n_params)
        drawn.append((n_params, float(f"{speed:.3g}"), n_gpus, peak))
    return [
        dict(zip(("n_params", "tokens_per_second", "n_gpus", "peak_flops"), job, strict=True)) for job in edges + drawn
    ]


QUESTIONS = (
    Question(
        solution=train_flops,
        title="Compute of a run",
        prompt="A model with `n_params` parameters is trained on `n_tokens` tokens. "
        "Forward takes 2 FLOPs for each parameter and token, backward 4. Return the FLOPs of the run.",
        chapter="chips_to_flops",
        task="write",
        kind="function",
        inputs=_models,
        expected=compute.train_flops,
        unit="FLOP",
        hint="Forward and backward together are one factor before `n_params * n_tokens`.",
        points=1,
        minutes=4,
        slips=(
            Slip(
                name="no factor 6",
                sentence="The factor is missing: each parameter and token costs 2 FLOPs forward and 4 backward.",
                gives=lambda n_params, n_tokens: n_params * n_tokens,
            ),
            Slip(
                name="forward only",
                sentence="That is the forward pass alone: backward costs twice as much again.",
                gives=lambda n_params, n_tokens: 2 * n_params * n_tokens,
            ),
            Slip(
                name="backward only",
                sentence="That is the backward pass alone: forward adds 2 FLOPs for each parameter and token.",
                gives=lambda n_params, n_tokens: 4 * n_params * n_tokens,
            ),
        ),
    ),
    Question(
        solution=chinchilla_optimal,
        title="Size and tokens for a budget",
        prompt="A budget of `compute` FLOPs is spent by 6ND, with 20 tokens for each parameter. "
        "Return parameters and tokens as a tuple.",
        chapter="chips_to_flops",
        task="write",
        kind="function",
        inputs=_budgets,
        expected=compute.chinchilla_optimal,
        hint="Put D = 20 N into C = 6 N D; one unknown is left.",
        points=2,
        minutes=8,
        slips=(
            Slip(
                name="no factor 6",
                sentence="N is the root of C / 20: the 6 of 6ND is missing under the root.",
                gives=lambda compute: ((compute / 20) ** 0.5, 20 * (compute / 20) ** 0.5),
            ),
            Slip(
                name="no root",
                sentence="C / 120 is N squared: the root is missing.",
                gives=lambda compute: (compute / 120, compute / 6),
            ),
            Slip(
                name="swapped",
                sentence="Tokens came first: return the parameters first, then the tokens.",
                gives=lambda compute: (20 * (compute / 120) ** 0.5, (compute / 120) ** 0.5),
            ),
            Slip(
                name="one token a parameter",
                sentence="Tokens equal parameters: each parameter gets 20.",
                gives=lambda compute: ((compute / 6) ** 0.5, (compute / 6) ** 0.5),
            ),
        ),
    ),
    Question(
        solution=training_days,
        title="Days of training",
        prompt="`n_gpus` devices do `peak_flops` FLOP/s each at most, and the run reaches the fraction `mfu` of it. "
        "Return how many days it takes to train `n_params` parameters on `n_tokens` tokens.",
        chapter="chips_to_flops",
        task="write",
        kind="function",
        inputs=_runs,
        expected=compute.training_days,
        unit="days",
        hint="First the FLOPs of the run, then the useful FLOP/s of the cluster; their ratio is in seconds.",
        points=2,
        minutes=8,
        slips=(
            Slip(
                name="seconds",
                sentence="That is in seconds: a day has 86,400.",
                gives=lambda **run: training_days(**run) * _SECONDS,
            ),
            Slip(
                name="hours",
                sentence="That is in hours: a day has 24.",
                gives=lambda **run: training_days(**run) * _SECONDS / _HOURS,
            ),
            Slip(
                name="no factor 6",
                sentence="The factor 6 of 6ND is missing.",
                gives=lambda **run: training_days(**run) / 6,
            ),
            Slip(
                name="peak",
                sentence="That is at full peak: the run reaches only the fraction `mfu` of it.",
                gives=lambda mfu, **run: training_days(mfu=1.0, **run),
            ),
            Slip(
                name="one device",
                sentence="That is on one device: divide by `n_gpus` too.",
                gives=lambda n_gpus, **run: training_days(n_gpus=1, **run),
            ),
            Slip(
                name="percentage",
                sentence="`mfu` was taken for a percentage: it is a fraction already.",
                gives=lambda **run: training_days(**run) * 100,
            ),
        ),
    ),
    Question(
        solution=model_flops_utilization,
        title="MFU of a running job",
        prompt="A job trains `n_params` parameters at `tokens_per_second`, measured over the whole cluster of "
        "`n_gpus` devices with a peak of `peak_flops` FLOP/s each. Return its MFU as a fraction, counting 6N FLOPs "
        "a token.",
        chapter="chips_to_flops",
        task="write",
        kind="function",
        inputs=_jobs,
        expected=compute.model_flops_utilization,
        hint="Useful FLOP/s over the peak of the whole cluster.",
        points=2,
        minutes=6,
        slips=(
            Slip(
                name="percentage",
                sentence="That is a percentage: a fraction was asked for, so do not multiply by 100.",
                gives=lambda **job: 100 * model_flops_utilization(**job),
            ),
            Slip(
                name="no factor 6",
                sentence="The factor is missing: a token costs 6N FLOPs, not N.",
                gives=lambda **job: model_flops_utilization(**job) / 6,
            ),
            Slip(
                name="forward only",
                sentence="That counts 2N FLOPs a token, the forward pass: training takes 6N.",
                gives=lambda **job: model_flops_utilization(**job) / 3,
            ),
            Slip(
                name="one device",
                sentence="That divides by the peak of one device: the speed is that of all `n_gpus`.",
                gives=lambda n_gpus, **job: model_flops_utilization(n_gpus=1, **job),
            ),
            Slip(
                name="upside down",
                sentence="The ratio is upside down: what is used over what is there.",
                gives=lambda **job: 1 / model_flops_utilization(**job),
            ),
        ),
    ),
)
