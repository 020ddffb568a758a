"""Rung 3, one device: what a step costs here, beside what the arithmetic says; and that it reads the text it should."""

import statistics
import time

import jax
import jax.numpy as jnp
import numpy as np

from lib.compute import train_flops_exact
from lib.pilot import text
from lib.pilot.hlo import dot_flops
from lib.pilot.programs import Programs, words
from lib.units import show

_WARM, _TIMED = 3, 40  # steps
_SIDES = (512, 1024, 2048)  # of the square products that look for the peak
_REPEATS = 5


def measure(pilot, report, programs=None):
    """What rung 3 asks of a pilot, but for a person's look at the text, which no program can take.

    Args:
        pilot: a `Pilot`.
        report: called with a line of progress now and then.
        programs: its `Programs`, where there are some already.

    Returns:
        quantity -> number. Memory is measured only where the device counts it; what a compiler says of a CPU is named
        `compiler_bytes`. Neither is held against the ledger, nor the speed against the plan's utilization: of those a
        pilot of this size says nothing, the run's own program does.
    """
    programs = programs or Programs(pilot)
    counted = train_flops_exact(pilot.shape, float(pilot.batch_tokens), pilot.seq_len, "full")
    found = {
        "decoded_differences": float(decoded_differences(pilot, *words(pilot))),
        "flops_difference": abs(_product_flops(pilot, programs) - counted),
    }
    report(f"products of a step: {show(counted, 'FLOP')} by count, compiled {found['flops_difference']:g} off")
    seconds = _seconds_a_step(pilot, programs)
    peak = measured_peak(jnp.float32 if pilot.precision == "fp32" else jnp.bfloat16)
    report(f"{pilot.batch_tokens / seconds:,.0f} tokens/s; the fastest product here runs at {show(peak, 'FLOP/s')}")
    found |= {"tokens_per_second": pilot.batch_tokens / seconds, "peak_flops": peak}
    found["mfu_of_measured_peak"] = counted / seconds / peak
    return found | _memory(programs.step, report)


def decoded_differences(pilot, tokens, targets):
    """Words of a batch that are not the text, or not the next word of their neighbour.

    Args:
        pilot: a `Pilot`.
        tokens, targets: the arrays that a step reads.
    """
    rows = [text.sequence(pilot.seed, n, pilot.seq_len + 1) for n in range(len(tokens))]
    wanted = [text.decode(row) for row in rows]
    pairs = zip(wanted, tokens.tolist(), targets.tolist(), strict=True)
    found = [(line, text.decode([*read, follows[-1]])) for line, read, follows in pairs]
    wrong = sum(one != other for pair in found for one, other in zip(*pair, strict=True))
    return wrong + int(np.count_nonzero(tokens[:, 1:] != targets[:, :-1]))


def measured_peak(dtype):
    """The fastest square product of this device, in FLOP/s: 2 n^3 over the shortest of some timings.

    Args:
        dtype: of its numbers.
    """
    return max(_product_speed(side, dtype) for side in _SIDES)


def _product_speed(side, dtype):
    one = jnp.full((side, side), 0.5, dtype)
    product = jax.jit(lambda one: one @ one).lower(one).compile()
    return 2 * side**3 / min(_timed(product, one) for _ in range(_REPEATS))


def _timed(function, *arguments):
    started = time.perf_counter()
    jax.block_until_ready(function(*arguments))
    return time.perf_counter() - started


def _product_flops(pilot, programs):
    """Counted in the program of a CPU: other devices' products hide in calls of their libraries."""
    if jax.default_backend() == "cpu":
        return dot_flops(programs.step.as_text())
    with jax.default_device(jax.devices("cpu")[0]):
        return dot_flops(Programs(pilot).step.as_text())


def _seconds_a_step(pilot, programs):
    """The median, text included; the first steps left out."""
    state, taken = programs.start(jax.random.key(pilot.seed)), []
    for number in range(_WARM + _TIMED):
        started = time.perf_counter()
        state, nats = programs.step(state, words(pilot, number * pilot.sequences))
        jax.block_until_ready(nats)
        taken.append(time.perf_counter() - started)
    return statistics.median(taken[_WARM:])


def _memory(compiled, report):
    counters = jax.devices()[0].memory_stats()
    if counters:
        peak = float(counters["peak_bytes_in_use"])
        report(f"memory by the device's counter: {show(peak, 'bytes')}")
        return {"device_bytes": peak}
    said = compiled.memory_analysis()
    found = float(said.argument_size_in_bytes + said.temp_size_in_bytes)
    report(f"memory by the compiler's word, not measured: {show(found, 'bytes')}")
    return {"compiler_bytes": found}
