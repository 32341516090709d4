"""Questions to a share over a socket of its own, past the event loops of Dask.

A tree takes about a dozen questions of every share, one after another, so that what a question
costs beside its answer decides the speed of a cluster. A share listens on its worker's address; the
driver shows a token that it chose for this fit and sent by way of Dask, then asks. Messages are
JSON with arrays beside it, never pickles. The socket ends with the fit: either side that goes
closes it, and the other side notices.
"""

from __future__ import annotations

import hmac
import json
import socket
import struct
import threading
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

__all__ = ["TOKEN_BYTES", "AnswerError", "Answers", "Line"]

TOKEN_BYTES = 32
CONNECTED_WITHIN = 10.0
"""Seconds in which a driver comes to a share that listens, and a share answers its call."""
HEAD = struct.Struct("<QQ")  # bytes of the JSON, and of the arrays behind it
LINE = 64  # arrays begin at multiples of it
MOST_JSON = 1 << 30
ARRAY = "array of"


class AnswerError(Exception):
    """A share could not answer; it remembers why."""


# -- messages -----------------------------------------------------------------------------------


def send(to: socket.socket, value: Any) -> int:
    """Send numbers, texts, lists, dictionaries and arrays; how many bytes they took."""
    arrays: list[NDArray[Any]] = []
    size = 0

    def put(each: Any) -> Any:
        nonlocal size
        if isinstance(each, np.generic):
            return each.item()
        each = np.asarray(each, order="C")
        if each.dtype.kind not in "biuf":
            raise TypeError(f"No array of {each.dtype} goes over a socket.")
        arrays.append(each)
        start, size = size, size + -(-each.nbytes // LINE) * LINE
        return {ARRAY: [each.dtype.str, each.shape, start]}

    text = json.dumps(value, default=put, separators=(",", ":")).encode()
    parts: list[Any] = [HEAD.pack(len(text), size), text]
    for each in arrays:
        parts += [each.reshape(-1).view(np.uint8), bytes(-each.nbytes % LINE)]
    if len(parts) < 16:
        _send_all(to, [memoryview(part) for part in parts if len(part)])
    else:
        to.sendall(b"".join(parts))
    return HEAD.size + len(text) + size


def _send_all(to: socket.socket, parts: list[memoryview]) -> None:
    while parts:
        n = to.sendmsg(parts)
        while parts and n >= len(parts[0]):
            n -= len(parts.pop(0))
        if n:
            parts[0] = parts[0][n:]


def receive(source: socket.socket) -> tuple[Any, int]:
    """What the other side sent, and its bytes; EOFError where it has gone."""
    n_text, n_arrays = HEAD.unpack(_read(source, HEAD.size))
    if n_text > MOST_JSON:
        raise OSError("A message was not understood.")
    text, memory = _read(source, n_text), _read(source, n_arrays)

    def take(each: dict[str, Any]) -> Any:
        if ARRAY not in each:
            return each
        kind, shape, start = each[ARRAY]
        return np.ndarray(shape, np.dtype(kind), memory, start)  # refuses what is not inside

    value = json.loads(bytes(text), object_hook=take)
    return value, HEAD.size + n_text + n_arrays


def _read(source: socket.socket, n: int) -> memoryview:
    """The next ``n`` bytes, which begin at a multiple of LINE."""
    memory = np.empty(n + LINE, np.uint8)
    skipped = -memory.ctypes.data % LINE
    view: memoryview = memory.data[skipped : skipped + n]
    at = 0
    while at < n:
        got = source.recv_into(view[at:], n - at, socket.MSG_WAITALL)
        if not got:
            raise EOFError("The other side of a socket has gone.")
        at += got
    return view


def _settle(connection: socket.socket) -> None:
    """Send at once, wait as long as it takes, but notice within a minute if the host is gone."""
    connection.settimeout(None)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", 15), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


# -- the two sides ------------------------------------------------------------------------------


class Line:
    """The driver's side: one question at a time, one answer each."""

    def __init__(self, place: tuple[str, int], token: bytes) -> None:
        self._socket = socket.create_connection(place, timeout=CONNECTED_WITHIN)
        try:
            self._socket.sendall(token)
            receive(self._socket)  # it is the share that answers, and the token is right
            _settle(self._socket)
        except BaseException:
            self._socket.close()
            raise

    def ask(self, method: str, args: tuple[Any, ...]) -> int:
        """Send a question; its bytes."""
        return send(self._socket, [method, args])

    def answer(self) -> tuple[Any, int]:
        """The answer to the last question, and its bytes."""
        try:
            (is_answer, value), n_bytes = receive(self._socket)
        except EOFError as error:
            raise ConnectionResetError(str(error)) from None
        if not is_answer:
            raise AnswerError
        return value, n_bytes

    def close(self) -> None:
        """End the line; the share's thread ends with it."""
        self._socket.close()


class Answers:
    """A share's side: a thread that waits for the driver and answers until it goes."""

    def __init__(self, ask: Callable[..., Any], address: str, token: bytes) -> None:
        host = urlsplit(address).hostname or ""
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._ask, self._token = ask, token
        self._listener = socket.create_server((host, 0), family=family, backlog=4)
        self.place: tuple[str, int] = self._listener.getsockname()[:2]
        self.error: BaseException | None = None
        threading.Thread(target=self._serve, name="treewright-share", daemon=True).start()

    def _serve(self) -> None:
        try:
            connection = self._wait()
            if connection is not None:
                with connection:
                    self._answer(connection)
        except (OSError, EOFError):
            pass  # the driver has gone, with or without a word
        finally:
            self._listener.close()
            del self._ask

    def _wait(self) -> socket.socket | None:
        """The driver's connection; strangers are sent away."""
        end = time.monotonic() + CONNECTED_WITHIN
        with self._listener:
            while time.monotonic() < end:
                self._listener.settimeout(max(end - time.monotonic(), 0.01))
                connection, _ = self._listener.accept()
                try:
                    connection.settimeout(1.0)
                    if hmac.compare_digest(bytes(_read(connection, TOKEN_BYTES)), self._token):
                        send(connection, None)
                        _settle(connection)
                        return connection
                except (OSError, EOFError):
                    pass
                connection.close()
        return None

    def _answer(self, connection: socket.socket) -> None:
        while True:
            (method, args), _ = receive(connection)
            try:
                answer = [True, self._ask(method, *args)]
            except Exception as error:
                self.error = error
                answer = [False, None]
            send(connection, answer)
            del args, answer  # nothing of a question stays while the next is awaited
