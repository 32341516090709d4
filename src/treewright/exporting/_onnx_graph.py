"""A small builder of ONNX graphs: operators return the name of what they give."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.errors import ParameterError

__all__ = ["Graph", "load_onnx"]

PREFIX = "treewright/"


def load_onnx() -> Any:
    """The package onnx, or how to get it."""
    try:
        import onnx

        return onnx
    except ImportError:
        raise ParameterError(
            'The format "onnx" needs the package onnx; install it with '
            "pip install 'treewright[onnx]'."
        ) from None


class Graph:
    """Operators, constants, inputs and outputs in the order in which they were added."""

    def __init__(self) -> None:
        self.onnx = load_onnx()
        self.nodes: list[Any] = []
        self.constants: dict[tuple[Any, ...], str] = {}
        self.tensors: list[Any] = []

    def name(self) -> str:
        """A new name."""
        return f"{PREFIX}{len(self.nodes)}"

    def op(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """An operator with one output."""
        out = self.name()
        made = self.onnx.helper.make_node(kind, list(inputs), [out], domain=domain, **attributes)
        self.nodes.append(made)
        return out

    def tensor(self, array: Any, name: str = "") -> Any:
        """An array, or texts, as a tensor of ONNX."""
        array = np.asarray(array)
        if array.dtype.kind in "OU":
            kinds = self.onnx.TensorProto
            data = [str(text).encode() for text in array.ravel()]  # make_tensor cuts NUL off
            return kinds(name=name, data_type=kinds.STRING, dims=array.shape, string_data=data)
        return self.onnx.numpy_helper.from_array(np.ascontiguousarray(array), name)

    def constant(self, array: Any) -> str:
        """A constant; equal ones are kept once."""
        array = np.asarray(array)
        content = tuple(array.ravel()) if array.dtype.kind in "OU" else array.tobytes()
        key = (array.dtype.str, array.shape, content)
        if key not in self.constants:
            name = f"{PREFIX}constant{len(self.constants)}"
            self.constants[key] = name
            self.tensors.append(self.tensor(array, name))
        return self.constants[key]

    def number(self, value: float) -> str:
        """A constant double."""
        return self.constant(np.float64(value))

    def ints(self, values: Any) -> str:
        """A constant of 64-bit integers."""
        return self.constant(np.asarray(values, np.int64))

    # What is used often; onnxruntime drops terms and factors that do nothing in single precision

    def shifted(self, value: str, by: Any) -> str:
        """Plus constants, as ``Sum``, of which no term is dropped."""
        return self.op("Sum", value, self.constant(np.asarray(by, np.float64)))

    def scaled(self, value: str, by: float) -> str:
        """Times a constant."""
        if by != 1.0 and np.float32(by) == 1.0:
            return self.op("Mul", self.op("Mul", value, self.number(2.0 * by)), self.number(0.5))
        return value if by == 1.0 else self.op("Mul", value, self.number(by))

    def double(self, value: str) -> str:
        """As doubles."""
        return self.op("Cast", value, to=self.onnx.TensorProto.DOUBLE)

    def integer(self, value: str) -> str:
        """As integers of 64 bits."""
        return self.op("Cast", value, to=self.onnx.TensorProto.INT64)

    def take(self, value: str, columns: Any) -> str:
        """Some columns."""
        return self.op("Gather", value, self.ints(columns), axis=1)

    def where(self, condition: str, yes: str, no: str) -> str:
        """A choice for each entry."""
        return self.op("Where", condition, yes, no)

    def total(self, value: str, axis: int, keep: bool = False) -> str:
        """Sum along an axis."""
        return self.op("ReduceSum", value, self.ints([axis]), keepdims=int(keep))

    def sums(self, value: str, weights: NDArray[np.float64]) -> str:
        """Sums of the columns times a column of ``weights`` each.

        From left to right, each product rounded, as models add: MatMul fuses and reorders the two,
        which shows where terms cancel and where classes tie.
        """
        each = self.op("Unsqueeze", value, self.ints([2]))
        added = self.op("CumSum", self.op("Mul", each, self.constant(weights)), self.ints(1))
        return self.op("Squeeze", self.take(added, [len(weights) - 1]), self.ints([1]))

    def join(self, parts: list[str]) -> str:
        """Side by side."""
        return parts[0] if len(parts) == 1 else self.op("Concat", *parts, axis=1)

    def like(self, value: str, row: NDArray[np.float64]) -> str:
        """A row of constants, repeated for every row of ``value``."""
        rows = self.op("Shape", value, start=0, end=1)
        shape = self.op("Concat", rows, self.ints([len(row)]), axis=0)
        return self.op("Expand", self.constant(np.asarray(row, np.float64)[None, :]), shape)
