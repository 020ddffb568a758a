"""The two plans that run through the handbook: their briefs, and what each step adds to them.

A brief comes in; each step takes what the steps before it gave, and nothing reaches backwards. `running_plan("data")`
is the table that a chapter ends with: both plans, up to its step.
"""

from lib.plan.brief import A100_FORTNIGHT as A100_FORTNIGHT
from lib.plan.brief import COUNTED_DAYS as COUNTED_DAYS
from lib.plan.brief import H100_MONTH as H100_MONTH
from lib.plan.brief import Brief as Brief
from lib.plan.plan import GPUS_PER_COPY as GPUS_PER_COPY
from lib.plan.plan import PLANS as PLANS
from lib.plan.plan import Plan as Plan
from lib.plan.running import FILLED as FILLED
from lib.plan.running import STEPS as STEPS
from lib.plan.running import Line as Line
from lib.plan.running import lines as lines
from lib.plan.running import running_plan as running_plan
