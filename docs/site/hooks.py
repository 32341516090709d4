"""Pages that are made when the site is built: the reference, the gallery, two files of the root.

Pages of learners get a table of all parameters.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs" / "site"))

import gallery  # noqa: E402
import reference  # noqa: E402


def on_files(files: Files, config) -> Files:
    """Add the pages that have no file of their own below docs/."""
    for name in ("CONTRIBUTING", "CHANGELOG"):
        text = (ROOT / f"{name}.md").read_text(encoding="utf-8")
        # there links begin at the root, here in docs/
        text = re.sub(r"\]\(docs/", "](", text)
        files.append(File.generated(config, f"{name.lower()}.md", content=text))
    for path, text in {**reference.pages(), **gallery.pages()}.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page, config, files) -> str:
    """Pages of learners list all parameters, as they are in the code."""
    path = Path(page.file.src_uri)
    if path.parent.name != "learners" or path.stem == "index":
        return markdown
    before, heading, after = markdown.partition("## When to use")
    return before + reference.parameters_of(path.stem) + heading + after


def on_page_content(html: str, page, config, files) -> str:
    """Docstrings name things in Sphinx's way; here they are plain code."""
    return re.sub(r":(?:mod|class|meth|func|attr|data):(<code>)~?", r"\1", html)


def on_post_build(config) -> None:
    """Search needs a file that the theme fetches from elsewhere, and its box a name."""
    site = Path(config.site_dir)
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        near = "../" * (len(page.relative_to(site).parts) - 1) + "site/vendor/iframe-worker.js"
        text = text.replace("https://unpkg.com/iframe-worker/shim", near)
        text = text.replace('role="dialog">', 'role="dialog" aria-label="Search">')
        page.write_text(text, encoding="utf-8")
