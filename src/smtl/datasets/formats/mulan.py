"""Mulan: ARFF, and XML that names the labels."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any
from xml.sax import SAXException, SAXParseException
from xml.sax.handler import ContentHandler
from xml.sax.saxutils import quoteattr

import scipy.sparse as sp

from smtl.datasets.arff import read_arff
from smtl.datasets.arff_header import Header
from smtl.datasets.dataset import Dataset
from smtl.datasets.errors import DatasetError, shown
from smtl.datasets.files import Source, blocks, replacing, stem
from smtl.datasets.formats.base import Beginning, Format
from smtl.datasets.nominal import Nominal
from smtl.datasets.rows import feature_rows, label_rows, unique, writable_names
from smtl.extras import of_extra

__all__ = ["Mulan", "find_xml", "is_arff", "read_mulan", "write_mulan"]

_NAMESPACE = "http://mulan.sourceforge.net/labels"
_PART = re.compile(r"[-_](train|test)$", re.IGNORECASE)
# Characters that XML 1.0 has no way to write.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ESCAPES = str.maketrans({c: f"\\{c}" for c in "'\"\\%"} | {"\n": "\\n", "\r": "\\r", "\t": "\\t"})


def read_mulan(
    arff: Source,
    xml: Source | None = None,
    *,
    nominal: Nominal = "one-hot",
    drop: Collection[str] = (),
    max_bytes: int | None = None,
) -> Dataset:
    r"""Read a file of Mulan's: ARFF, with an XML file that names the labels.

    Labels come in the order of the XML file, features in that of the ARFF file.

    Parameters
    ----------
    arff : path-like
        The data, plain, gzip or bzip2.
    xml : path-like, optional
        The names of the labels. By default the XML file of the same name, without ``-train`` or ``-test`` if need be,
        or the only one in the folder.
    nominal : {"one-hot", "ordinal"}, default="one-hot"
        Whether a nominal feature becomes one 0/1 column for each of its values or one column with the value's
        position. One with the values 0 and 1 stays as it is.
    drop : collection of str, default=()
        Names of attributes to leave out, such as strings.
    max_bytes : int, optional
        The most bytes that the text, and an array made of it, may have. By default what
        `smtl.datasets.limits` says for its size.

    Returns
    -------
    Dataset
        Its features and labels.

    Raises
    ------
    DatasetError
        With the place of the first fault.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "birds.arff")
    ...     _ = path.write_text("@relation birds\n@attribute size {small,big}\n@attribute sings {0,1}\n@data\nbig,1\n")
    ...     _ = path.with_suffix(".xml").write_text('<labels><label name="sings"/></labels>')
    ...     data = read_mulan(path)
    >>> data.feature_names, data.X, data.Y
    (('size=small', 'size=big'), array([[0., 1.]]), array([[1]], dtype=int8))
    """
    xml = find_xml(arff) if xml is None else xml
    labels = _read_xml(xml, max_bytes)

    def choose(header: Header) -> list[int]:
        position = {attribute.name: j for j, attribute in enumerate(header.attributes)}
        for name, (line, column) in labels.items():
            if name not in position:
                raise DatasetError(
                    f"label {shown(name)} must be an attribute of {Path(arff).name}, got none of that name; "
                    "take the XML file that belongs to it.",
                    xml,
                    line,
                    column,
                )
        return [position[name] for name in labels]

    return read_arff(arff, choose, nominal, drop, max_bytes)


def find_xml(arff: Source) -> Path:
    """Return the file that names the labels of a Mulan ARFF file."""
    if Path(arff).is_dir():
        raise DatasetError("must be a file, got a directory instead; name one of its files.", arff)
    folder, name = Path(arff).parent, stem(arff)
    places = dict.fromkeys([folder / f"{name}.xml", folder / f"{_PART.sub('', name)}.xml"])
    found = [place for place in places if place.is_file()] or sorted(folder.glob("*.xml"))
    if len(found) == 1 or (found and found[0] in places):
        return found[0]
    looked = " or ".join(str(place) for place in places)
    raise DatasetError(
        f"an XML file must name the labels: {looked}, or the only one in the folder, got {len(found)} there; "
        "pass xml=, or use read_meka if the relation name holds -C.",
        arff,
    )


class _Labels(ContentHandler):
    """The names in all <label> elements, in document order, with their places."""

    def __init__(self, path: Source) -> None:
        super().__init__()
        self.path, self.names, self.n_elements = path, dict[str, tuple[int, int]](), 0

    def setDocumentLocator(self, locator: Any) -> None:
        self.locator = locator

    def startElement(self, name: str, attrs: Any) -> None:
        place = (self.locator.getLineNumber(), self.locator.getColumnNumber() + 1)
        local = name.rpartition(":")[2]
        self.n_elements += 1
        if self.n_elements == 1:
            if local != "labels":
                raise DatasetError(
                    f"the XML's first element must be <labels>, got <{name}> instead.", self.path, *place
                )
        elif local == "label":
            label = attrs.get("name")
            if label is None:
                raise DatasetError("a <label> must have a name, got none.", self.path, *place)
            if label in self.names:
                raise DatasetError(f"names of labels must differ, got {shown(label)} again.", self.path, *place)
            self.names[label] = place


def _read_xml(path: Source, max_bytes: int | None) -> dict[str, tuple[int, int]]:
    """Return the names of the labels and their places; entities are refused, be they internal or external."""
    with of_extra("tables", "XML files"):
        from defusedxml.common import DefusedXmlException
        from defusedxml.sax import parseString

    text = b"\n".join(block for _, block in blocks(path, max_bytes))
    handler = _Labels(path)
    try:
        parseString(text, handler)
    except DefusedXmlException as error:
        raise DatasetError(
            f"the XML must not declare entities or refer to other files, got {type(error).__name__}; "
            "write the names of the labels out.",
            path,
        ) from error
    except SAXParseException as error:
        raise DatasetError(
            f"must be well-formed XML, got a fault: {error.getMessage()}.",
            path,
            error.getLineNumber(),
            (error.getColumnNumber() or 0) + 1,
        ) from error
    except (SAXException, LookupError, ValueError) as error:
        if isinstance(error, DatasetError):
            raise
        # An encoding that is not known: the first line names it.
        raise DatasetError(f"must be well-formed XML, got a fault: {error}.", path, 1, 1) from error
    if not handler.names:
        raise DatasetError("the XML must name at least one label, got none.", path)
    return handler.names


def write_mulan(data: Dataset, arff: Source, xml: Source | None = None) -> None:
    """Write a data set as Mulan's ARFF and XML files; `read_mulan` reads back the same.

    Each file takes its place only once it is whole.

    Parameters
    ----------
    data : Dataset
        What to write: sparse rows if its X is sparse.
    arff : path-like
        The file for the data, compressed if its suffix is ``.gz`` or ``.bz2``.
    xml : path-like, optional
        The file for the names of the labels. By default that of the same name with the suffix ``.xml``.

    Examples
    --------
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> data = Dataset(np.array([[0.1, 2.0]]), np.array([[1]]), ("a", "b, c"), ("yes?",))
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "small.arff")
    ...     write_mulan(data, path)
    ...     print(path.read_text())
    ...     read_mulan(path).feature_names
    @relation ''
    <BLANKLINE>
    @attribute 'a' numeric
    @attribute 'b, c' numeric
    @attribute 'yes?' {0,1}
    <BLANKLINE>
    @data
    0.1,2.0,1
    <BLANKLINE>
    ('a', 'b, c')
    """
    if data.tasks is not None:
        raise ValueError("Mulan's files hold labels of shared rows, got tasks with rows of their own; write CSV.")
    features, labels = writable_names(data)
    unique([*features, *labels], "names of features and labels")
    for label in labels:
        if _NOT_XML.search(label):
            raise ValueError(
                f"names of labels must have characters that XML can hold, got {label!r} instead; rename it."
            )
    xml = Path(arff).with_name(f"{stem(arff)}.xml") if xml is None else xml
    if Path(xml) == Path(arff):
        raise ValueError(f"xml must be another file than arff, got {str(xml)!r} for both.")
    with replacing(xml) as names, replacing(arff) as file:
        names.write(f'<?xml version="1.0" encoding="utf-8"?>\n<labels xmlns="{_NAMESPACE}">\n')
        names.writelines(f"<label name={quoteattr(label)}></label>\n" for label in labels)
        names.write("</labels>\n")
        # -C and a number would make a MEKA file of it.
        file.write(f"@relation {_quoted(data.name.replace('-C', '- C').replace('-c', '- c'))}\n\n")
        file.writelines(f"@attribute {_quoted(name)} numeric\n" for name in features)
        file.writelines(f"@attribute {_quoted(name)} {{0,1}}\n" for name in labels)
        file.write("\n@data\n")
        file.writelines(_sparse_rows(data) if sp.issparse(data.X) else _dense_rows(data))


def _quoted(name: str) -> str:
    return f"'{name.translate(_ESCAPES)}'"


def _dense_rows(data: Dataset) -> Iterator[str]:
    for row, labels in zip(feature_rows(data.X, "?", "Infinity"), label_rows(data.Y), strict=True):
        yield ",".join([text for _, text in row] + [label or "?" for label in labels]) + "\n"


def _sparse_rows(data: Dataset) -> Iterator[str]:
    d = data.X.shape[1]
    for row, labels in zip(feature_rows(data.X, "?", "Infinity"), label_rows(data.Y), strict=True):
        entries = [*row, *((d + j, label or "?") for j, label in enumerate(labels) if label != "0")]
        yield "{" + ",".join(f"{j} {text}" for j, text in entries) + "}\n"


class Mulan(Format):
    """ARFF that says nothing of labels: an XML file beside it does."""

    name, title, order = "mulan", "Mulan", 50
    written = (".arff",)

    read = staticmethod(read_mulan)

    def begins(self, beginning: Beginning) -> bool:  # noqa: D102
        return is_arff(beginning)

    def write(self, data: Dataset, path: Source) -> None:  # noqa: D102
        write_mulan(data, path)


def is_arff(beginning: Beginning) -> bool:
    """Return whether a file is ARFF, whoever names its labels."""
    return beginning.words.startswith("@") or beginning.suffix == ".arff"
