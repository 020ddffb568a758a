"""All questions, by name, in the order of the book."""

from types import MappingProxyType

from lib.exercises import (
    chips_to_flops,
    fitting,
    four_functions,
    how_big_how_long,
    memory_ledger,
    pilot_ladder,
    readiness_review,
    recipes,
    sizing,
    what_one_number_hides,
    worked_example,
)

_COMPUTE = (four_functions, chips_to_flops, how_big_how_long, what_one_number_hides, fitting)
_CHAPTERS = (worked_example, *_COMPUTE, memory_ledger, sizing, recipes, pilot_ladder, readiness_review)
QUESTIONS = MappingProxyType({asked.name: asked for module in _CHAPTERS for asked in module.QUESTIONS})
