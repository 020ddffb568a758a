// What every page needs of a script: print what is folded, and reach by keyboard what scrolls.

const folds = new Set(); // opened for the printer: closed again after it

addEventListener("beforeprint", () => {
  for (const fold of document.querySelectorAll("details:not([open])")) folds.add(fold), (fold.open = true);
});
addEventListener("afterprint", () => {
  for (const fold of folds) fold.open = false;
  folds.clear();
});

// A picture that is wider than a phone scrolls in its box; where it does not, Tab passes it by.
function reach() {
  for (const box of document.querySelectorAll(".picture, .what-if-plot:has(> svg)")) {
    if (box.scrollWidth > box.clientWidth + 1) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}
addEventListener("load", reach);
addEventListener("resize", reach);
