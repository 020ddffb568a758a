"""Questions of the chapter *Recipes across scales*: steps, batch, schedule, learning rate."""

import math

from lib.exercises.amounts import doubled, spread
from lib.exercises.case import Ruling
from lib.exercises.questions import Question, Slip
from lib.recipe import batches as batch_rules
from lib.recipe import mup, schedules
from lib.units import show


def steps_of_run(n_tokens, data, micro_batch, accumulation, seq_len):
    """Updates of the run."""
    return n_tokens / (data * micro_batch * accumulation * seq_len)


def nearest_batch(batch_tokens, data, micro_batch, seq_len):
    """Sequences of the nearest batch that devices can share, and the accumulation; a tuple of two whole numbers."""
    unit = data * micro_batch
    accumulation = max(1, round(batch_tokens / (unit * seq_len)))
    return unit * accumulation, accumulation


def cosine_lr(step, peak_lr, min_lr, total_steps, warmup_steps):
    """Learning rate at a step: a straight warm-up, then half a cosine; a float."""
    import math

    if step < warmup_steps:
        return peak_lr * step / warmup_steps
    part = (step - warmup_steps) / (total_steps - warmup_steps)
    return min_lr + (peak_lr - min_lr) * (1 + math.cos(math.pi * part)) / 2


def hidden_lr(base_lr, d_model, base_width):
    """Learning rate of a wide model's matrices, found on a narrow one; a float."""
    return base_lr * base_width / d_model


def batch_to_take(batches, data, seq_len, critical_tokens, extra_at_most):
    """The largest batch, in sequences, that devices can share and that wastes little; a whole number."""
    possible = [batch for batch in batches if batch % data == 0]
    return max(batch for batch in possible if batch * seq_len / critical_tokens <= extra_at_most)


def _runs(rng):
    return [
        {
            "n_tokens": spread(rng, 1e11, 1e13),
            "data": doubled(rng, 16, 512),
            "micro_batch": doubled(rng, 2, 8),
            "accumulation": doubled(rng, 2, 8),
            "seq_len": doubled(rng, 2048, 8192),
        }
    ]


def _wishes(rng):
    edges = [(2e6, 128, 1, 4096), (1e3, 64, 2, 4096), (4_194_304.0, 128, 1, 4096)]
    drawn = [
        (spread(rng, 1e6, 3e7), 8 * rng.randrange(4, 40), doubled(rng, 2, 4), doubled(rng, 2048, 8192))
        for _ in range(4)
    ]
    return [dict(zip(("batch_tokens", "data", "micro_batch", "seq_len"), row, strict=True)) for row in edges + drawn]


def _steps(rng):
    edges = [(0.0, 0.1), (0.01, 0.1), (1.0, 0.1), (0.5, 0.0), (0.005, 0.0)]
    drawn = [(0.1 + 0.8 * rng.random(), rng.choice((0.0, 0.1, 0.05))) for _ in range(4)]
    return [_step(rng, *row) for row in edges + drawn]


def _step(rng, part, end):
    total, peak = 1000.0 * rng.randrange(20, 400), spread(rng, 1e-4, 6e-4)
    return {"step": float(round(part * total)), "peak_lr": peak, "min_lr": end * peak} | {
        "total_steps": total,
        "warmup_steps": total / 100,
    }


def _widths(rng):
    edges = [(6e-3, 768, 256), (1e-2, 256, 256)]
    drawn = [(spread(rng, 1e-3, 2e-2), 256 * rng.randrange(4, 64), doubled(rng, 128, 512)) for _ in range(4)]
    return [dict(zip(("base_lr", "d_model", "base_width"), row, strict=True)) for row in edges + drawn]


def _choices(rng):
    return [_choice(rng) for _ in range(5)]


def _choice(rng):
    data, seq_len, extra = 8 * rng.randrange(4, 32), doubled(rng, 2048, 8192), rng.choice((0.1, 0.2, 0.25, 0.5))
    times = rng.randrange(6, 20)  # the largest batch that wastes little is so many times the copies
    critical = float(f"{(times + 0.5) * data * seq_len / extra:.4g}")
    sizes = [data, times * data, times * data + data // 4, 2 * times * data]
    sizes += [rng.choice((times // 2, 3 * times)) * data]  # the right one is not always the third
    return {"batches": sorted(set(sizes), key=lambda _: rng.random()), "data": data, "seq_len": seq_len} | {
        "critical_tokens": critical,
        "extra_at_most": extra,
    }


def _extra(batch, seq_len, critical_tokens):
    return batch_rules.tokens_over_fewest(1.0 * batch * seq_len, critical_tokens) - 1


def _shared(batches, data, seq_len, critical_tokens, extra_at_most):
    shared = [batch for batch in batches if batch % data == 0]
    best = max(batch for batch in shared if _extra(batch, seq_len, critical_tokens) <= extra_at_most)
    extra = {batch: _extra(batch, seq_len, critical_tokens) for batch in batches}
    rulings = [_ruling(batch, best, batch in shared, extra[batch] - extra_at_most) for batch in batches]
    return [*rulings, Ruling(ok=False, sentence="It must be one of `batches`.")]


def _ruling(batch, best, is_shared, over):
    sentence, margin = "The largest that all copies share and that wastes little.", ""
    if not is_shared:
        sentence = "The copies cannot share it: it is no multiple of `data`."
    elif over > 0:
        sentence, margin = "It wastes too much.", f"{show(100 * over, '')} points more tokens than allowed."
    elif batch != best:
        sentence = "It wastes little, but a larger one does too, and takes fewer steps."
    return Ruling(low=float(batch), high=float(batch), ok=batch == best, sentence=sentence, margin=margin)


QUESTIONS = (
    Question(
        solution=steps_of_run,
        title="Steps of a run",
        prompt="{data} copies of a model each read {micro_batch} sequences of {seq_len:,} tokens at a time, "
        "{accumulation} times before an update. How many updates does a run of {n_tokens:tokens} have? To 1%.",
        chapter="recipes",
        task="read",
        kind="value",
        inputs=_runs,
        expected=lambda n_tokens, data, micro_batch, accumulation, seq_len: (
            n_tokens / (batch_rules.global_batch(data, micro_batch, accumulation) * seq_len)
        ),
        tolerance=0.01,
        unit="steps",
        visible=False,
        hint="First the tokens of one update.",
        minutes=4,
        slips=(
            Slip(
                name="sequences",
                sentence="The batch was counted in sequences, the run in tokens.",
                gives=lambda seq_len, **run: steps_of_run(seq_len=1, **run),
            ),
            Slip(
                name="one copy",
                sentence="That is the batch of one copy: all copies read at the same time.",
                gives=lambda data, **run: steps_of_run(data=1, **run),
            ),
            Slip(
                name="no accumulation",
                sentence="Accumulation was left out: the micro-batches before an update belong to it.",
                gives=lambda accumulation, **run: steps_of_run(accumulation=1, **run),
            ),
        ),
    ),
    Question(
        solution=nearest_batch,
        title="A batch that devices can share",
        prompt="A law asks for `batch_tokens` a step. `data` copies read `micro_batch` sequences of `seq_len` "
        "tokens at once, each a whole number of times, at least once. Return the sequences of the nearest batch, "
        "and how often each copy accumulates. Then change the number of copies: what happens to the batch?",
        chapter="recipes",
        task="change",
        kind="function",
        inputs=_wishes,
        expected=batch_rules.nearest_batch,
        hint="All copies together read `data * micro_batch` sequences: how often does that go into the wish?",
        points=2,
        minutes=8,
        difficulty="medium",
        slips=(
            Slip(
                name="rounded down",
                sentence="Rounded down: the nearest was asked for, and at least once.",
                gives=lambda batch_tokens, data, micro_batch, seq_len: (
                    (found := int(batch_tokens // (data * micro_batch * seq_len))) * data * micro_batch,
                    found,
                ),
            ),
            Slip(
                name="sequences",
                sentence="Tokens were taken for sequences: divide by `seq_len`.",
                gives=lambda batch_tokens, data, micro_batch, seq_len: nearest_batch(
                    batch_tokens, data, micro_batch, 1
                ),
            ),
            Slip(
                name="micro-batch",
                sentence="The micro-batch was left out: a copy reads `micro_batch` sequences at once.",
                gives=lambda batch_tokens, data, micro_batch, seq_len: nearest_batch(batch_tokens, data, 1, seq_len),
            ),
        ),
    ),
    Question(
        solution=cosine_lr,
        title="A cosine schedule",
        prompt="The rate climbs in a straight line from 0 to `peak_lr` over `warmup_steps`, then falls along half "
        "a cosine to `min_lr` at `total_steps`. Return the rate at `step`.",
        chapter="recipes",
        task="write",
        kind="function",
        inputs=_steps,
        expected=schedules.cosine_lr,
        hint="The part of the cosine begins at 0 when the warm-up ends.",
        points=3,
        minutes=12,
        difficulty="medium",
        slips=(
            Slip(
                name="ends at zero",
                sentence="The cosine ends at 0: it should end at `min_lr`.",
                gives=lambda min_lr, **at: cosine_lr(min_lr=0.0, **at),
            ),
            Slip(
                name="no warm-up",
                sentence="There is no warm-up: the first steps should climb from 0.",
                gives=lambda warmup_steps, **at: cosine_lr(warmup_steps=0.0, **at),
            ),
            Slip(
                name="no half",
                sentence="1 + cos goes from 2 to 0: half of it was meant.",
                gives=lambda min_lr, **at: 2 * cosine_lr(min_lr=min_lr, **at) - min_lr,
            ),
        ),
    ),
    Question(
        solution=hidden_lr,
        title="A rate found on a narrow model",
        prompt="With maximal-update parametrization and Adam, the best rate of the layers' matrices falls in step "
        "with the width. It is `base_lr` at `base_width`. Return it at `d_model`.",
        chapter="recipes",
        task="write",
        kind="function",
        inputs=_widths,
        expected=mup.hidden_lr,
        hint="Twice the width, half the rate.",
        minutes=4,
        slips=(
            Slip(
                name="upside down",
                sentence="The rate rises with the width: it should fall.",
                gives=lambda base_lr, d_model, base_width: base_lr * d_model / base_width,
            ),
            Slip(
                name="unchanged",
                sentence="That is the narrow model's rate: the matrices' rate falls with the width.",
                gives=lambda base_lr, d_model, base_width: base_lr,
            ),
            Slip(
                name="root",
                sentence="The root is for the spread of the first weights: the rate falls with the width itself.",
                gives=lambda base_lr, d_model, base_width: base_lr * math.sqrt(base_width / d_model),
            ),
        ),
    ),
    Question(
        solution=batch_to_take,
        title="Which batch?",
        prompt="`batches` are global batches in sequences of `seq_len` tokens. A batch of B tokens needs the share "
        "B / `critical_tokens` more tokens than the thriftiest; at most the share `extra_at_most` is granted. All "
        "`data` copies must read equally many. Return the largest possible batch: it takes the fewest steps.",
        chapter="recipes",
        task="decide",
        kind="decision",
        inputs=_choices,
        rulings=_shared,
        hint="Two filters, then the largest.",
        points=2,
        minutes=8,
        difficulty="medium",
        slips=(
            Slip(
                name="largest",
                sentence="That is the largest of all: it wastes more tokens than granted.",
                gives=lambda batches, **_: max(batches),
            ),
            Slip(
                name="not shared",
                sentence="It wastes little, but no equal parts of it go to the copies.",
                gives=lambda data, **asked: batch_to_take(data=1, **asked),
            ),
            Slip(
                name="smallest",
                sentence="That is the smallest: it wastes least, and takes the most steps.",
                gives=lambda batches, **_: min(batches),
            ),
        ),
    ),
)
