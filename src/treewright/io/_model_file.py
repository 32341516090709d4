"""Saving and loading models without pickle.

A file holds one value: a tree or an estimator, built of the values of :mod:`._values` in the
container of :mod:`._container`. Nothing in a file is ever executed; classes are looked up by
name among treewright's public estimators only. The checksum guards against accidents, the
checks of structure against malice, so a file from a stranger costs at most an error.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import treewright
from treewright.errors import ModelFileError, ParameterError, SpaceError
from treewright.io._atomic import write_atomically
from treewright.io._container import PREAMBLE, check_preamble, pack, unpack
from treewright.io._structures import STRUCTURES, is_fitted, is_ours
from treewright.io._values import Decoder, Encoder
from treewright.rules import RuleSet
from treewright.tree.tree import Tree

__all__ = ["load", "save"]

_MODELS = (Tree, RuleSet)
"""What a file may hold beside an estimator."""


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator, a tree or a rule set to one file.

    The file appears complete or not at all: an error or a crash on the way leaves an older
    file of that name untouched. The same model gives the same bytes.

    Parameters
    ----------
    model : estimator, Tree or RuleSet
        A fitted estimator of treewright, its ``tree_`` or its ``rule_set()``. Parameters may be
        None, bool, numbers, str, lists, tuples, dicts, numpy arrays and other treewright
        estimators; functions, generators of random numbers and estimators of other packages are
        refused.
    path : str or path-like
        Where to write it; any suffix will do.

    Raises
    ------
    ModelFileError
        If the model holds something that a file cannot, or the file cannot be written.

    See Also
    --------
    load : Read the file again.

    Examples
    --------
    >>> import treewright
    >>> from sklearn.datasets import load_iris
    >>> model = treewright.CARTClassifier(max_depth=2).fit(*load_iris(return_X_y=True))
    >>> treewright.save(model, "iris.treewright")
    >>> treewright.load("iris.treewright")
    CARTClassifier(max_depth=2)
    """
    name = _file_name(path)
    if type(model) not in _MODELS and not is_ours(model):
        raise ModelFileError(
            f"treewright.save writes treewright's own estimators, trees and rule sets, got "
            f"{type(model).__name__} for {name!r}; save other models by their own means."
        )
    if type(model) not in _MODELS and not is_fitted(model):
        raise ModelFileError(
            f"{type(model).__name__} is not fitted yet and cannot be saved to {name!r}; "
            "call fit first."
        )
    try:
        write_atomically(name, _pieces(model, name))
    except SpaceError:
        raise
    except OSError as error:
        raise ModelFileError(
            f"Cannot write {name!r}: {_reason(error)}; choose another path."
        ) from error


def _pieces(model: Any, name: str) -> Iterator[bytes | memoryview]:
    """The bytes of the file, after everything that could be refused was looked at."""
    encoder = Encoder(STRUCTURES)
    try:
        encoded = encoder.encode(model)
        return pack({"treewright": treewright.__version__, "model": encoded}, encoder.arrays)
    except ModelFileError as error:
        raise ModelFileError(
            f"{type(model).__name__} cannot be saved to {name!r}: {_sentence(error)}"
        ) from error


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that :func:`save` wrote.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    estimator, Tree or RuleSet
        The same kind of model that was saved, with the same predictions.

    Raises
    ------
    ModelFileError
        If there is no such file, if it is damaged or no model file, if its content is
        impossible, or if a newer treewright wrote it.

    See Also
    --------
    save : Write such a file.

    Examples
    --------
    >>> import treewright
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = treewright.CARTClassifier(max_depth=2).fit(X, y)
    >>> treewright.save(model, "iris.treewright")
    >>> treewright.load("iris.treewright").predict(X[:3])
    array([0, 0, 0])
    """
    name = _file_name(path)
    try:
        header, arrays = unpack(_read(name))
        if set(header) != {"treewright", "model"} or not isinstance(header["treewright"], str):
            raise ModelFileError("its header lacks the model")
        decoder = Decoder(arrays, STRUCTURES)
        model = decoder.decode(header["model"])
        decoder.finish()
        if type(model) not in _MODELS and not is_ours(model):
            raise ModelFileError("it holds no model")
    except OSError as error:
        raise ModelFileError(f"Cannot read {name!r}: {_reason(error)}.") from error
    except ModelFileError as error:
        raise ModelFileError(
            f"The model file {name!r} cannot be loaded: {_sentence(error)}"
        ) from error
    except MemoryError as error:
        raise ModelFileError(f"The model file {name!r} needs more memory than there is.") from error
    except Exception as error:
        # Estimators restore themselves from what an attacker may have made; whatever goes
        # wrong there has the file as its cause.
        raise ModelFileError(
            f"The model file {name!r} cannot be loaded: its content does not fit together "
            f"({type(error).__name__})."
        ) from error
    return model


def _file_name(path: str | os.PathLike[str]) -> str:
    if isinstance(path, (str, os.PathLike)):
        name = os.fspath(path)
        if isinstance(name, str) and name and "\0" not in name:
            return name
    raise ParameterError(
        f"path must be a file name as str or pathlib.Path, got {type(path).__name__} {path!r:.60}."
    )


def _read(name: str) -> NDArray[np.uint8]:
    """The whole file in one buffer, of which the arrays become views."""
    mode = os.stat(name).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError("it is a directory")
    if not stat.S_ISREG(mode):
        raise OSError("it is not a regular file")  # a pipe could make us wait for ever
    with open(name, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        # a large file of another kind is refused before it is read
        check_preamble(file.read(PREAMBLE.size), size)
        file.seek(0)
        buffer = np.empty(size, np.uint8)
        if file.readinto(buffer.data) != size:
            raise ModelFileError("it became shorter while it was read")
    return buffer


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).rstrip(".")


def _sentence(error: Exception) -> str:
    """The message of a check as the end of a sentence that names the file."""
    # the checks of a tree cannot know whether it comes from a file or goes into one
    message = str(error).removesuffix("Save the model again from its source.").rstrip(". ")
    return f"{message[:1].lower()}{message[1:]}."
