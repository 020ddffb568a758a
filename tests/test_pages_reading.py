"""How a chapter follows its reader: figures that scroll, folds for the printer."""

from tests.page_checks import PHONE

BOXES = "[...document.querySelectorAll('.picture')].map((box) => [box.scrollWidth > box.clientWidth + 1, box.tabIndex])"


def test_a_figure_that_scrolls_is_reached_by_the_keyboard_and_one_that_fits_is_not(awake):
    page, *_ = awake
    assert {(False, -1)} == {tuple(pair) for pair in page.evaluate(BOXES)}
    page.set_viewport_size(PHONE)
    page.wait_for_function(f"{BOXES}.every(([scrolls, tab]) => scrolls === (tab === 0))")
    assert {(True, 0)} == {tuple(pair) for pair in page.evaluate(BOXES)}


def test_folds_that_were_opened_for_the_printer_close_again(awake):
    page, *_ = awake
    folds = "document.querySelectorAll('details:not([open])').length"
    closed = page.evaluate(folds)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert (closed > 0, page.evaluate(folds)) == (True, 0)
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(folds) == closed
