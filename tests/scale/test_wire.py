"""Questions over sockets: what goes over them, who may ask, and that nothing is left."""

from __future__ import annotations

import socket
import threading
import time

import numpy as np
import pytest

from treewright.scale import _wire
from treewright.scale._wire import AnswerError, Answers, Line

TOKEN = bytes(range(32))


class Share:
    def same(self, *values):
        return values

    def where(self, array):
        return array.ctypes.data % 64

    def fail(self):
        raise ValueError("There must be rows.")


def answer(method, *args):
    return getattr(Share(), method)(*args)


def threads():
    return [t for t in threading.enumerate() if t.name == "treewright-share"]


@pytest.fixture
def answers():
    found = Answers(answer, "tcp://127.0.0.1:1", TOKEN)
    yield found
    end = time.monotonic() + 5
    while threads() and time.monotonic() < end:
        time.sleep(0.01)
    assert not threads()
    with pytest.raises(OSError):
        socket.create_connection(found.place, timeout=1)


def ask(line, method, *args):
    n_asked = line.ask(method, args)
    answer, n_answered = line.answer()
    assert n_asked > 0
    assert n_answered > 0
    return answer


def test_values_and_arrays_arrive_as_they_were(answers):
    line = Line(answers.place, TOKEN)
    arrays = [
        np.arange(12, dtype=np.int32).reshape(3, 4)[:, ::2],
        np.array([], np.uint64),
        np.array([np.nan, -0.0, np.inf, 5e-324]),
        np.array(2**63 - 1),
        np.zeros((2, 0, 3), np.uint8),
        np.array([True, False]),
        np.arange(300_000),
    ]
    for array in arrays * 3:
        (found,) = ask(line, "same", array)
        assert found.dtype == array.dtype
        assert found.shape == array.shape
        assert found.tobytes() == array.tobytes()
        assert ask(line, "where", found) == 0
    plain = [None, True, 2**100, -1, 0.1, float("inf"), "ä", [1, {"a": [2]}], np.int64(3)]
    assert ask(line, "same", *plain) == [*plain[:-1], 3]
    several = ask(line, "same", *arrays, {"tree": arrays})
    assert [a.tobytes() for a in several[-1]["tree"]] == [a.tobytes() for a in arrays]
    line.close()


def test_an_error_is_told_and_the_next_question_answered(answers):
    line = Line(answers.place, TOKEN)
    line.ask("fail", ())
    with pytest.raises(AnswerError):
        line.answer()
    assert str(answers.error) == "There must be rows."
    assert ask(line, "same", 1) == [1]
    line.close()


def test_objects_are_not_sent(answers):
    line = Line(answers.place, TOKEN)
    with pytest.raises(TypeError, match="No array of object"):
        line.ask("same", (np.array([None]),))
    line.close()


def test_a_stranger_is_sent_away(answers):
    with pytest.raises((OSError, EOFError)):
        Line(answers.place, bytes(32))
    line = Line(answers.place, TOKEN)  # who may ask still can
    assert ask(line, "same", 1) == [1]
    line.close()


def test_a_share_that_nobody_calls_stops_listening(monkeypatch):
    monkeypatch.setattr(_wire, "CONNECTED_WITHIN", 0.05)
    Answers(answer, "tcp://127.0.0.1:1", TOKEN)
    end = time.monotonic() + 5
    while threads() and time.monotonic() < end:
        time.sleep(0.01)
    assert not threads()


def test_a_share_that_goes_is_an_error_at_once(answers):
    line = Line(answers.place, TOKEN)
    line._socket.shutdown(socket.SHUT_WR)
    with pytest.raises(ConnectionResetError):
        line.answer()
    line.close()
