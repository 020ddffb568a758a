"""A loss forecast from small runs, drawn."""

from lib.plots.chart import chart_picture
from lib.whatif.forecast_card import forecast_chart


def loss_forecast(found, measured=None):
    """Loss against compute: small runs, E + a / C^b with its interval, E itself, and the large run.

    Args:
        found: a `lib.fit.forecast.Forecast` that decides something.
        measured: the loss that the large run reached, nats per token; None while nobody knows.
    """
    return chart_picture(forecast_chart(found, measured))
