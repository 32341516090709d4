"""Hostile names and values in pictures and texts of a tree."""

from __future__ import annotations

import itertools
import re
import time
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from tests.hostile import HOSTILE
from tests.tree.builders import N, Test, make_tree
from treewright.data.schema import Feature, Schema, Target
from treewright.tree.show.words import display_width
from treewright.tree.tree import Tree


def tree_of(names: list[str]) -> Tree:
    """A tree in which every name is a feature, a category and a class."""
    names = [f"{name}{k}" if not name.strip() else name for k, name in enumerate(names)]
    n = len(names)
    schema = Schema(
        tuple(Feature(name, "nominal", tuple(names)) for name in names),
        target=Target(names[0], tuple(names)),
    )
    one = np.eye(n) * 5
    node = N(one[0].tolist())
    for k in range(1, n):
        above = (np.asarray(node.value) + one[k]).tolist()
        node = N(above, Test(k, codes={0: 0, k: 1}), [node, N(one[k].tolist())])
    return make_tree(schema, node)


def batches() -> list[list[str]]:
    return (
        [list(batch) for batch in itertools.batched(HOSTILE, 6)]
        if hasattr(itertools, "batched")
        else [HOSTILE[k : k + 6] for k in range(0, len(HOSTILE), 6)]
    )


def test_there_are_sixty_of_them() -> None:
    assert len(set(HOSTILE)) >= 60


@pytest.mark.parametrize("names", batches())
def test_pictures_stay_pictures(names: list[str]) -> None:
    tree = tree_of(names)
    for svg in (tree.to_svg(), tree.to_svg(detail="chip")):
        svg.encode("utf-8")
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u2028\u2029\u202a-\u202e]", svg)
        root = ET.fromstring(svg)
        tags = {element.tag.rpartition("}")[2] for element in root.iter()}
        assert tags <= {"div", "svg", "title", "style", "rect", "g", "text", "path", "circle"}
        for element in root.iter():
            assert not any(key.startswith("on") or "href" in key for key in element.attrib)
        style = next(e for e in root.iter() if e.tag.endswith("style"))
        assert "display" not in (style.text or "")
    assert len(tree.to_svg()) < 200_000


@pytest.mark.parametrize("names", batches())
def test_texts_stay_texts(names: list[str]) -> None:
    tree = tree_of(names)
    for width in (60, 100):
        text = tree.to_text(width=width)
        text.encode("utf-8")
        lines = text.splitlines()
        assert all(char.isprintable() for line in lines for char in line if char != "\u200d")
        assert max(display_width(line) for line in lines) <= width
        assert sum(line.endswith("*") for line in lines) == tree.n_leaves
    for said in (repr(tree.nodes[0]), str(tree.rules()), tree.rules()._repr_html_()):
        said.encode("utf-8")
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e]", said)
        assert "<script" not in said or said.startswith(("<Node", "1", "6"))


def test_files_of_other_formats_are_written() -> None:
    pytest.importorskip("matplotlib")
    for names in (HOSTILE[0:9:2], HOSTILE[32:45:3], HOSTILE[56::3]):
        tree = tree_of(names)
        assert tree.to_png().startswith(b"\x89PNG")
    assert tree.to_pdf().startswith(b"%PDF")


def test_names_of_ten_thousand_characters_take_no_time() -> None:
    names = ["x" * 10_000 + str(k) for k in range(6)] + ["字" * 10_000 + str(k) for k in range(6)]
    tree = tree_of(names)
    started = time.process_time()
    html = tree._repr_html_()
    str(tree)
    assert time.process_time() - started < 2  # 0.2 s on a quiet machine
    assert len(html) < 200_000
