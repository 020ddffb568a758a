"""The pilot ladder: seven rungs from a unit test to the full run, each with thresholds that follow from the plan.

`rungs(run)` gives them for a described run; `evaluate(run, evidence)` says which are passed, and by what margin.
"""

from lib.ladder.evidence import Evidence as Evidence
from lib.ladder.evidence import Piece as Piece
from lib.ladder.files import add as add
from lib.ladder.files import parse as parse
from lib.ladder.files import read as read
from lib.ladder.files import write as write
from lib.ladder.rungs import Rung as Rung
from lib.ladder.rungs import rungs as rungs
from lib.ladder.tasks import Task as Task
from lib.ladder.tasks import tasks as tasks
from lib.ladder.thresholds import Threshold as Threshold
from lib.ladder.verdicts import Climb as Climb
from lib.ladder.verdicts import evaluate as evaluate
