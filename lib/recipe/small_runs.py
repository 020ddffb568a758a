"""The small runs around a large one, as parts of its compute: the sweep of learning rates, ablations and the pilot."""

from dataclasses import dataclass

from lib import check

PROXY_SHARE = 0.1  # of size and of tokens: a trial of the sweep then costs a hundredth of the run
ABLATIONS_SHARE = 0.05  # of the run's compute; a choice
PILOT_SHARE = 0.01  # of the run's compute; a choice


@dataclass(frozen=True, kw_only=True)
class SmallRuns:
    """What is trained before and beside the run that counts.

    Args:
        n_trials: learning rates in the sweep, a whole number of at least 1.
        proxy_share: size of a trial's model over that of the run, and its tokens likewise; above 0, at most 1.
        ablations_share: compute for trying data and architecture, over that of the run, 0 or more.
        pilot_share: compute for a rehearsal of the full shape, over that of the run, 0 or more.

    Raises:
        TypeError, ValueError: for a number out of range.

    >>> SmallRuns(n_trials=5).share
    0.11
    """

    n_trials: int
    proxy_share: float = PROXY_SHARE
    ablations_share: float = ABLATIONS_SHARE
    pilot_share: float = PILOT_SHARE

    def __post_init__(self):
        check.fields(self, integer="n_trials", fraction="proxy_share", non_negative="ablations_share pilot_share")
        check.result(share=self.share)

    @property
    def sweep_share(self):
        """Compute of the sweep over that of the run: n_trials * proxy_share^2, size and tokens both being smaller."""
        return self.n_trials * self.proxy_share**2

    @property
    def share(self):
        """Compute of all of them over that of the run."""
        return self.sweep_share + self.ablations_share + self.pilot_share

    def left(self, compute):
        """What a budget leaves for the run itself: compute / (1 + share)  [FLOP].

        Args:
            compute: all that there is, FLOP, > 0; float or array.

        Raises:
            TypeError, ValueError: if compute is no positive, finite number.

        >>> f"{SmallRuns(n_trials=5).left(1e22):.3e}"
        '9.009e+21'
        """
        check.positive(compute=compute)
        return check.result(left=compute / (1 + self.share))
