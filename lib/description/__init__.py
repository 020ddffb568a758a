"""A training run, described: what is trained, on what, how, and what is assumed of it; and what to expect of it.

A person writes the description as a small TOML file (`lib.description.files`). Expectations follow from it
(`lib.description.expectations`), and evidence that was measured for it carries its hash (`RunDescription.digest`).
"""

from lib.description.expectations import Expectation as Expectation
from lib.description.expectations import Expectations as Expectations
from lib.description.files import parse as parse
from lib.description.files import read as read
from lib.description.files import write as write
from lib.description.run import RunDescription as RunDescription
from lib.description.run import differences as differences
from lib.description.writing import to_toml as to_toml
