"""All questions, by name, in the order of the book."""

from types import MappingProxyType

from lib.exercises import four_functions

QUESTIONS = MappingProxyType({asked.name: asked for module in (four_functions,) for asked in module.QUESTIONS})
