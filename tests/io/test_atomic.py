"""Files are written whole or not at all."""

from __future__ import annotations

import os
import stat

import pytest

from treewright.io import _atomic
from treewright.io._atomic import write_atomically


def fail_after(*pieces, error):
    yield from pieces
    raise error


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt(), MemoryError()])
def test_a_failure_on_the_way_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "model"
    path.write_bytes(b"old")
    with pytest.raises(type(error)):
        write_atomically(str(path), fail_after(b"new", b"bytes", error=error))
    assert os.listdir(tmp_path) == ["model"]
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("step", ["fsync", "replace", "chmod"])
def test_a_failure_of_any_step_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, step):
    def fail(*args, **kwargs):
        raise OSError(f"{step} failed")

    path = tmp_path / "model"
    path.write_bytes(b"old")
    monkeypatch.setattr(_atomic.os, step, fail)
    with pytest.raises(OSError, match=step):
        write_atomically(str(path), [b"new"])
    monkeypatch.undo()
    assert os.listdir(tmp_path) == ["model"]
    assert path.read_bytes() == b"old"


def test_the_file_is_synced_before_it_is_renamed_and_the_directory_after(tmp_path, monkeypatch):
    steps = []

    def record(name):
        real = getattr(os, name)

        def call(*args):
            if name == "fsync":
                mode = os.fstat(args[0]).st_mode
                steps.append("sync directory" if stat.S_ISDIR(mode) else "sync file")
            else:
                steps.append(name)
            return real(*args)

        monkeypatch.setattr(_atomic.os, name, call)

    record("fsync")
    record("replace")
    write_atomically(str(tmp_path / "model"), [b"new"])
    assert steps == ["sync file", "replace", "sync directory"]


def test_an_old_file_is_replaced_and_its_permissions_kept(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(b"old")
    path.chmod(0o640)
    write_atomically(str(path), [b"ne", b"w"])
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_has_the_usual_permissions(tmp_path):
    (tmp_path / "usual").write_bytes(b"")
    write_atomically(str(tmp_path / "model"), [b"new"])
    assert (tmp_path / "model").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_atomically(str(tmp_path / "link"), [b"new"])
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_neither_replaced_nor_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="regular file"):
        write_atomically(str(tmp_path / "pipe"), [b"new"])
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_a_relative_name_is_written_to_the_current_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_atomically("model", [b"new"])
    assert (tmp_path / "model").read_bytes() == b"new"
