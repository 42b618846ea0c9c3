r"""ARFF, dense and sparse, as Weka reads it: the part that Mulan's and MEKA's files share.

A block of plain lines is split and converted as a whole. A block that has anything else in it (quotes, comments,
a fault) is read again line by line, by a slower and exact reader, which finds the place of the fault.

- Values are separated by commas or blanks; quoted by ``'`` or ``"``, with backslashes; ``%`` begins a comment.
- ``?`` is a missing value. What a sparse row leaves out is 0, and of a nominal attribute the first value.
- What liac-arff and SciPy have not: the column of a fault, a comment behind a row, names with escaped quotes, sparse
  rows (SciPy), an error for an index that comes twice (liac-arff).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np
import scipy.sparse as sp

from smtl.datasets.arff_header import Header, read_header
from smtl.datasets.arff_rows import ArffRows, converter
from smtl.datasets.dataset import Dataset
from smtl.datasets.errors import at_most
from smtl.datasets.files import Source, stem, text_blocks
from smtl.datasets.limits import most_bytes
from smtl.datasets.nominal import Nominal, check_nominal, encode

__all__ = ["read_arff"]


def read_arff(
    path: Source,
    choose: Callable[[Header], Sequence[int]],
    nominal: Nominal,
    drop: Collection[str],
    max_bytes: int | None,
) -> Dataset:
    """Read an ARFF file.

    Parameters
    ----------
    path : path-like
        The file.
    choose : callable
        Returns the positions of the labels, in the order of the result.
    nominal : {"one-hot", "ordinal"}
        What becomes of nominal features.
    drop : collection of str
        Names of attributes to leave out.
    max_bytes : int, optional
        The most bytes that the text may have.

    Returns
    -------
    Dataset
        Its features and labels.
    """
    check_nominal(nominal)
    source = text_blocks(path, max_bytes)
    header, rest = read_header(path, source)
    labels = choose(header)
    attributes = header.attributes
    unknown = set(drop) - {attribute.name for attribute in attributes}
    if unknown:
        raise ValueError(f"drop must name attributes of {path}, got {sorted(unknown)} instead.")
    dropped = {j for j, attribute in enumerate(attributes) if attribute.name in drop}
    asked = set(labels)
    convert = [converter(path, attribute, j in dropped, j in asked) for j, attribute in enumerate(attributes)]
    table = ArffRows(path, attributes, convert)
    for line, text in rest:
        table.add(line, text)
    T = table.finish(header.line)
    limit = most_bytes(path, max_bytes)
    features = sorted(set(range(len(attributes))) - asked - dropped)
    at_most(T.shape[0] * len(labels), limit, "labels", "pass a larger max_bytes", path)
    Y, label_names = encode(T, attributes, labels, "ordinal", 8 * limit, path)
    X, feature_names = encode(T, attributes, features, nominal, limit, path)
    Y = Y.toarray() if sp.issparse(Y) else Y
    return Dataset(X, Y if np.isnan(Y).any() else Y.astype(np.int8), feature_names, label_names, name=stem(path))
