"""Questions of the chapter *How big, how long*: allocation under a law."""

from lib.exercises.amounts import spread
from lib.exercises.choices import named, ranked
from lib.exercises.questions import Question, Slip
from lib.scaling import ScalingLaw, law
from lib.units import show

_LAW = law("Besiroglu 2024")
_CONSTANTS = {name: getattr(_LAW, name) for name in ("E", "A", "B", "alpha", "beta")}
_ENDLESS = 1e300  # tokens


def smallest_size(target_loss, E, A, alpha):  # noqa: N803
    """The size that reaches a loss with endless tokens only."""
    return (A / (target_loss - E)) ** (1 / alpha)


def growth(compute_factor, alpha, beta):
    """By how much best size and best tokens grow with the compute; a tuple of two floats."""
    size = compute_factor ** (beta / (alpha + beta))
    return size, compute_factor / size


def model_for_loss(models, compute, target_loss, law):
    """Name of the smallest model that reaches the loss within the compute; text."""

    def loss(n_params):
        n_tokens = compute / (6 * n_params)
        return law["E"] + law["A"] / n_params ** law["alpha"] + law["B"] / n_tokens ** law["beta"]

    reaching = [model for model in models if loss(model["n_params"]) <= target_loss]
    return min(reaching, key=lambda model: model["n_params"])["name"]


def _targets(rng):
    constants = {name: _CONSTANTS[name] for name in ("E", "A", "alpha")}
    return [{"target_loss": round(2.0 + 0.4 * rng.random(), 2)} | constants]


def _factors(rng):
    edges = [(1.0, 0.35, 0.37), (2.0, 0.3478, 0.3658), (2.0, 0.5, 0.5)]
    drawn = [(float(rng.randrange(2, 64)), *(round(0.2 + 0.3 * rng.random(), 3) for _ in range(2))) for _ in range(4)]
    return [dict(zip(("compute_factor", "alpha", "beta"), row, strict=True)) for row in edges + drawn]


def _grown(compute_factor, alpha, beta):
    of_these = ScalingLaw(name="of the question", E=1.8, A=480.0, B=2000.0, alpha=alpha, beta=beta)
    before, after = of_these.optimum(1e22), of_these.optimum(1e22 * compute_factor)
    return tuple(new / old for new, old in zip(after, before, strict=True))


def _budgets(rng):
    return [_budget(rng, compute) for compute in (1e22, *(spread(rng, 1e21, 1e26) for _ in range(4)))]


def _budget(rng, compute):
    best, _ = _LAW.optimum(compute)
    sizes = [float(f"{factor * best:.2e}") for factor in (0.12, 0.3, 0.72, 1.05, 3.5, 9.0)]
    target = round(_LAW.loss_at_budget(compute, rng.choice((0.25, 0.6)) * best), 4)
    models = named(rng, [{"n_params": size} for size in sizes])
    return {"models": models, "compute": compute, "target_loss": target, "law": dict(_CONSTANTS)}


def _reaching(models, compute, target_loss, law):
    def missing(model):
        over = _LAW.loss_at_budget(compute, model["n_params"]) - target_loss
        return (
            ("It does not reach the loss within the compute.", f"{show(over, 'nats')} above it.") if over > 0 else None
        )

    return ranked(
        models,
        missing,
        lambda model: model["n_params"],
        "The smallest that reaches the loss: the cheapest to use.",
        "It reaches the loss, but a smaller one does too and is cheaper to use.",
    )


def _lowest_loss(models, compute, **_):
    return min(models, key=lambda model: _LAW.loss_at_budget(compute, model["n_params"]))["name"]


QUESTIONS = (
    Question(
        solution=smallest_size,
        title="Where an isoloss line ends",
        prompt="By L = E + A / N^alpha + B / D^beta with E = {E}, A = {A} and alpha = {alpha}, the isoloss line of "
        "{target_loss} nats ends on the left at a size that needs endless tokens. How many parameters are that? To "
        "2%.",
        chapter="how_big_how_long",
        task="read",
        kind="value",
        inputs=_targets,
        expected=lambda target_loss, **_: _LAW.fewest_params(target_loss, _ENDLESS),
        tolerance=0.02,
        unit="parameters",
        visible=False,
        hint="With endless tokens the last term is nothing: what is left must equal the loss.",
        minutes=6,
        difficulty="medium",
        slips=(
            Slip(
                name="E left out",
                sentence="E was left out: only the loss above it can be paid for with parameters.",
                gives=lambda target_loss, A, alpha, **_: (A / target_loss) ** (1 / alpha),  # noqa: N803
            ),
            Slip(
                name="exponent",
                sentence="The power is upside down: solve A / N^alpha for N.",
                gives=lambda target_loss, E, A, alpha: (A / (target_loss - E)) ** alpha,  # noqa: N803
            ),
        ),
    ),
    Question(
        solution=growth,
        title="Twice the GPUs",
        prompt="You get `compute_factor` times the compute. By a law with exponents `alpha` (size) and `beta` "
        "(tokens), by which factors do the best size and the best tokens grow? Return both, the size first.",
        chapter="how_big_how_long",
        task="change",
        kind="function",
        inputs=_factors,
        expected=_grown,
        hint="N* goes with C to the power beta / (alpha + beta); the product of both factors is that of the compute.",
        points=2,
        minutes=8,
        difficulty="medium",
        slips=(
            Slip(
                name="swapped",
                sentence="The exponents are swapped: the size grows with beta / (alpha + beta).",
                gives=lambda compute_factor, alpha, beta: growth(compute_factor, beta, alpha),
            ),
            Slip(
                name="root",
                sentence="Both grow by the root only where alpha equals beta.",
                gives=lambda compute_factor, alpha, beta: (compute_factor**0.5, compute_factor**0.5),
            ),
            Slip(
                name="both whole",
                sentence="Both by the whole factor would take its square in compute, for C = 6 N D.",
                gives=lambda compute_factor, alpha, beta: (compute_factor, compute_factor),
            ),
        ),
    ),
    Question(
        solution=model_for_loss,
        title="The smallest that reaches the loss",
        prompt="`models` are dicts with `name` and `n_params`; `law` is a dict of E, A, B, alpha and beta. Each "
        "model would spend the whole `compute`, by 6ND. Return the name of the smallest that reaches "
        "`target_loss`: it will be the cheapest to use.",
        chapter="how_big_how_long",
        task="decide",
        kind="decision",
        inputs=_budgets,
        rulings=_reaching,
        hint="The tokens of each are what its size leaves of the compute.",
        points=3,
        minutes=12,
        difficulty="medium",
        slips=(
            Slip(
                name="lowest loss",
                sentence="That has the lowest loss of all: a smaller one reaches the target too, and is cheaper to "
                "use.",
                gives=lambda law, **asked: _lowest_loss(**asked),
            ),
            Slip(
                name="largest",
                sentence="That is the largest: within this compute it sees too few tokens.",
                gives=lambda models, **_: max(models, key=lambda model: model["n_params"])["name"],
            ),
            Slip(
                name="no factor 6",
                sentence="It would reach the loss with six times the tokens: D is C / 6N.",
                gives=lambda compute, **asked: model_for_loss(compute=6 * compute, **asked),
            ),
        ),
    ),
)
