"""FLOPs of the products in a compiled program, read from its text: exact, where a compiler's own sum is not.

XLA's cost analysis counts an elementwise operation as a FLOP too, and the body of a loop once.
"""

import math
import re
from collections import defaultdict

from lib import check

_HEAD = re.compile(r"^(?:ENTRY )?%?([\w.-]+) \(.*\{$")
_LINE = re.compile(r"^\s+(?:ROOT )?%?([\w.-]+) = (?:\w+\[([\d,]*)\])?.*? ([\w-]+)\((.*)$")
_CALLED = re.compile(r"(?:calls|to_apply|body|condition|branch_computations|called_computations)=(\{[^}]*\}|%?[\w.-]+)")
_TRIPS = re.compile(r'"known_trip_count":\{"n":"(\d+)"\}')
_FIRST = re.compile(r"(?:\w+\[\S* )?%?([\w.-]+)")  # some printers put the type before an operand's name
_CONTRACTED = re.compile(r"lhs_contracting_dims=\{([\d,]*)\}")


def dot_flops(text):
    """FLOPs of all matrix products that one run of a program makes on one device: 2 * results * terms  [FLOP].

    Args:
        text: a compiled HLO module, as JAX's `compiled.as_text()` prints it.

    Raises:
        TypeError: if it is no text.
        ValueError: if it has no entry; if a loop with products does not say how often it runs.

    Source: OpenXLA, operation semantics, Dot; HLO text of while operations (known_trip_count).

    >>> dot_flops('''ENTRY %main (a: f32[2,3], b: f32[3,4]) -> f32[2,4] {
    ...   %a = f32[2,3]{1,0} parameter(0)
    ...   %b = f32[3,4]{1,0} parameter(1)
    ...   ROOT %c = f32[2,4]{1,0} dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    ... }''')
    48
    """
    check.text(text=text)
    own, calls, entry = _read(text)
    if entry is None:
        raise ValueError(f"text = {check.short(text)}: a compiled HLO module, with its entry")
    known = {}

    def total(name):
        if name not in known:
            known[name] = own[name] + sum(_repeated(trips, total(called)) for called, trips in calls[name])
        return known[name]

    return total(entry)


def _repeated(trips, flops):
    if trips is None and flops:
        raise ValueError("text: a loop with products in it does not say how often it runs")
    return (trips or 0) * flops


def _read(text):
    """FLOPs of each computation's own products; what each calls, how often (None: not known); the entry's name."""
    own, calls, entry, shapes, name = defaultdict(int), defaultdict(list), None, {}, None
    for line in text.splitlines():
        if head := _HEAD.match(line):
            name, shapes = head[1], {}
            entry = name if line.startswith("ENTRY") else entry
        elif found := _LINE.match(line):
            result, sides, operation, rest = found.groups()
            shapes[result] = _numbers(sides)
            own[name] += _product(shapes, result, rest) if operation == "dot" else 0
            calls[name] += [(called, _trips(operation, rest)) for called in _called(rest)]
    return own, calls, entry


def _product(shapes, result, rest):
    first = shapes[_FIRST.match(rest)[1]]
    contracted = _numbers(_CONTRACTED.search(rest)[1])
    return 2 * math.prod(shapes[result]) * math.prod(first[side] for side in contracted)


def _called(rest):
    return [name for names in _CALLED.findall(rest) for name in re.findall(r"[\w.-]+", names)]


def _trips(operation, rest):
    if operation != "while":
        return 1
    known = _TRIPS.search(rest)
    return int(known[1]) if known else None


def _numbers(sides):
    return [int(side) for side in (sides or "").split(",") if side]
