"""The readiness review: ten items before a run starts, each missing, stated, or verified by evidence.

A person fills in a file (`lib.readiness.files`); `review` holds it against the run description and its evidence.
"""

from lib.readiness.files import read as read
from lib.readiness.files import template as template
from lib.readiness.items import ITEMS as ITEMS
from lib.readiness.items import Item as Item
from lib.readiness.report import to_html as to_html
from lib.readiness.report import to_markdown as to_markdown
from lib.readiness.review import Review as Review
from lib.readiness.review import State as State
from lib.readiness.review import Statement as Statement
from lib.readiness.review import review as review
