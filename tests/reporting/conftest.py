"""A real browser for the pages; tests that need one are left out, with the reason, without it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Debian's Chromium, driven by playwright."""
    if CHROMIUM is None:
        pytest.skip("pages are not tried in a browser: chromium is not installed")
    api = pytest.importorskip(
        "playwright.sync_api", reason="pages are not tried in a browser: playwright is missing"
    )
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


class Tab:
    """A page from a file, with everything that went wrong in it."""

    def __init__(self, browser: Any, folder: Path, **options: Any) -> None:
        self.folder = folder
        self.context = browser.new_context(
            **({"viewport": {"width": 1400, "height": 900}} | options)
        )
        self.page = self.context.new_page()
        self.page.set_default_timeout(90_000)  # machines are shared
        self.faults: list[str] = []
        self.requests: list[str] = []
        self.page.on(
            "console", lambda m: m.type in ("error", "warning") and self.faults.append(m.text)
        )
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("request", lambda r: self.requests.append(r.url))
        self.page.on("dialog", lambda d: (self.faults.append(f"dialog {d.message}"), d.dismiss()))

    def open(self, html: str, fragment: str = "") -> Any:
        """Show a page as from a file, in a fresh tab."""
        path = self.folder / "page.html"
        path.write_text(html, encoding="utf-8")
        self.page.goto("about:blank")
        self.page.goto(f"{path.as_uri()}{fragment}")
        return self.page

    def check(self) -> None:
        """Nothing in the console, and nothing asked for but the file itself."""
        assert self.faults == []
        assert [url for url in self.requests if not url.startswith(("file:", "about:"))] == []


@pytest.fixture
def tab(chromium: Any, tmp_path: Path) -> Iterator[Tab]:
    """A tab that must end without an error in the console and without a request."""
    tab = Tab(chromium, tmp_path)
    yield tab
    tab.check()
    tab.context.close()


AXE = Path(__file__).parents[2] / "build/axe/node_modules/axe-core/axe.min.js"


@pytest.fixture
def accessible(chromium: Any, tmp_path: Path) -> Any:
    """Asks axe-core for serious faults of a page; ``.ci/run`` puts it below ``build/axe``."""
    if not AXE.exists():
        pytest.skip("axe-core is not installed: npm install --prefix build/axe axe-core")

    def check(html: str, scheme: str, width: int) -> list[str]:
        options = {"bypass_csp": True, "color_scheme": scheme}
        tab = Tab(chromium, tmp_path, viewport={"width": width, "height": 900}, **options)
        page = tab.open(html)
        page.evaluate(AXE.read_text(encoding="utf-8"))
        found = page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
        tab.context.close()
        return [
            f"{fault['id']}: {node['html'][:200]} {node['failureSummary']}"
            for fault in found
            if fault["impact"] in ("serious", "critical")
            for node in fault["nodes"]
        ]

    return check
