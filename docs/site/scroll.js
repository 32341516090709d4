// What scrolls sideways can be reached by the keyboard, says what it is, and begins where it should.
const seen = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const box = target.closest(".md-typeset__scrollwrap") ?? target;
    if (box.scrollWidth > box.clientWidth) {
      box.tabIndex = 0;
      box.setAttribute("role", "region");
      box.setAttribute("aria-label", "Table");
    } else {
      for (const name of ["tabindex", "role", "aria-label"]) box.removeAttribute(name);
    }
  }
});
document$.subscribe(() => {
  for (const table of document.querySelectorAll(".md-typeset__scrollwrap")) seen.observe(table);
  // the picture of a tree that is wider than the page begins with its root
  for (const image of document.querySelectorAll(".picture img[data-root]")) {
    const box = image.closest(".picture");
    box.scrollLeft = image.dataset.root * box.scrollWidth - box.clientWidth / 2;
  }
});
