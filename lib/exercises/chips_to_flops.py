"""Questions of the chapter *From chips to FLOPs*: what an MFU counts. Its four functions are in `four_functions`."""

from lib.architecture import model
from lib.compute.mfu import convention, days_ratio, reported
from lib.exercises.amounts import doubled, spread
from lib.exercises.choices import named, ranked
from lib.exercises.questions import Question, Slip
from lib.hardware import accelerator
from lib.units import show

_SHAPES = [model(name) for name in ("llama-3-8b", "llama-3-70b", "llama-2-13b", "gpt2")]
_LLAMA = model("llama-3-8b")
_H100 = accelerator("h100").peak_flops("bf16")


def palm_mfu(n_params, n_layers, n_heads, head_dim, seq_len, tokens_per_second, n_gpus, peak_flops):
    """MFU by PaLM's definition, full attention counted; a fraction."""
    flops_per_token = 6 * n_params + 12 * n_layers * n_heads * head_dim * seq_len
    return flops_per_token * tokens_per_second / (n_gpus * peak_flops)


def long_days(days, seq_len):
    """Days where the MFU counts the causal half of attention."""
    matrices, attention = 6 * 7.5e9, 6 * 32 * 32 * 128 * seq_len  # the input table multiplies nothing
    return days * (matrices + attention) / (6 * 8.03e9)


def faster_offer(offers):
    """Name of the offer that trains the most tokens per second; text."""
    return max(offers, key=lambda o: o["mfu"] * o["n_gpus"] * o["peak_flops"] / o["flops_per_token"])["name"]


def _days_of(name, days, seq_len):
    return days * days_ratio(convention(name), _LLAMA, seq_len)


def _jobs(rng):
    return [_job(rng, shape) for shape in (*_SHAPES, rng.choice(_SHAPES))]


def _job(rng, shape):
    seq_len = doubled(rng, 1024, 32_768 if shape.n_params > 1e9 else 1024)
    n_gpus, peak = doubled(rng, 8, 512), spread(rng, 3e14, 2e15, 3)
    speed = (0.1 + 0.1 * rng.random()) * n_gpus * peak / (6 * shape.n_params)
    return {
        "n_params": shape.n_params,
        "n_layers": shape.n_layers,
        "n_heads": shape.n_heads,
        "head_dim": shape.head_dim,
        "seq_len": seq_len,
        "tokens_per_second": float(f"{speed:.3g}"),
        "n_gpus": n_gpus,
        "peak_flops": peak,
    }


def _by_palm(n_params, n_layers, n_heads, head_dim, seq_len, tokens_per_second, n_gpus, peak_flops):
    shape = next(shape for shape in _SHAPES if shape.n_params == n_params)
    counted = convention("PaLM").dividing_by(peak_flops, "the peak of the question")
    return reported(tokens_per_second / n_gpus, "MFU", counted, shape, seq_len)


def _clusters(rng):
    return [_offered(rng) for _ in range(5)]


def _offered(rng):
    """Four offers whose order by speed is not that by MFU, and is that by peak in some draws only."""
    six, n_gpus, mfu = 6 * _LLAMA.n_params, 64, round(0.36 + 0.04 * rng.random(), 3)
    long = convention("Megatron-LM").flops_per_token(_LLAMA, 16_384)
    rows = [
        (mfu, six, n_gpus),
        (mfu + 0.05, long, n_gpus),
        (round(mfu * rng.choice((0.7, 0.9)), 3), six, int(n_gpus * 1.25)),
        (round(mfu * 0.8, 3), six, n_gpus),
    ]
    keys = ("mfu", "flops_per_token", "n_gpus")
    return {"offers": named(rng, [dict(zip(keys, row, strict=True)) | {"peak_flops": _H100} for row in rows])}


def _speed(offer):
    return offer["mfu"] * offer["n_gpus"] * offer["peak_flops"] / offer["flops_per_token"]


def _by_speed(offers):
    best = max(map(_speed, offers))

    def slower(offer):
        behind = 1 - _speed(offer) / best
        return (
            ("Another offer trains more tokens per second.", f"It is {show(behind, '%')} slower.") if behind else None
        )

    return ranked(offers, slower, lambda offer: -_speed(offer), "The most tokens per second.", "")


QUESTIONS = (
    Question(
        solution=long_days,
        title="What long sequences cost",
        prompt="Look at the figure of sequence lengths. A run of Llama 3 8B takes {days:days} by 6N, on sequences of "
        "{seq_len:,} tokens. About how many does it take if its MFU counted the causal half of attention? To 5%.",
        chapter="chips_to_flops",
        task="read",
        kind="value",
        inputs=lambda rng: [{"days": float(rng.randrange(8, 15)), "seq_len": rng.choice((24_576, 30_000, 32_768))}],
        expected=lambda days, seq_len: _days_of("Megatron-Bridge", days, seq_len),
        tolerance=0.06,  # from the formula, with a round 8B that counts the input table, it is 5.02% more
        unit="days",
        visible=False,
        hint="The same utilization of more FLOPs for each token: compare the area of the causal half with the line "
        "of 6N.",
        minutes=5,
        slips=(
            Slip(
                name="unchanged",
                sentence="Attention costs FLOPs too, and on such sequences not few.",
                gives=lambda days, seq_len: days,
            ),
            Slip(
                name="full attention",
                sentence="That counts the full square of attention: a causal mask needs half of it.",
                gives=lambda days, seq_len: _days_of("Megatron-LM", days, seq_len),
            ),
            Slip(
                name="shorter",
                sentence="More FLOPs at the same utilization take longer, not shorter.",
                gives=lambda days, seq_len: days**2 / _days_of("Megatron-Bridge", days, seq_len),
            ),
        ),
    ),
    Question(
        solution=palm_mfu,
        title="MFU by PaLM's definition",
        prompt="PaLM counts attention too: a token costs 6N FLOPs, and 12 x `n_layers` x `n_heads` x `head_dim` x "
        "`seq_len` more. Return the MFU of a job that trains `tokens_per_second` on the whole cluster. Then change "
        "`seq_len`: when does attention matter?",
        chapter="chips_to_flops",
        task="change",
        kind="function",
        inputs=_jobs,
        expected=_by_palm,
        hint="FLOPs a token, times tokens per second, over the peak of all devices.",
        points=2,
        minutes=8,
        difficulty="medium",
        slips=(
            Slip(
                name="6N",
                sentence="That counts 6N alone: PaLM's definition has attention in it.",
                gives=lambda n_params, tokens_per_second, n_gpus, peak_flops, **shape: (
                    6 * n_params * tokens_per_second / (n_gpus * peak_flops)
                ),
            ),
            Slip(
                name="causal",
                sentence="That counts half of attention: PaLM counts the full square.",
                gives=lambda seq_len, **job: palm_mfu(seq_len=seq_len / 2, **job),
            ),
            Slip(
                name="percentage",
                sentence="That is a percentage: a fraction was asked for.",
                gives=lambda **job: 100 * palm_mfu(**job),
            ),
            Slip(
                name="one device",
                sentence="That divides by the peak of one device: the speed is that of all `n_gpus`.",
                gives=lambda n_gpus, **job: palm_mfu(n_gpus=1, **job),
            ),
        ),
    ),
    Question(
        solution=faster_offer,
        title="Which offer is faster?",
        prompt="Clusters are offered at one price, for the same model. Each of `offers` is a dict with `name`, "
        "`n_gpus`, `peak_flops` of one device, the promised `mfu`, and `flops_per_token`, the FLOPs that this MFU "
        "counts for a token. Return the name of the one that trains the most tokens per second.",
        chapter="chips_to_flops",
        task="decide",
        kind="decision",
        inputs=_clusters,
        rulings=_by_speed,
        hint="An MFU is a share of the peak in FLOPs: divide by the FLOPs that it counts for a token.",
        points=2,
        minutes=8,
        difficulty="medium",
        slips=(
            Slip(
                name="highest MFU",
                sentence="That is the highest MFU: it counts more FLOPs for the same token.",
                gives=lambda offers: max(offers, key=lambda offer: offer["mfu"])["name"],
            ),
            Slip(
                name="highest peak",
                sentence="That is the highest peak: what counts is how much of it is used.",
                gives=lambda offers: max(offers, key=lambda offer: offer["n_gpus"] * offer["peak_flops"])["name"],
            ),
        ),
    ),
)
