"""The learners by the short names that the command line and the report know them by."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LEARNERS", "Learner"]


@dataclass(frozen=True)
class Learner:
    """How a learner is called.

    Parameters
    ----------
    title
        Its name in tables and figures.
    words
        Its name in a sentence, with the article.
    classifier, regressor
        Names in :mod:`treewright`; empty where it has no such.
    """

    title: str
    words: str
    classifier: str = ""
    regressor: str = ""


def _both(title: str, words: str, stem: str) -> Learner:
    return Learner(title, words, f"{stem}Classifier", f"{stem}Regressor")


LEARNERS: dict[str, Learner] = {
    "adaboost": _both("AdaBoost", "boosted stumps (AdaBoost)", "AdaBoost"),
    "bagging": _both("bagging", "bagged trees", "Bagging"),
    "c45": Learner("C4.5", "a C4.5 tree", "C45Classifier"),
    "c45rules": Learner("C4.5 rules", "rules of C4.5", "C45Rules"),
    "c50": Learner("C5.0", "a C5.0 tree", "C50Classifier"),
    "cart": _both("CART", "a CART tree", "CART"),
    "chaid": _both("CHAID", "a CHAID tree", "CHAID"),
    "ctree": _both("CTree", "a conditional inference tree (CTree)", "CTree"),
    "extra_trees": _both("extra trees", "extremely randomised trees", "ExtraTrees"),
    "gradient_boosting": _both("gradient boosting", "gradient boosting", "GradientBoosting"),
    "hoeffding": _both("Hoeffding tree", "a Hoeffding tree", "HoeffdingTree"),
    "id3": Learner("ID3", "an ID3 tree", "ID3Classifier"),
    "hunt": _both("Hunt", "a tree of Hunt's scheme", "Hunt"),
    "mars": _both("MARS", "a MARS model", "MARS"),
    "oblique": _both("oblique tree", "an oblique tree", "ObliqueTree"),
    "optimal": _both("optimal tree", "an optimal tree", "OptimalTree"),
    "random_forest": _both("random forest", "a random forest", "RandomForest"),
    "sliq": Learner("SLIQ", "a SLIQ tree", "SLIQClassifier"),
    "sprint": Learner("SPRINT", "a SPRINT tree", "SPRINTClassifier"),
}
