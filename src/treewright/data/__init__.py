"""Data: schema, table, readers; the only code that knows frames and files.

    frame ── encode ──► Table          file ── read_table ──► Arrow table ── encode ──► Table

``frames`` reads pandas, polars, Arrow, numpy, dicts and lists into raw columns, ``columns``
says what each one is, ``categories`` matches values, ``encode`` puts a Table together.
``encode`` itself is imported from its module, whose name it shares.
"""

from treewright.data.frames import feature_names, is_frame
from treewright.data.readers import read_table
from treewright.data.schema import KINDS, Feature, Kind, Schema, Target
from treewright.data.table import Table
from treewright.data.target import class_codes, numeric_target

__all__ = [
    "KINDS",
    "Feature",
    "Kind",
    "Schema",
    "Table",
    "Target",
    "class_codes",
    "feature_names",
    "is_frame",
    "numeric_target",
    "read_table",
]
