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
    "Single trees": "estimator.base.TreeEstimator",
    "Trees that are pruned by the weakest link": "estimator.cost_complexity.CostComplexity",
    "Forests and bagging": "ensembles._ensemble.Ensemble",
    "Forests": "ensembles.insights.methods.Insights",
    "Forests of numbers": "ensembles.insights.numbers.NumberForestMixin",
    "Gradient boosting": "ensembles.boosting.grown.GrownBooster",
    "AdaBoost": "ensembles._adaboost.estimator.AdaBoostEstimator",
    "AdaBoost of classes": "ensembles._adaboost.theory.Theory",
    "MARS": "mars._model.MARS",
    "Sums of trees": "estimator.explained.Explained",
    "Trees and ensembles": "estimator.pages.Paged",
    "Data in blocks": "estimator.blocks.ReadsBlocks",
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
    text = (
        "# Methods that estimators share\n\nWhat a class has beside the methods on its own page, "
        "by the family that it belongs to.\n"
    )
    for who, path in SHARED.items():
        module, name = f"treewright.{path}".rsplit(".", 1)
        base = getattr(importlib.import_module(module), name)
        text += f"\n## {who}\n\nOf {owners(base)}.\n\n{entry(f'{module}.{name}')}"
        text += f"    options: {options}\n"
    return text


def owners(base: type) -> str:
    """The estimators that inherit from a class, with links."""
    values = (getattr(treewright, name) for name in sorted(treewright.__all__))
    return ", ".join(link(v) for v in values if inspect.isclass(v) and issubclass(v, base))


def home_of(value: type) -> str:
    """Where a class or function is defined."""
    return f"{value.__module__}.{value.__qualname__}"


def link(value: type) -> str:
    """A name that leads to its entry."""
    return f"[`{value.__name__}`][{home_of(value)}]"


def page(title: str, words: str, values: list[type]) -> str:
    """A page of the reference: what is on it, then everything whole."""
    values = sorted(dict.fromkeys(values), key=lambda value: place(value, values))
    rows = [f"| {link(value)} | {first_line(value)} |" for value in values]
    table = "\n".join(["| name | what it is |", "|---|---|", *rows]) if len(rows) > 2 else ""
    entries = "\n".join(entry(home_of(value)) for value in values)
    return f"# {title}\n\n{words}\n\n{table}\n\n{entries}"


def place(value: type, values: list[type]) -> tuple[bool, bool, int]:
    """Functions before the classes of what they return; of errors the bases first."""
    classes = [v for v in values if inspect.isclass(v)]
    if not any(issubclass(v, Exception) for v in classes):
        return value in classes, False, 0
    is_base = any(value in v.__bases__ for v in classes)
    return value not in classes, not is_base, len(value.__mro__) if is_base else 0


def first_line(value: type) -> str:
    """What a docstring begins with, as a cell of a table."""
    words = " ".join((inspect.getdoc(value) or "").partition("\n\n")[0].split())
    words = re.sub(r":\w+:`~?([^`]*)`", r"`\1`", words).replace("``", "`")
    return words.replace("|", "\\|")


def pages() -> dict[str, str]:
    """Path to text of every page of the reference."""
    heads = {**ROOMS, **PAGES}
    on_page = {
        room: [getattr(treewright, name) for name in names]
        for room, names in public_names().items()
    }
    for room in ROOMS:
        on_page[room] = [*on_page.get(room, []), *of_room(room)]
    made = {f"api/{room}.md": page(*heads[room], values) for room, values in on_page.items()}
    add_results(made)
    made["api/shared.md"] = shared()
    made["api/command-line.md"] = command_line()
    return made


def of_room(room: str) -> list[type]:
    """The public classes and functions of a package."""
    module = importlib.import_module(f"treewright.{room}")
    names = getattr(module, "__all__", None) or [
        name
        for name, value in vars(module).items()
        if isinstance(value, type) and value.__module__ == module.__name__
    ]
    values = (getattr(module, name) for name in names)
    return [value for value in values if inspect.isclass(value) or inspect.isfunction(value)]


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
            made[path] += "\n## What these return\n\n"
        made[path] += f"{entry(home)}    options: {{heading_level: 3}}\n\n"


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
