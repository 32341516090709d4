"""Pages say what their code prints, pictures have a script, links lead somewhere, examples run."""

from __future__ import annotations

import doctest
import importlib
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import matplotlib
import matplotlib.pyplot
import pytest

import treewright
from treewright.errors import TreewrightWarning

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "docs" / "site")]

import check_site  # noqa: E402
import documents  # noqa: E402
import gallery  # noqa: E402
import pictures  # noqa: E402
import public_names  # noqa: E402
import reference  # noqa: E402

PAGES = documents.pages()
DOCUMENTS = [*PAGES, ROOT / "CONTRIBUTING.md"]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
EXAMPLES_OF = public_names.examples()
MADE = {"contributing.md", "changelog.md", *reference.pages(), *gallery.pages()}
"""Pages that exist in the built documentation alone."""


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize(
    "page", [p for p in PAGES if "```" in p.read_text(encoding="utf-8")], ids=name_of
)
def test_pages_show_what_their_code_prints(page, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("default", TreewrightWarning)  # some pages show them
        found = documents.differences(page, tmp_path)
    assert not found, "\n".join(map(str, found))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_command_of_a_page_runs_and_every_output_is_compared(page):
    text = page.read_text(encoding="utf-8")
    fences = list(documents.FENCE.finditer(text))
    for before, fence in zip([None, *fences], fences, strict=False):
        if fence[1] == "":  # customers.csv stands for a table of the reader's own
            commands = re.findall(r"^(?:\$ )?treewright .*", fence[2], re.M)
            assert all("customers.csv" in command for command in commands), fence[0]
        if fence[1] == "text" and page.stem not in ("sliq", "sprint"):  # which draw lists
            assert before is not None
            assert before[1] == "python"
            assert not text[before.end() : fence.start()].strip(), fence[0]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_every_example_runs_without_pandas(example, tmp_path):
    # as after the installation that the README shows
    (tmp_path / "pandas.py").write_text("raise ImportError('no pandas here')")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-X", "utf8", str(example)]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_links_and_named_files_exist(document):
    text = re.sub(r"```.*?```", "", document.read_text(encoding="utf-8"), flags=re.S)
    links = [
        link for link in re.findall(r"(?:\]\(|src=\"|href=\")([^)\"#]+)", text) if "://" not in link
    ]
    made = {(ROOT / "docs" / page).resolve() for page in MADE}
    wrong = [
        link
        for link in links
        if not (document.parent / link).exists() and (document.parent / link).resolve() not in made
    ]
    assert wrong == []
    # files of the package are named without their way to it
    places = [ROOT, ROOT / "src/treewright"]
    named = re.findall(r"`((?:[\w.]+/)+[\w.]*\.(?:py|hpp|cpp)|(?:[\w.]+/)+)`", text)
    missing = [name for name in named if not any((place / name).exists() for place in places)]
    assert missing == []


def test_every_picture_is_in_the_gallery_and_has_a_script():
    drawn = {path.name for path in (ROOT / "docs/img").glob("*.[sp][vn]g")} - {"icon.svg"}
    assert drawn == {picture.file for picture in gallery.PICTURES}
    scripts = {p.script.split()[0] for p in gallery.PICTURES if p.script != gallery.BY_HAND}
    assert all((ROOT / script).is_file() for script in scripts)
    for picture in gallery.PICTURES:
        page = ROOT / "docs" / picture.page
        assert picture.file in page.read_text(encoding="utf-8"), picture


def test_every_learner_page_has_a_picture():
    pages = [p for p in (ROOT / "docs/learners").glob("*.md") if p.name != "index.md"]
    assert [p.name for p in pages if "![" not in p.read_text(encoding="utf-8")] == []


def test_pictures_shrink_until_their_letters_are_small_and_open_alone():
    page = '<p><img alt="A tree" src="../img/cart-titanic.svg" /></p>'
    html = pictures.framed(page, "learners/cart.html", ROOT / "docs")
    assert html.startswith('<p class="picture"><a href="../img/cart-titanic.svg"><img alt="A tree"')
    width, _, least = pictures.measure(ROOT / "docs/img/cart-titanic.svg")
    assert least == pytest.approx(width * pictures.LEAST / 9)


@pytest.mark.parametrize("picture", gallery.PICTURES, ids=lambda picture: picture.file)
def test_every_picture_of_ours_is_dark_in_the_dark(picture):
    ours = picture.file.endswith(".svg") and not picture.file.startswith(
        ("same-tree-dtreeviz", "same-tree-sklearn")
    )
    assert pictures.knows_dark(ROOT / "docs/img" / picture.file) == ours


def test_code_of_the_site_ends_lines_at_signs():
    pytest.importorskip("mkdocs")
    hooks = importlib.import_module("hooks")
    block = "<pre><code>treewright tune (cv=5) --max-depth 3</code></pre>"
    html = "<code>treewright tune data.csv --max-depth 3 (cv=5)</code>"
    made = hooks.kept(block + html)
    assert made.startswith(block)
    assert '<span class="whole">--max-depth</span>' in made
    assert "(<wbr>cv=5)" in made
    assert re.sub(r"<[^>]*>", "", made) == re.sub(r"<[^>]*>", "", block + html)


def test_everybody_can_read_the_built_pages():
    pytest.importorskip("playwright.sync_api", reason="pages are not tried in a browser")
    if reason := check_site.missing():
        pytest.skip(reason)
    assert check_site.check(looks=[("dark", 400)]) == []


LEARNER_PAGES = [p for p in sorted((ROOT / "docs/learners").glob("*.md")) if p.stem != "index"]


@pytest.mark.parametrize("page", LEARNER_PAGES, ids=lambda p: p.stem)
def test_every_learner_page_says_when_to_use_it_and_who_described_it(page):
    text = page.read_text()
    for heading in ("When to use", "History", "References"):
        assert f"\n## {heading}" in text
    assert re.search(r"comparisons/|\n## Beside ", text), "no comparison with another program"
    assert re.search(r"\b(19|20)\d\d\b", text), "no reference with its year"


@pytest.mark.parametrize("page", LEARNER_PAGES, ids=lambda p: p.stem)
def test_every_learner_page_lists_all_parameters(page):
    table = reference.parameters_of(page.stem)
    learner = re.search(r"`(\w+(?:Classifier|Regressor|Rules))`", table)[1]
    for name in getattr(treewright, learner)._get_param_names():
        row = re.search(rf"\| `{name}` \| `.+` \| (.+) \|", table)
        assert row, name


OF_OTHERS = ("from_catboost", "from_lightgbm", "from_xgboost")
"""Examples that need the library whose models they read."""


def test_every_public_name_and_method_has_an_example():
    assert public_names.without_example() == []


def test_every_public_name_is_on_a_page_of_the_reference_once():
    listed = re.findall(r"^::: (\S+)", "\n".join(reference.pages().values()), re.M)
    assert len(listed) == len(set(listed))
    assert set(public_names.public()) <= set(listed)


@pytest.mark.parametrize("path", EXAMPLES_OF)
def test_examples_run_as_they_are_printed(path, monkeypatch, tmp_path):
    value = EXAMPLES_OF[path]
    if value.__name__ in OF_OTHERS:
        pytest.importorskip(value.__name__.removeprefix("from_"))
    monkeypatch.chdir(tmp_path)
    matplotlib.use("agg")
    # nothing but what the reader sees: examples import the names that they use
    test = doctest.DocTestParser().get_doctest(value.__doc__, {}, path, None, None)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert runner.run(test).failed == 0
    matplotlib.pyplot.close("all")
