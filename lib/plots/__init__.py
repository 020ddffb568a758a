"""Pictures: each function turns values into one figure and computes nothing.

Titles are not inside a picture: the caption states the finding, the alt text says what an eye would see.
"""

from lib.plots.bars import compare
from lib.plots.budget import where_the_fortnight_goes
from lib.plots.chart import chart_picture, draw_chart
from lib.plots.choices import life_costs, regrets, repeated
from lib.plots.designs import isoflop_parabola, run_plane
from lib.plots.fits import fit_sheet, loss_against_prediction, residuals
from lib.plots.flops import token_flops
from lib.plots.forecasts import loss_forecast
from lib.plots.ladder import ladder
from lib.plots.laws import tokens_per_param, valley
from lib.plots.logs import log_alt, log_pictures, log_sheet
from lib.plots.matmul import matmul_six
from lib.plots.memory import reading_errors
from lib.plots.readiness import review_states
from lib.plots.recipes import batch_trade, missed, rates_by_size, schedules
from lib.plots.slices import gpu_slices
from lib.plots.style import COLOURS, Picture, contrast, house_style, new_picture, to_svg
from lib.plots.surface import loss_surface
from lib.plots.way import STEPS, way_of_a_plan

__all__ = [
    "COLOURS",
    "STEPS",
    "Picture",
    "batch_trade",
    "chart_picture",
    "compare",
    "contrast",
    "draw_chart",
    "fit_sheet",
    "gpu_slices",
    "house_style",
    "isoflop_parabola",
    "ladder",
    "life_costs",
    "log_alt",
    "log_pictures",
    "log_sheet",
    "loss_against_prediction",
    "loss_forecast",
    "loss_surface",
    "matmul_six",
    "missed",
    "new_picture",
    "rates_by_size",
    "reading_errors",
    "regrets",
    "repeated",
    "residuals",
    "review_states",
    "run_plane",
    "schedules",
    "to_svg",
    "token_flops",
    "tokens_per_param",
    "valley",
    "way_of_a_plan",
    "where_the_fortnight_goes",
]
