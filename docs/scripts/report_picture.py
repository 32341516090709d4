"""Draws docs/img/report.png, the first screen of the report of German credit:

python docs/scripts/report_picture.py        # needs playwright and Chromium
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import treewright
from treewright.cli.demo import COSTS
from treewright.datasets import load_german_credit

PICTURE = Path(__file__).parents[1] / "img" / "report.png"


def main() -> None:
    found = treewright.report(load_german_credit(), costs=COSTS, title="German credit")
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = Path(folder) / "report.html"
        found.save(page_file)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        page = browser.new_page(viewport={"width": 1280, "height": 860})
        page.goto(page_file.as_uri())
        page.screenshot(path=PICTURE)
        browser.close()
    print(PICTURE)


if __name__ == "__main__":
    main()
