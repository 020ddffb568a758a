"""Logs of training runs: read whatever wrote them, analysed, held against the plan, and forecast.

log = read("train.log")                        # lib.logs.read: problems with their lines, what is sound of it
report = Report(log=log)                       # order, pace, stability
beside = AgainstPlan(report=report, run=run)   # assumptions that broke; finish and final loss, forecast again
evidence(beside, 7)                            # for `lib.ladder`: only what the log really shows
"""

from lib.logs.against_plan import AgainstPlan as AgainstPlan
from lib.logs.entries import Entry as Entry
from lib.logs.entries import Event as Event
from lib.logs.entries import Log as Log
from lib.logs.entries import Problem as Problem
from lib.logs.measured import evidence as evidence
from lib.logs.read import parse as parse
from lib.logs.read import read as read
from lib.logs.report import Report as Report
