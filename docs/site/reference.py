"""The reference: which public name stands on which page."""

from __future__ import annotations

import importlib
import re

import treewright

PAGES = {
    "learners": (
        "Learners",
        "One model, which can be read. [Choosing a learner](../guide/choosing.md) says when to "
        "use which.",
    ),
    "ensembles": ("Ensembles", "Many models that answer together."),
    "evaluation": ("Judging, comparing, tuning", "How good a model is, and how sure that is."),
    "explain": ("Explaining", "Why a model says what it says."),
    "export": ("Exports and imports", "Models that leave, and models that come in."),
    "tree": ("Tree", "What all single-tree learners make."),
    "other": ("Files, reports and the rest", "Saving, loading, reports."),
}
ROOMS = {
    "pruning": ("Pruning", "Functions from a tree to a smaller tree."),
    "rules": ("Rules", "Models made of rules."),
    "datasets": ("Data sets", "Data that come with the package, and generators."),
    "explain": ("Explaining", "Why a model says what it says."),
    "export": ("Exports", "Models that leave."),
    "errors": ("Errors and warnings", "What is raised, and what is said."),
}


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
        homes = [f"{value.__module__}.{value.__qualname__}" for value in values if callable(value)]
        path = f"api/{room}.md"
        begin = made.get(path) or f"# {title}\n\n{words}\n\n"
        made[path] = begin + "\n".join(entry(home) for home in homes if home not in begin)
    made["api/command-line.md"] = command_line()
    return made


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
