"""Pages that are made when the site is built: the reference, the gallery, two files of the root.

Pages of learners get a table of all parameters.
"""

from __future__ import annotations

import html as markup
import re
import sys
from pathlib import Path

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs" / "site"))

import gallery  # noqa: E402
import pictures  # noqa: E402
import reference  # noqa: E402


def on_files(files: Files, config) -> Files:
    """Add the pages that have no file of their own below docs/."""
    for name in ("CONTRIBUTING", "CHANGELOG"):
        text = (ROOT / f"{name}.md").read_text(encoding="utf-8")
        # there links begin at the root, here in docs/
        text = re.sub(r"\]\(docs/", "](", text)
        text = re.sub(r"\(docs/([\w/-]+)\.md\)", r"([\1](\1.md))", text)
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
    """Names of Sphinx's kind become plain code, options stay whole, pictures are framed."""
    html = re.sub(r":(?:mod|class|meth|func|attr|data):(<code>)~?", r"\1", html)
    html = plain_entries(html)
    if page.file.src_uri == "api/shared.md":
        # the names of the estimators stand there, not what their base says of itself
        html = re.sub(r'(<div class="doc doc-contents first">)\s*<p>(?s:.*?)</p>', r"\1", html)
    html = re.sub(r"(<summary>See Also</summary>\s*)<p>(.*?)</p>", listed, html, flags=re.S)
    if not any(top.children for top in page.toc):
        page.meta.setdefault("hide", []).append("toc")  # its room goes to the text
    html = kept(html)
    return pictures.framed(html, page.file.dest_uri, Path(config.docs_dir))


NAME_ALONE = re.compile(
    r'<div class="doc-signature highlight"><pre><span></span>'
    r'<code><span class="n">\w+</span>\s*</code></pre></div>'
)
HYPHEN = re.compile(r"(?<=array) - (?=like)|(?<=path) - (?=like)|(?<=clopper) - (?=pearson)")
MADE_ANEW = re.compile(r",?\s*default:\s*<code[^>]*>&lt;factory&gt;</code>\s*")
NO_WORDS = re.compile(r'\s*–\s*<div class="doc-md-description">\s*</div>')


def plain_entries(html: str) -> str:
    """The reference without boxes that repeat a heading, and without dashes before nothing."""
    html = NO_WORDS.sub("", NAME_ALONE.sub("", html))
    html = MADE_ANEW.sub("", HYPHEN.sub("-", html))
    return html.replace("0.3333333333333333", "1/3")


def listed(names: re.Match[str]) -> str:
    """The names that a docstring points to, one a line."""
    entries = re.split(r"\n(?=[\w.]+ : )", names[2])
    items = (re.sub(r"^([\w.]+) : ", r"<code>\1</code>: ", entry) for entry in entries)
    return f"{names[1]}<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>"


def kept(html: str) -> str:
    """The HTML of a page, in which lines end where they should."""
    html = re.sub(r"<pre.*?</pre>|<code>([^<]*)</code>", kept_code, html, flags=re.S)
    return "".join(
        part if part.startswith("<") else kept_numbers(part) for part in TAGS.split(html) if part
    )


TAGS = re.compile(r"(<pre.*?</pre>|<code.*?</code>|<[^>]*>)", re.S)
SHORT = 30
"""Letters of code that stay on one line of a table."""


def kept_code(code: re.Match[str]) -> str:
    """Code in which lines end at signs, not within words or ``--max-depth``; blocks as they are."""
    if code[1] is None:
        return code[0]
    short = len(markup.unescape(code[1])) <= SHORT
    text = code[1] if short else re.sub(r"(?<=[(/])(?=\w)|(?<=\.)(?=\w{5})", "<wbr>", code[1])
    text = re.sub(r"(?<![\w-])--?[a-zA-Z][\w-]*", r'<span class="whole">\g<0></span>', text)
    return f'<code class="whole">{text}</code>' if short else f"<code>{text}</code>"


def kept_numbers(text: str) -> str:
    """Text in which no line ends within 200 000 or before a unit."""
    text = re.sub(r"(?<=\d) (?=\d{3}(?!\d))", "\u00a0", text)
    return re.sub(r"(?<=\d) (?=(?:[µm]?s|[kMG]i?B|[%×])(?!\w))", "\u00a0", text)


def on_post_build(config) -> None:
    """Search needs a file that the theme fetches from elsewhere, and its box a name."""
    site = Path(config.site_dir)
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        near = "../" * (len(page.relative_to(site).parts) - 1) + "site/vendor/iframe-worker.js"
        text = text.replace("https://unpkg.com/iframe-worker/shim", near)
        text = text.replace('id="__search"', 'id="__search" aria-label="Search"')
        text = text.replace('role="dialog">', 'role="dialog" aria-label="Search">')
        page.write_text(text, encoding="utf-8")
    (site / "404.html").write_text(NOT_FOUND, encoding="utf-8")
    pictures.darken(site)


NOT_FOUND = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Not found – treewright</title>
<style>
:root { color-scheme: light dark; }
body { font: 1rem/1.6 sans-serif; max-width: 30rem; margin: 4rem auto; padding: 0 1rem; }
</style>
<main>
<h1>No page is here</h1>
<p>It may have moved. The navigation and the search of any other page lead to all that there are:
go back, or shorten the address.</p>
</main>
</html>
"""
"""A server answers with this below any folder, so it needs no other file."""
