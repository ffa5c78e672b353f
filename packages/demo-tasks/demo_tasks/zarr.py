"""The part of the Zarr format (version 2) that the tasks need: groups, and arrays of whole chunks.

    array = create_array("image/0", shape=(2, 3, 192, 192), chunks=(1, 1, 192, 192), dtype="<u2")
    write_chunk(array, (0, 2, 0, 0), plane)
    plane = read_chunk(open_array("image/0"), (0, 2, 0, 0))

A chunk is a flat `array.array`. Compressors are those of the standard library: none, or zlib.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
import zlib
from array import array
from pathlib import Path
from typing import NamedTuple

from demo_tasks.arguments import Refusal

TYPECODES = {"|u1": "B", "<u2": "H", "<u4": "I", "<f8": "d"}


class Array(NamedTuple):
    path: Path
    shape: tuple
    chunks: tuple
    typecode: str
    compressor: dict | None
    fill_value: float
    separator: str


def write_json(path: Path, value: object) -> None:
    # Others may read it at the same time: they see the old or the new file, never half of one.
    draft = path.with_name(f"{path.name}.{os.getpid()}.draft")
    draft.write_text(json.dumps(value, indent=2), encoding="utf-8")
    os.replace(draft, path)


def create_group(path, attributes: dict | None = None) -> Path:
    """Makes the group, or gives an existing one new attributes. Its members stay."""
    path = Path(path)
    path.mkdir(parents=True, exist_ok=True)
    write_json(path / ".zgroup", {"zarr_format": 2})
    if attributes is not None:
        write_json(path / ".zattrs", attributes)
    return path


def is_group(path) -> bool:
    return (Path(path) / ".zgroup").is_file()


def read_attributes(path) -> dict:
    try:
        return json.loads((Path(path) / ".zattrs").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}


def create_array(path, shape, chunks, dtype: str, compression: str = "none") -> Array:
    """Makes an empty array; one that is already there is replaced."""
    path = Path(path)
    if (path / ".zarray").is_file():
        shutil.rmtree(path)
    path.mkdir(parents=True, exist_ok=True)
    metadata = {
        "zarr_format": 2,
        "shape": list(shape),
        "chunks": list(chunks),
        "dtype": dtype,
        "compressor": {"id": "zlib", "level": 1} if compression == "zlib" else None,
        "fill_value": 0,
        "order": "C",
        "filters": None,
        "dimension_separator": "/",
    }
    write_json(path / ".zarray", metadata)
    return open_array(path)


def read_array_metadata(path) -> dict:
    try:
        return json.loads((Path(path) / ".zarray").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise Refusal(f"There is no array at {path}. Check that the image is complete and in Zarr format 2.") from None


def open_array(path) -> Array:
    path = Path(path)
    metadata = read_array_metadata(path)
    compressor = metadata["compressor"]
    if metadata["dtype"] not in TYPECODES or metadata["order"] != "C" or metadata["filters"]:
        raise Refusal(f"{path} stores {metadata['dtype']} in a way that these tasks do not read.")
    if compressor is not None and compressor["id"] != "zlib":
        raise Refusal(f"{path} is compressed with {compressor['id']}; these tasks read only zlib or no compression.")
    return Array(
        path,
        tuple(metadata["shape"]),
        tuple(metadata["chunks"]),
        TYPECODES[metadata["dtype"]],
        compressor,
        metadata["fill_value"] or 0,
        metadata.get("dimension_separator", "."),
    )


def chunk_path(target: Array, index) -> Path:
    return target.path / target.separator.join(map(str, index))


def little_endian(values: array) -> array:
    if sys.byteorder == "big":
        values = values[:]
        values.byteswap()
    return values


def write_chunk(target: Array, index, values: array) -> None:
    if values.typecode != target.typecode or len(values) != math.prod(target.chunks):
        raise ValueError(f"A chunk of {target.path} has {target.chunks} values of type {target.typecode}.")
    content = little_endian(values).tobytes()
    path = chunk_path(target, index)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(zlib.compress(content, target.compressor["level"]) if target.compressor else content)


def read_chunk(source: Array, index) -> array:
    path = chunk_path(source, index)
    values = array(source.typecode)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return array(source.typecode, [source.fill_value]) * math.prod(source.chunks)
    values.frombytes(zlib.decompress(content) if source.compressor else content)
    return little_endian(values)
