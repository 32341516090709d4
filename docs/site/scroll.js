// What scrolls sideways can be reached by the keyboard, and says what it is.
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
});
