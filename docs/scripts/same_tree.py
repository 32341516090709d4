"""One tree of iris as six libraries draw it: python docs/scripts/same_tree.py FOLDER [D3].

scikit-learn grows the tree for itself, dtreeviz (which needs Graphviz' ``dot``) and supertree; YDF,
rpart for partykit (``docs/scripts/same_tree.R``) and ours grow theirs on the same rows with the
same limits; of two equally good tests at the root each takes its own. YDF and supertree draw by a
script in a page, which Chromium photographs; YDF's asks for d3 from the network, so ``D3`` names
that file (``npm pack d3@6``). A library that is not there is named.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any


def main(folder: Path, d3: Path | None = None) -> None:
    """Write same-tree-*.svg and same-tree-*.png into ``folder``."""
    from sklearn.datasets import load_iris
    from sklearn.tree import DecisionTreeClassifier

    iris = load_iris(as_frame=True)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(iris.data, iris.target)
    for draw in (treewright, scikit_learn, dtreeviz, supertree, partykit):
        try:
            draw(folder, iris, tree)
        except (ImportError, OSError, subprocess.CalledProcessError) as error:
            print(f"no picture of {draw.__name__}: {error}")
    if d3 is None:
        print("no picture of ydf: name the file of d3")
    else:
        ydf(folder, iris, d3)


def treewright(folder: Path, iris: Any, tree: Any) -> None:
    """Ours."""
    import treewright

    ours = treewright.CARTClassifier(max_depth=3).fit(iris.data, iris.target_names[iris.target])
    (folder / "same-tree-treewright.svg").write_text(ours.tree_.to_svg() + "\n", encoding="utf-8")


def scikit_learn(folder: Path, iris: Any, tree: Any) -> None:
    """scikit-learn's plot_tree."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt
    from sklearn.tree import plot_tree

    names = [str(name) for name in iris.target_names]
    figure = plt.figure(figsize=(9, 6))
    plot_tree(tree, feature_names=iris.feature_names, class_names=names, filled=True)
    mpl.rcParams["svg.hashsalt"] = "treewright"
    figure.savefig(folder / "same-tree-sklearn.svg", metadata={"Date": None})


def dtreeviz(folder: Path, iris: Any, tree: Any) -> None:
    """The view of dtreeviz."""
    import dtreeviz

    model = dtreeviz.model(
        tree,
        X_train=iris.data,
        y_train=iris.target,
        feature_names=iris.feature_names,
        target_name="species",
        class_names=[str(name) for name in iris.target_names],
    )
    model.view(scale=1.1).save(str(folder / "same-tree-dtreeviz.svg"))


def supertree(folder: Path, iris: Any, tree: Any) -> None:
    """The page of supertree, as it opens."""
    from supertree import SuperTree

    names = [str(name) for name in iris.target_names]
    drawn = SuperTree(tree, iris.data, iris.target, list(iris.feature_names), names)
    with tempfile.TemporaryDirectory() as place:
        drawn.save_html(f"{place}/tree")
        page = next(Path(place).glob("tree*"))
        photograph(page.read_text(encoding="utf-8"), folder / "same-tree-supertree.png", 640)


def ydf(folder: Path, iris: Any, d3: Path) -> None:
    """The page of YDF."""
    import ydf

    rows = iris.data.assign(species=iris.target_names[iris.target])
    learner = ydf.CartLearner(label="species", max_depth=4, validation_ratio=0.0)
    page = learner.train(rows, verbose=0).plot_tree().html()
    photograph(page, folder / "same-tree-ydf.png", 190, d3)


def partykit(folder: Path, iris: Any, tree: Any) -> None:
    """partykit's picture of rpart's tree."""
    script = Path(__file__).with_suffix(".R")
    subprocess.run(["Rscript", script, folder / "same-tree-partykit.png"], check=True)


def photograph(html: str, path: Path, height: int, d3: Path | None = None) -> None:
    """A page as Chromium shows it; all that it asks for is d3."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path="/usr/bin/chromium")
        page = browser.new_page(viewport={"width": 1000, "height": height})
        if d3 is not None:
            page.route("**/d3*.js", lambda route: route.fulfill(path=d3))
        page.set_content(f'<meta charset="utf-8">{html}')
        page.wait_for_timeout(2000)
        page.screenshot(path=path)
        browser.close()


if __name__ == "__main__":
    given = [Path(word) for word in sys.argv[1:]]
    main(given[0] if given else Path("docs/img"), given[1] if len(given) > 1 else None)
