"""How a model is laid out over GPUs: the degrees of parallelism, their rules, and what each pipeline stage holds.

`Layout` holds the choices; `check_layout(shape, layout)` refuses what a model cannot be cut into, with the rule and the
nearest values that it can; `place(shape, layout)` gives the stages. Whether a legal layout fits is for `lib.memory`.
"""

from lib.layout.degrees import RECOMPUTE as RECOMPUTE
from lib.layout.degrees import Layout as Layout
from lib.layout.rules import RULES as RULES
from lib.layout.rules import Rule as Rule
from lib.layout.rules import check_layout as check_layout
from lib.layout.rules import masks as masks
from lib.layout.stages import Stage as Stage
from lib.layout.stages import in_flight as in_flight
from lib.layout.stages import layers_of as layers_of
from lib.layout.stages import place as place
