"""Load forged model files: ``python -m tests.io.load_forged FOLDER``, in a process of its own.

Every file is intact but for one integer; the process may take little memory beyond what it had.
Prints the name of a file before it is loaded, and after it what went wrong, if anything did.
"""

from __future__ import annotations

import json
import resource
import struct
import sys
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import treewright
from tests.io.model_makers import put_together, take_apart
from treewright.errors import ModelFileError, TreewrightError

ROOM = 100 << 20
VALUES = (10**8, 10**12, -1, 0)
READERS = {
    ".treewright": treewright.load,
    ".txt": treewright.from_lightgbm,
    ".json": treewright.from_xgboost,
    ".ubj": treewright.from_xgboost,
    ".cat": treewright.from_catboost,
}


def integers(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where the integers of a document are."""
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from integers(entry, (*path, key))
    elif isinstance(value, list):
        for key, entry in enumerate(value):
            yield from integers(entry, (*path, key))
    elif type(value) is int or (isinstance(value, str) and value.isdigit()):
        yield path


def forged(document: Any) -> Iterator[tuple[str, Any]]:
    """The document with one integer changed, and which; of those in alike places the first."""
    seen = set()
    for path in integers(document):
        pattern = tuple(key for key in path if not isinstance(key, int))[-5:]
        if pattern in seen:
            continue
        seen.add(pattern)
        parent = document
        for key in path[:-1]:
            parent = parent[key]
        before = parent[path[-1]]
        for value in VALUES:
            parent[path[-1]] = value if type(before) is int else str(value)
            yield f"{'/'.join(map(str, path))}={value}", document
        parent[path[-1]] = before


def documents(path: Path) -> Iterator[tuple[str, bytes]]:
    """The bytes of forged files."""
    data = path.read_bytes()
    if path.suffix == ".treewright":
        header, arrays = take_apart(data)
        for name, changed in forged(header):
            yield name, put_together(changed, arrays)
    elif path.suffix == ".txt":
        lines = [line.partition("=") for line in data.decode().split("\n")]
        words = [{key + sign: value.split(" ")} for key, sign, value in lines]
        for name, changed in forged(words):
            text = [key + " ".join(value) for line in changed for key, value in line.items()]
            yield name, "\n".join(text).encode()
    else:
        for name, changed in forged(json.loads(data)):
            yield name, ubjson(changed) if path.suffix == ".ubj" else json.dumps(changed).encode()


def ubjson(value: Any) -> bytes:
    """A value as UBJSON."""
    if isinstance(value, bool):
        return b"T" if value else b"F"
    if isinstance(value, int):
        return b"L" + value.to_bytes(8, "big", signed=True)
    if isinstance(value, float):
        return b"D" + struct.pack(">d", value)
    if isinstance(value, str):
        return b"S" + ubjson(len(value.encode())) + value.encode()
    if isinstance(value, list):
        return b"[" + b"".join(map(ubjson, value)) + b"]"
    pairs = (ubjson(key)[1:] + ubjson(entry) for key, entry in value.items())
    return b"{" + b"".join(pairs) + b"}"


def fault(path: Path) -> str:
    """What is wrong with how loading ended; empty if nothing is."""
    with open("/proc/self/statm") as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + ROOM, resource.RLIM_INFINITY))
    try:
        READERS[path.suffix](path)
    except TreewrightError as error:
        text = str(error)
        is_memory = isinstance(error, ModelFileError) and ("emory" in text or "allocate" in text)
        return text if is_memory or "\n" in text else ""
    except BaseException as error:
        return f"{type(error).__name__}: {traceback.format_exc()}"
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return ""


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for path in sorted(Path(sys.argv[1]).iterdir()):
        READERS[path.suffix](path)
        for name, data in documents(path):
            changed = path.with_name(f"forged{path.suffix}")
            changed.write_bytes(data)
            print(path.name, name, end=" ", flush=True)
            print(json.dumps(fault(changed)), flush=True)
            changed.unlink()
