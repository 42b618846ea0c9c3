"""The file of a model: a zip archive, as skops writes it, whose comment seals every byte before it.

The archive has the schema, the arrays, and ``smtl.json`` with what is known about the model. Nothing in it is
compressed, so that it cannot grow when it is read. The seal is a SHA-256 digest: it tells a file that was cut or
changed, not who wrote it.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import re
import sys
import zipfile
from pathlib import Path
from typing import Any

from smtl.datasets.errors import named
from smtl.model.errors import ModelError
from smtl.model.schema import Refused, check_schema
from smtl.whole_file import whole_file

__all__ = ["METADATA", "pack", "read_archive", "unpack", "write_whole"]

METADATA, _SCHEMA = "smtl.json", "schema.json"
_SEAL = b"smtl model, SHA-256 "
_DIGEST = 64
_ARRAY = re.compile(r"[0-9]{1,30}\.npy")
# What other programs' files begin with, to say what was got.
_OTHERS = {
    b"\x80": "a pickle",
    b"\x1f\x8b": "a gzip file",
    b"BZ": "a bzip2 file",
    b"\x93NUMPY": "a NumPy array",
    b"\x89HDF": "an HDF5 file",
    b"PAR1": "a Parquet file",
    **dict.fromkeys((b"x\x01", b"x^", b"x\x9c", b"x\xda"), "a zlib stream (joblib writes them)"),
    b"PK": "a zip archive (a skops file, perhaps) that smtl has not written, or that was cut short",
}
_MOST_DIMENSIONS = 4  # of an array
# What is read into memory at the most.
MOST_BYTES = 2**32


def pack(skops_file: bytes, metadata: dict[str, Any]) -> bytes:
    """Return the content of a model's file.

    Parameters
    ----------
    skops_file : bytes
        What skops writes.
    metadata : dict
        What is known about the model, plain JSON.

    Returns
    -------
    bytes
        The same archive with the metadata and the seal.
    """
    buffer = io.BytesIO(skops_file)
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_STORED) as archive:
        archive.writestr(METADATA, json.dumps(metadata, ensure_ascii=False, allow_nan=False))
        archive.comment = _SEAL + b"0" * _DIGEST
    content = buffer.getvalue()[:-_DIGEST]
    return content + hashlib.sha256(content).hexdigest().encode()


def read_archive(path: Path) -> bytes:
    """Return the content of a file whose seal is whole; raise `ModelError` for any other file."""
    if path.is_dir():
        raise ModelError("must be a model's file, got a directory instead.", path)
    if path.stat().st_size > MOST_BYTES:
        raise ModelError(f"must have at most {MOST_BYTES:,} bytes, got {path.stat().st_size:,} instead.", path)
    with named(path):
        content = path.read_bytes()
    if content[-_DIGEST - len(_SEAL) : -_DIGEST] != _SEAL or not content.startswith(b"PK"):
        what = "an empty file" if not content else "another file"
        what = next((name for magic, name in _OTHERS.items() if content.startswith(magic)), what)
        raise ModelError(
            f"must be a model that smtl fit or save_model has written, got {what} instead; it was not loaded.", path
        )
    if hashlib.sha256(content[:-_DIGEST]).hexdigest().encode() != content[-_DIGEST:]:
        raise ModelError("must be as it was written, got a file that was changed or damaged; get it again.", path)
    return content


def unpack(content: bytes, path: Path) -> dict[str, Any]:
    """Return the metadata of a model, once all that its file holds is known to be harmless.

    Parameters
    ----------
    content : bytes
        What `read_archive` returns. The seal is not asked again, nor is it relied on here.
    path : Path
        The file, for errors.

    Returns
    -------
    dict
        The metadata.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            names = [entry.filename for entry in entries]
            _check_entries(entries, len(content))
            arrays = {name: archive.read(name) for name in names if name.endswith(".npy")}
            for array in arrays.values():
                _check_array(array)
            check_schema(_json(archive.read(_SCHEMA)), arrays)
            metadata = _json(archive.read(METADATA))
        if not isinstance(metadata, dict):
            raise Refused("its metadata are no dictionary")
    except Exception as error:  # what the readers of damaged archives and arrays raise is not documented
        reason = error if isinstance(error, Refused) else f"it is damaged ({type(error).__name__}: {error})"
        raise ModelError(f"must hold a model of smtl and nothing else; {reason}. It was not loaded.", path) from error
    return metadata


def _json(content: bytes) -> Any:
    """Return what JSON says, as the standard has it: no NaN, and no name twice."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise Refused("a name occurs twice in its JSON")
        return found

    def no_number(word: str) -> Any:
        raise Refused(f"its JSON has {word}, which is no number")

    return json.loads(content.decode("utf-8"), object_pairs_hook=once, parse_constant=no_number)


def _check_entries(entries: list[zipfile.ZipInfo], n_bytes: int) -> None:
    names = [entry.filename for entry in entries]
    for name in names:
        if name not in (_SCHEMA, METADATA) and not _ARRAY.fullmatch(name):
            raise Refused(f"it has a file {name[:120]!r} in it")
    if len(set(names)) < len(names):
        raise Refused("it has two files of one name in it")
    for name in (_SCHEMA, METADATA):
        if name not in names:
            raise Refused(f"it has no {name} in it")
    if any(entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1 for entry in entries):
        raise Refused("a part of it is compressed or encrypted")
    # Entries that lie over one another could add up to more than the file has.
    if sum(max(entry.file_size, entry.compress_size) for entry in entries) > n_bytes:
        raise Refused("its parts claim to be larger than the whole")


def _check_array(array: bytes) -> None:
    """Refuse what is no array of numbers or text, and headers that claim more than there is."""
    import numpy as np

    stream = io.BytesIO(array)
    version = np.lib.format.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise Refused(f"it has an array of format {version}")
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(stream)
    if len(shape) > _MOST_DIMENSIONS or any(n < 0 for n in shape):
        raise Refused("an array in it has a shape that no model needs")
    n_items = math.prod(shape)
    if dtype.kind not in "biufU" or dtype.names is not None or dtype.hasobject:
        raise Refused(f"it has an array of {str(dtype)[:60]}")
    if n_items * dtype.itemsize != len(array) - stream.tell():
        raise Refused("an array in it is not of the size that it says")
    if dtype.kind == "U" and stream.tell() < len(array):
        # NumPy makes text of whatever stands there, and Python goes wrong on characters that there cannot be.
        codes = np.frombuffer(array, dtype=np.dtype(np.uint32).newbyteorder(dtype.byteorder), offset=stream.tell())
        if codes.max() > sys.maxunicode:
            raise Refused("an array in it has characters that there cannot be")


def write_whole(content: bytes, path: Path) -> None:
    """Write a file that takes its place only once it is whole."""
    with whole_file(path) as part, open(part, "xb") as file:
        file.write(content)
