"""How fast the handbook is: `make bench`, or python -m tests.bench with names of PARTS.

Timings of pages hold on a machine that does nothing else.
"""

import sys

from . import book, fit, grading, memory, pages, pilot

PARTS = {
    "sizes": pages.sizes,
    "memory": memory.ledgers,
    "fit": fit.fits,
    "grading": grading.grading,
    "pilot": pilot.rungs,
    "pages": pages.timings,
    "chapters": book.chapters,
    "book": book.builds,
    "tests": book.tests,
}
LINE = "{:<58} {:>10} {:>10}  {}"


def main(names):
    unknown = set(names) - set(PARTS)
    if unknown:
        sys.exit(f"{', '.join(sorted(unknown))}: not one of {', '.join(PARTS)}")
    print(LINE.format("measured", "value", "target", ""))
    for name in names or PARTS:
        for what, value, target, unit in PARTS[name]():
            verdict = "" if target is None else "ok" if value <= target else "OVER"
            print(LINE.format(what, show(value, unit), show(target, unit), verdict), flush=True)


def show(value, unit):
    if value is None:
        return ""
    return f"{value:,.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"


if __name__ == "__main__":
    main(sys.argv[1:])
