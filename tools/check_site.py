"""Opens five pages of the built documentation in Chromium and asks axe-core for serious faults.

    python tools/check_site.py [FOLDER]

Needs ``make docs``, chromium, playwright, and axe-core below ``build/axe`` (``.ci/run`` puts it
there). Every page is asked light and dark, at 1400 and 400 pixels; it must neither be wider than
the window nor load anything from elsewhere. With a FOLDER the screens are kept there to be
looked at.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "build/site"
AXE = ROOT / "build/axe/node_modules/axe-core/axe.min.js"
PAGES = ("start", "learners/cart", "guide/choosing", "api/learners", "gallery")
LOOKS = [(scheme, width) for scheme in ("light", "dark") for width in (1400, 400)]
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def missing() -> str | None:
    """What is not there and how to get it; None if the check can run."""
    if not (SITE / "index.html").exists():
        return "the site is not built: make docs"
    if not AXE.exists():
        return "axe-core is not installed: npm install --prefix build/axe axe-core"
    return None if chromium() else "chromium is not installed"


def chromium() -> str | None:
    """Where the browser is."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def faults(browser: Any, name: str, scheme: str, width: int, folder: Path | None) -> list[str]:
    """What is wrong with one page in one look."""
    context = browser.new_context(
        viewport={"width": width, "height": 1000}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    page.set_default_timeout(90_000)  # machines are shared
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((SITE / f"{name}.html").as_uri())
    page.wait_for_timeout(300)  # colours fade in
    found = [f"loads {url}" for url in asked if not url.startswith(("file:", "data:", "blob:"))]
    if (wider := page.evaluate(OVERFLOW)) > 0:
        found.append(f"is {wider} pixels wider than the window")
    if folder:
        page.screenshot(path=folder / f"{name.replace('/', '-')}-{scheme}-{width}.png")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    for fault in page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]:
        if fault["impact"] in ("serious", "critical"):
            found += [f"{fault['id']}: {node['html'][:200]}" for node in fault["nodes"]]
    context.close()
    return [f"{name}, {scheme}, {width}: {fault}" for fault in found]


def check(folder: Path | None = None, looks: list[tuple[str, int]] = LOOKS) -> list[str]:
    """All faults of the five pages."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"]
        )
        found = [
            fault
            for name in PAGES
            for look in looks
            for fault in faults(browser, name, *look, folder)
        ]
        browser.close()
    return found


def main() -> int:
    """Print the faults; 1 if there are any, 2 if nothing could be checked."""
    if reason := missing():
        print(reason, file=sys.stderr)
        return 2
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
    found = check(folder)
    print("\n".join(found) or f"{len(PAGES)} pages in {len(LOOKS)} looks: no serious fault")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
