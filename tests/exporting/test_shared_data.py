"""A cheap part of tools/check_exports.py: three shared data sets in three languages."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest

from tests.exporting import run

TOOL = Path(__file__).parents[2] / "tools" / "check_exports.py"


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("check_exports", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["airquality", "labor", "titanic"])
def test_exports_agree_with_the_model_on_shared_data(name, tool, shared_dir):
    kind, case = tool.case_of(shared_dir, name, tool.every_name(shared_dir).index(name))
    spoken = ["python", "sqlite", *(["c"] if shutil.which("gcc") else [])]
    verdicts = {language: tool.tried(getattr(run, language), case) for language in spoken}
    assert verdicts == dict.fromkeys(spoken, "="), kind
