"""What-if controls: one definition, four faces (notebook, still page, live page, command line)."""


def what_if(name, **starting_values):
    """Show a what-if in a chapter: controls with a live kernel, plain HTML in the built book.

    Args:
        name: a name of `lib.whatif.catalogue.WHAT_IFS`, without regard to case, spaces, hyphens and underscores.
        starting_values: other starting values than the definition's, for the case at hand.

    Returns:
        An object that shows itself as the last value of a cell.

    Raises:
        ValueError: for an unknown name or input, or a starting value that has no answer.
    """
    from lib.whatif import notebook  # a display: imported when one is asked for

    return notebook.show(name, starting_values)
