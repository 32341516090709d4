"""The gallery, and which script makes which picture."""

from __future__ import annotations

import html
from dataclasses import dataclass


@dataclass(frozen=True)
class Picture:
    """A file of docs/img, what it shows, the page that explains it and the script that makes it."""

    file: str
    title: str
    page: str
    script: str


BY_HAND = "drawn by hand"

PICTURES = (
    Picture(
        "report.png",
        "The report of German credit",
        "guide/report.md",
        "docs/scripts/report_picture.py",
    ),
    Picture(
        "cart-titanic.svg",
        "CART, pruned by cross-validation",
        "learners/cart.md",
        "docs/scripts/pictures.py cart-titanic",
    ),
    Picture(
        "id3-tennis.svg",
        "ID3 on play tennis",
        "learners/id3.md",
        "docs/scripts/pictures.py id3-tennis",
    ),
    Picture("c45-titanic.svg", "C4.5", "learners/c45.md", "docs/scripts/pictures.py c45-titanic"),
    Picture(
        "c50-credit.svg",
        "C5.0 on German credit",
        "learners/c50.md",
        "docs/scripts/pictures.py c50-credit",
    ),
    Picture(
        "chaid-titanic.svg",
        "CHAID with the classes of every node",
        "learners/chaid.md",
        "docs/scripts/pictures.py chaid-titanic",
    ),
    Picture(
        "ctree-titanic.svg",
        "A conditional inference tree",
        "learners/ctree.md",
        "docs/scripts/pictures.py ctree-titanic",
    ),
    Picture(
        "hunt-titanic.svg",
        "Hunt's algorithm",
        "learners/hunt.md",
        "docs/scripts/pictures.py hunt-titanic",
    ),
    Picture(
        "unbiased-selection.svg",
        "Which learner favours columns with many values?",
        "learners/ctree.md",
        "examples/unbiased_selection.py",
    ),
    Picture(
        "oblique-line.svg",
        "One slanted cut instead of a staircase",
        "learners/oblique.md",
        "examples/oblique_line.py",
    ),
    Picture(
        "optimal-board.svg", "What greed costs", "learners/optimal.md", "examples/optimal_tree.py"
    ),
    Picture("mars-effects.svg", "Hinges of MARS", "learners/mars.md", "examples/mars_effects.py"),
    Picture(
        "learners-rings.svg",
        "Two rings, three learners",
        "guide/choosing.md",
        "docs/scripts/pictures.py learners-rings",
    ),
    Picture(
        "bagging-rings.svg",
        "Bags of trees are smoother",
        "learners/bagging.md",
        "docs/scripts/pictures.py bagging-rings",
    ),
    Picture(
        "adaboost-rings.svg",
        "AdaBoost, round by round",
        "learners/adaboost.md",
        "docs/scripts/pictures.py adaboost-rings",
    ),
    Picture(
        "sliq-agrawal.svg",
        "SLIQ on Agrawal's second rule",
        "learners/sliq.md",
        "docs/scripts/pictures.py sliq-agrawal",
    ),
    Picture(
        "sprint-agrawal.svg",
        "SPRINT on Agrawal's third rule",
        "learners/sprint.md",
        "docs/scripts/pictures.py sprint-agrawal",
    ),
    Picture(
        "hoeffding-drift.svg",
        "A stream whose rule changes",
        "learners/hoeffding.md",
        "docs/scripts/pictures.py hoeffding-drift",
    ),
    Picture(
        "gradient-boosting-rounds.svg",
        "Gradient boosting: where to stop",
        "learners/gradient_boosting.md",
        "docs/scripts/pictures.py gradient-boosting-rounds",
    ),
    Picture(
        "c45rules-titanic.svg",
        "Rules by coverage and confidence",
        "learners/c45rules.md",
        "docs/scripts/pictures.py c45rules-titanic",
    ),
    Picture(
        "boosting-rounds.svg",
        "AdaBoost: training error, its bound, test error",
        "learners/adaboost.md",
        "examples/boosting_rounds.py",
    ),
    Picture(
        "forest-importances.svg",
        "Importances of a forest, with errors",
        "learners/forests.md",
        "docs/scripts/pictures.py forest-importances",
    ),
    Picture("pruning-curve.svg", "Error against size", "guide/pruning.md", "examples/two_rings.py"),
    Picture(
        "pruning-ranks.svg",
        "Pruning methods on 23 data sets",
        "comparisons/pruning.md",
        "benchmarks/pruning_study.py",
    ),
    Picture(
        "judging-credit.svg",
        "A model judged from five sides",
        "guide/judging.md",
        "docs/scripts/judging_figures.py",
    ),
    Picture(
        "judging-curves.svg",
        "Curves, regions, bias and variance",
        "guide/judging.md",
        "docs/scripts/judging_figures.py",
    ),
    Picture(
        "interval-coverage.svg",
        "Where Wald's interval fails",
        "guide/judging.md",
        "docs/scripts/interval_coverage.py",
    ),
    Picture(
        "type-one-error.svg",
        "Equal models called different",
        "guide/comparing.md",
        "docs/scripts/type_one_error.py",
    ),
    Picture(
        "start-titanic.svg",
        "The first tree",
        "start.md",
        "docs/scripts/pictures.py start-titanic",
    ),
    Picture(
        "learners-regions.svg",
        "Two rings, a dozen learners",
        "learners/index.md",
        "docs/scripts/guide_figures.py learners-regions",
    ),
    Picture(
        "data-kinds.svg",
        "A test for each kind of column",
        "guide/data.md",
        "docs/scripts/guide_figures.py data-kinds",
    ),
    Picture(
        "gaps-ways.svg",
        "Five ways with gaps",
        "guide/gaps.md",
        "docs/scripts/guide_figures.py gaps-ways",
    ),
    Picture(
        "costs-threshold.svg",
        "The cheapest threshold",
        "guide/costs.md",
        "docs/scripts/guide_figures.py costs-threshold",
    ),
    Picture(
        "teams-titanic.svg",
        "What a team buys",
        "guide/combining.md",
        "docs/scripts/guide_figures.py teams-titanic",
    ),
    Picture(
        "rules-titanic.svg",
        "Rules and the rows they hold for",
        "guide/rules.md",
        "docs/scripts/guide_figures.py rules-titanic",
    ),
    Picture(
        "scale-time.svg",
        "Time against rows, larger than memory",
        "guide/scale.md",
        "docs/scripts/guide_figures.py scale-time",
    ),
    Picture(
        "exports-time.svg",
        "A forest as C, beside others",
        "guide/deploying.md",
        "docs/scripts/guide_figures.py exports-time",
    ),
    Picture(
        "agreement.svg",
        "Equal to the original programs",
        "coming-from.md",
        "docs/scripts/comparison_figures.py agreement",
    ),
    Picture(
        "forests-beside.svg",
        "Forests beside R",
        "comparisons/forests.md",
        "docs/scripts/comparison_figures.py forests-beside",
    ),
    Picture(
        "cart-beside.svg",
        "CART beside rpart",
        "comparisons/cart.md",
        "docs/scripts/comparison_figures.py cart-beside",
    ),
    Picture(
        "c45-beside.svg",
        "C4.5 beside release 8 and J48",
        "comparisons/c45.md",
        "docs/scripts/comparison_figures.py c45-beside",
    ),
    Picture(
        "c45rules-beside.svg",
        "C45Rules beside c4.5rules",
        "comparisons/c45rules.md",
        "docs/scripts/comparison_figures.py c45rules-beside",
    ),
    Picture(
        "c50-beside.svg",
        "C5.0: errors beside the program",
        "comparisons/c50.md",
        "docs/scripts/comparison_figures.py c50-beside",
    ),
    Picture(
        "ctree-beside.svg",
        "CTree beside partykit",
        "comparisons/ctree.md",
        "docs/scripts/comparison_figures.py ctree-beside",
    ),
    Picture(
        "chaid-beside.svg",
        "CHAID beside the PyPI package",
        "comparisons/chaid.md",
        "docs/scripts/comparison_figures.py chaid-beside",
    ),
    Picture(
        "mars-beside.svg",
        "MARS beside earth",
        "comparisons/mars.md",
        "docs/scripts/comparison_figures.py mars-beside",
    ),
    Picture(
        "speed.svg",
        "Speed beside others",
        "benchmarks.md",
        "docs/scripts/guide_figures.py speed",
    ),
    Picture("way-of-the-data.svg", "The way of the data", "architecture.md", BY_HAND),
    Picture(
        "same-tree-treewright.svg",
        "The same tree: treewright",
        "guide/seeing.md",
        "docs/scripts/same_tree.py",
    ),
    Picture(
        "same-tree-dtreeviz.svg",
        "The same tree: dtreeviz",
        "guide/seeing.md",
        "docs/scripts/same_tree.py",
    ),
    Picture(
        "same-tree-sklearn.svg",
        "The same tree: scikit-learn",
        "guide/seeing.md",
        "docs/scripts/same_tree.py",
    ),
    Picture(
        "same-tree-supertree.png",
        "The same tree: supertree",
        "guide/seeing.md",
        "docs/scripts/same_tree.py",
    ),
    Picture(
        "same-tree-ydf.png",
        "The same tree: YDF",
        "guide/seeing.md",
        "docs/scripts/same_tree.py",
    ),
    Picture(
        "same-tree-partykit.png",
        "The same tree: partykit",
        "guide/seeing.md",
        "docs/scripts/same_tree.py",
    ),
)


def pages() -> dict[str, str]:
    """The gallery."""
    figures = "\n".join(map(figure, PICTURES))
    return {
        "gallery.md": "---\nhide: [navigation]\n---\n\n# Gallery\n\n"
        "Every picture is made by a script of the repository, "
        "named below it; a click leads to the page that explains it.\n\n"
        f'<div class="gallery" markdown>\n{figures}\n</div>\n'
    }


def figure(picture: Picture) -> str:
    """One picture as HTML around markdown links, which mkdocs checks."""
    title = html.escape(picture.title)
    return (
        f'<figure markdown="span">\n[![{title}](img/{picture.file})]({picture.page})\n'
        f"<figcaption>{title}<br><code>{html.escape(picture.script)}</code></figcaption>\n</figure>"
    )
