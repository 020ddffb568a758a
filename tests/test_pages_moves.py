"""Every control of every what-if, moved in a real browser: the page answers with the numbers of `lib`."""

from functools import partial

import pytest

from lib.whatif import catalogue
from tests.page_whatif import SECTIONS, SETTLED, STATE, assert_as_lib, type_text, unfold


@pytest.mark.parametrize(("name", "path"), SECTIONS)
def test_every_move_in_the_page_gives_the_numbers_of_lib(kept_page, name, path):
    page = kept_page(path)
    ident = f"what-if-{name}"
    unfold(page, ident)
    moves = 0
    for control in catalogue.find(name).controls:
        for move in moves_of(page, ident, control):
            move()
            page.wait_for_function(SETTLED, arg=ident)
            assert_as_lib(page.evaluate(STATE, ident), name)
            moves += 1
    assert moves >= 3 * len(catalogue.find(name).controls)
    assert page.faults == []


def moves_of(page, ident, control):
    """Ways to move one control, the last back to the start: keys and texts for a number, options for a choice."""
    if hasattr(control, "options"):
        choice = page.locator(f"#{ident}-{control.name}")
        options = [*control.options[:4], control.start]
        return [partial(choice.select_option, option) for option in options]
    slider = page.locator(f"#{ident} input[data-for={control.name}]")
    field = page.locator(f"#{ident}-{control.name}")
    keys = ["ArrowRight", "ArrowRight", "PageUp", "ArrowLeft", "PageDown"]
    texts = [control.write(value) for value in (control.low, control.high, control.start)]
    return [partial(slider.press, key) for key in keys] + [partial(type_text, field, text) for text in texts]
