"""Whether to wait for an item: a day of waiting against the days that a fault would cost."""

from lib import check


def break_even(wait_days, lost_days, found_share=1.0):
    """Probability of a fault above which waiting for a check is cheaper than going: wait / (found * lost).

    A cluster that stands still and a cluster that trains in vain cost the same a day, so neither its size nor its
    price counts. It may come out above 1: then waiting never pays.

    Args:
        wait_days: days that the start is put off for the check, > 0; float or array.
        lost_days: days of training that are thrown away if the fault is there and nobody has looked, > 0; float or
            array.
        found_share: chance that the check finds a fault that is there, above 0, at most 1; float or array.

    Raises:
        TypeError, ValueError: for a value of the wrong kind or out of range.

    Source: the balance of both expected losses, found * probability * lost = wait.

    >>> break_even(2.0, 13.0)
    0.15384615384615385
    """
    check.positive(wait_days=wait_days, lost_days=lost_days)
    check.fraction(found_share=found_share)
    return check.positive_result(probability=wait_days / (found_share * lost_days))


def days_lost(fault_probability, wait_days, lost_days, found_share=1.0):
    """Days that are lost on average if one goes at once, and if one waits for the check first.

    Args:
        fault_probability: that the fault is there, 0 to 1; float or array.
        wait_days, lost_days, found_share: as in `break_even`.

    Returns:
        (days if one goes, days if one waits).

    Raises:
        TypeError, ValueError: for a value of the wrong kind or out of range.

    Source: as `break_even`; mending the fault takes as long on either way and is left out.

    >>> going, waiting = days_lost(0.5, 2.0, 13.0, found_share=0.9)
    >>> f"{going:.2f} {waiting:.2f}"
    '6.50 2.65'
    """
    check.share(fault_probability=fault_probability)
    check.positive(wait_days=wait_days, lost_days=lost_days)
    check.fraction(found_share=found_share)
    going = check.result(days=fault_probability * lost_days)
    return going, check.result(days=wait_days + (1 - found_share) * going)
