"""Files are written whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys

import pytest

import treewright
from treewright.errors import SpaceError
from treewright.io import _atomic
from treewright.io._atomic import only_writer, replacing, write_atomically


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


# Temporary files of processes that were killed

KILLED = """
import os, sys
from treewright.io._atomic import {maker}
with {maker}({path!r}) as file:
    {work}
    os.kill(os.getpid(), 9)
"""


def kill(maker, path, work="pass"):
    code = KILLED.format(maker=maker, path=str(path), work=work)
    assert subprocess.run([sys.executable, "-c", code]).returncode == -9


def test_what_a_killed_process_left_goes_with_the_next_writing(tmp_path):
    path = tmp_path / "model"
    kill("replacing", path, "file.write(b'half'); file.flush()")
    assert len(os.listdir(tmp_path)) == 1
    write_atomically(str(tmp_path / "other"), [b"new"])
    assert os.listdir(tmp_path) == ["other"]


def test_what_a_living_process_writes_is_left_to_it(tmp_path):
    with replacing(tmp_path / "one") as file:
        file.write(b"on")
        write_atomically(str(tmp_path / "two"), [b"two"])
        file.write(b"e")
    assert sorted(os.listdir(tmp_path)) == ["one", "two"]
    assert (tmp_path / "one").read_bytes() == b"one"


def test_a_file_that_was_cleared_before_it_was_locked_is_made_again(tmp_path, monkeypatch):
    real, taken = _atomic._lock, []

    def lock(descriptor, unknown=True):
        if not taken:
            taken.extend(tmp_path.iterdir())
            taken[0].unlink()
        return real(descriptor, unknown)

    monkeypatch.setattr(_atomic, "_lock", lock)
    write_atomically(str(tmp_path / "model"), [b"new"])
    assert (tmp_path / "model").read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["model"]


def test_writing_looks_for_no_files_but_its_own_and_follows_no_link(tmp_path):
    (tmp_path / "precious").write_bytes(b"kept")
    (tmp_path / ".treewright-1.tmp").symlink_to(tmp_path / "precious")
    os.mkfifo(tmp_path / ".treewright-2.tmp")
    (tmp_path / ".treewright-notes").write_bytes(b"kept")
    write_atomically(str(tmp_path / "model"), [b"new"])
    assert len(os.listdir(tmp_path)) == 5
    assert (tmp_path / "precious").read_bytes() == b"kept"


def test_a_mark_of_unfinished_work_outlives_a_killed_process_and_has_one_owner(tmp_path):
    mark = tmp_path / "mark"
    kill("only_writer", mark)
    with only_writer(mark) as was_there:
        assert was_there
        with pytest.raises(BlockingIOError), only_writer(mark):
            pass
    assert not mark.exists()
    with only_writer(mark) as was_there:
        assert not was_there


def test_a_full_disk_is_one_error_whatever_is_written(tmp_path, monkeypatch):
    def fail(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    model = treewright.CARTClassifier().fit([[1.0], [2.0]], ["a", "b"])
    monkeypatch.setattr(_atomic.os, "fsync", fail)
    for write in (treewright.save, treewright.export):
        with pytest.raises(SpaceError, match="no space is left on the disk"):
            write(model, tmp_path / "model.json")
    assert os.listdir(tmp_path) == []
