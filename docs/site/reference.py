"""The reference: which public name stands on which page."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from pathlib import Path

import treewright

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import public_names as everything

PAGES = {
    "learners": (
        "Learners",
        "One model, which can be read. [Choosing a learner](../guide/choosing.md) says when to "
        "use which.",
    ),
    "ensembles": ("Ensembles", "Many models that answer together."),
    "evaluation": ("Judging, comparing, tuning", "How good a model is, and how sure that is."),
    "explain": ("Explaining", "Why a model says what it says."),
    "exporting": ("Exports and imports", "Models that leave, and models that come in."),
    "tree": ("Tree", "What all single-tree learners make, and its parts."),
    "other": ("Files, reports and the rest", "Saving, loading, reports."),
}
ROOMS = {
    "pruning": ("Pruning", "Functions from a tree to a smaller tree."),
    "rules": ("Rules", "Models made of rules."),
    "datasets": ("Data sets", "Data that come with the package, and generators."),
    "explain": ("Explaining", "Why a model says what it says."),
    "scale": ("Larger than memory", "Predictions from files to files."),
    "data": ("Tables and schemas", "What a model keeps of the data that it was fitted to."),
    "criteria": ("Criteria", "What a split is to lower."),
    "errors": ("Errors and warnings", "What is raised, and what is said."),
}
SHARED = {
    "single trees": "estimator.base.TreeEstimator",
    "trees that are pruned by the weakest link": "estimator.cost_complexity.CostComplexity",
    "forests and bagging": "ensembles._ensemble.Ensemble",
    "forests": "ensembles.insights.methods.Insights",
    "forests of numbers": "ensembles.insights.numbers.NumberForestMixin",
    "gradient boosting": "ensembles.boosting.grown.GrownBooster",
    "AdaBoost": "ensembles._adaboost.estimator.AdaBoostEstimator",
    "AdaBoost of classes": "ensembles._adaboost.theory.Theory",
    "MARS": "mars._model.MARS",
    "sums of trees": "estimator.explained.Explained",
    "trees and ensembles": "estimator.pages.Paged",
    "data in blocks": "estimator.blocks.ReadsBlocks",
}
"""What estimators have in common beyond scikit-learn's methods, and where it is defined."""


def page_of(name: str) -> str:
    """The page of a public name, by the room that it lives in."""
    home = getattr(treewright, name).__module__.split(".")
    room = home[1] if len(home) > 1 else "other"
    if room in ("learners", "mars"):
        return "learners"
    return room if room in PAGES else "other"


def public_names() -> dict[str, list[str]]:
    """Page to names, rooms aside."""
    found: dict[str, list[str]] = {}
    for name in treewright.__all__:
        value = getattr(treewright, name)
        if callable(value):
            found.setdefault(page_of(name), []).append(name)
    return found


LEARNER_OF_PAGE = {"forests": "random_forest"}
"""Pages of learners that the command line knows by another name."""


def parameters_of(page: str) -> str:
    """A folded table of the parameters of the learner that a page is about, with defaults."""
    from treewright.cli.fit import LEARNERS
    from treewright.cli.learners import _parameters

    learner = LEARNER_OF_PAGE.get(page, page)
    names = " and ".join(f"`{name}`" for name in LEARNERS[learner].values())
    rows = ["| parameter | default | meaning |", "|---|---|---|"]
    for row in _parameters(learner):
        about = re.sub(r":\w+:`~?([^`]*)`", r"`\1`", row["about"]).replace("``", "`")
        cells = (f"`{row['parameter']}`", f"`{row['default']!r}`", about)
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    folded = "\n".join(f"    {row}" for row in rows)
    return f'## All parameters\n\n??? abstract "{names}, with defaults"\n\n{folded}\n\n'


def entry(path: str) -> str:
    """What mkdocstrings expands."""
    return f"::: {path}\n"


def shared() -> str:
    """The page of methods that several estimators have."""
    options = "{show_root_heading: false, show_root_toc_entry: false, heading_level: 3}"
    text = "# Methods that estimators share\n\nBeside those that a class has of its own.\n"
    for who, path in SHARED.items():
        text += f"\n## {who[0].upper()}{who[1:]}\n\n{entry(f'treewright.{path}')}"
        text += f"    options: {options}\n"
    return text


def pages() -> dict[str, str]:
    """Path to text of every page of the reference."""
    made = {}
    for page, names in public_names().items():
        title, words = PAGES[page]
        homes = [f"{getattr(treewright, name).__module__}.{name}" for name in names]
        made[f"api/{page}.md"] = f"# {title}\n\n{words}\n\n" + "\n".join(map(entry, homes))
    for room, (title, words) in ROOMS.items():
        try:
            module = importlib.import_module(f"treewright.{room}")
        except ModuleNotFoundError:
            continue
        names = getattr(module, "__all__", None) or [
            name
            for name, value in vars(module).items()
            if isinstance(value, type) and value.__module__ == module.__name__
        ]
        values = [getattr(module, name) for name in names]
        homes = [
            f"{value.__module__}.{value.__qualname__}"
            for value in values
            if inspect.isclass(value) or inspect.isfunction(value)
        ]
        path = f"api/{room}.md"
        begin = made.get(path) or f"# {title}\n\n{words}\n\n"
        made[path] = begin + "\n".join(entry(home) for home in homes if home not in begin)
    add_results(made)
    made["api/shared.md"] = shared()
    made["api/command-line.md"] = command_line()
    return made


def add_results(made: dict[str, str]) -> None:
    """Put the classes of what public names return on the pages of their rooms."""
    there = set(re.findall(r"^::: (\S+)", "".join(made.values()), re.M))
    seen = set()
    for home in everything.public():
        if home in there:
            continue
        room = home.split(".")[1]
        path = f"api/{'learners' if room == 'mars' else room}.md"
        if path not in seen:
            seen.add(path)
            made[path] += "\nWhat belongs to these:\n\n"
        made[path] += entry(home) + "\n"


def command_line() -> str:
    """Every command's help."""
    from typer.main import get_command

    from treewright.cli._app import build_app

    group = get_command(build_app())
    text = "# Command line\n\nWhat `treewright COMMAND --help` says.\n"
    for name in sorted(group.commands):
        command = group.commands[name]
        text += f"\n## {name}\n\n{told(command.help or '')}\n\n"
        rows = [parameter(p) for p in command.params if not getattr(p, "hidden", False)]
        text += "| option | meaning |\n|---|---|\n" + "\n".join(rows) + "\n"
    return text


def told(text: str) -> str:
    """A command's help, its examples as commands to copy."""
    words, _, examples = text.strip().partition("Example")
    if not examples:
        return words
    commands = re.split(r";\s+", re.sub(r"^s?:\s*", "", examples.strip()))
    lines = "\n".join(" ".join(command.split()) for command in commands)
    return f"{words.strip()}\n\n```sh\n{lines}\n```"


def parameter(p) -> str:
    """A row of a command's table."""
    names = ", ".join(f"`{name}`" for name in (*p.opts, *p.secondary_opts))
    if p.param_type_name == "argument":
        names = f"`{p.metavar or p.name.upper()}`"
    words = (getattr(p, "help", None) or "").replace("|", "\\|").replace("\n", " ")
    return f"| {names} | {words} |"
