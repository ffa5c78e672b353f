"""Images and label images of OME-Zarr 0.4: planes of pixels in a pyramid, with the metadata viewers need.

An image has the axes c, z, y, x, a label image z, y, x. A plane is a flat `array.array` of height * width pixels and
one chunk of the array, so that a task holds only the planes it works on.
"""

from __future__ import annotations

import shutil
from array import array
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from demo_tasks.arguments import Refusal
from demo_tasks.plates import VERSION
from demo_tasks.zarr import create_array, create_group, open_array, read_attributes, read_chunk, write_chunk

AXES = [
    {"name": "c", "type": "channel"},
    *({"name": name, "type": "space", "unit": "micrometer"} for name in "zyx"),
]


class Image(NamedTuple):
    path: Path
    channels: list  # as in the omero metadata: label, color, window, ...
    planes: int
    height: int
    width: int
    voxel_size: list  # z, y, x in micrometers
    levels: int
    compression: str


def channel_metadata(label: str, color: str, highest: int) -> dict:
    window = {"min": 0, "max": 65535, "start": 0, "end": highest}
    return {"label": label, "color": color, "window": window, "active": True}


def read_image(zarr_url) -> Image:
    attributes = read_attributes(zarr_url)
    if "multiscales" not in attributes:
        raise Refusal(f"There is no OME-Zarr image at {zarr_url}. Check that the task that writes it has run.")
    multiscale = attributes["multiscales"][0]
    if [axis["name"] for axis in multiscale["axes"]] != list("czyx"):
        raise Refusal(f"{zarr_url} has other axes than c, z, y, x; these tasks cannot read it.")
    full = open_array(Path(zarr_url) / multiscale["datasets"][0]["path"])
    channels, planes, height, width = full.shape
    if full.chunks != (1, 1, height, width) or full.typecode != "H":
        raise Refusal(f"{zarr_url} does not hold whole planes of 16-bit pixels as chunks; these tasks cannot read it.")
    unnamed = [channel_metadata(f"channel {index}", "FFFFFF", 65535) for index in range(channels)]
    return Image(
        Path(zarr_url),
        attributes.get("omero", {}).get("channels", unnamed),
        planes,
        height,
        width,
        multiscale["datasets"][0]["coordinateTransformations"][0]["scale"][1:],
        len(multiscale["datasets"]),
        "zlib" if full.compressor else "none",
    )


def channel_index(image: Image, label: str) -> int:
    labels = [channel["label"] for channel in image.channels]
    if label not in labels:
        raise Refusal(f"{image.path} has no channel {label!r}. Choose one of: {', '.join(labels)}.")
    return labels.index(label)


def read_channel(image: Image, channel: int) -> list[array]:
    """The planes of a channel at full resolution, lowest z first."""
    first = read_attributes(image.path)["multiscales"][0]["datasets"][0]["path"]
    source = open_array(image.path / first)
    return [read_chunk(source, (channel, z, 0, 0)) for z in range(image.planes)]


def mean_of_four(plane: array, width: int) -> array:
    rows = [plane[start : start + width] for start in range(0, len(plane), width)]
    halved = array(plane.typecode)
    for upper, lower in zip(rows[::2], rows[1::2]):
        halved.extend([(a + b + c + d) >> 2 for a, b, c, d in zip(upper[::2], upper[1::2], lower[::2], lower[1::2])])
    return halved


def one_of_four(plane: array, width: int) -> array:
    # The mean of two labels would be a third object.
    halved = array(plane.typecode)
    for start in range(0, len(plane) - width, 2 * width):
        halved.extend(plane[start : start + width // 2 * 2 : 2])
    return halved


def multiscales(name: str, axes: list, levels: int, voxel_size: list) -> list:
    def scale(level):
        z, y, x = voxel_size
        return [1.0] * (len(axes) - 3) + [z, y * 2**level, x * 2**level]

    datasets = [
        {"path": str(level), "coordinateTransformations": [{"type": "scale", "scale": scale(level)}]}
        for level in range(levels)
    ]
    return [{"version": VERSION, "name": name, "axes": axes, "datasets": datasets}]


def write_pyramid(image: Image, leading: tuple, dtype: str, planes: Iterable, halve) -> None:
    """Writes `planes`, pairs of an index such as (c, z) and its pixels, at every resolution."""
    sizes = [(image.height >> level, image.width >> level) for level in range(image.levels)]
    levels = [
        create_array(image.path / str(level), (*leading, *size), (*[1] * len(leading), *size), dtype, image.compression)
        for level, size in enumerate(sizes)
    ]
    for index, plane in planes:
        for level, (_, width) in zip(levels, sizes):
            write_chunk(level, (*index, 0, 0), plane)
            if level is not levels[-1]:
                plane = halve(plane, width)


def write_image(image: Image, planes: Iterable, more_attributes: dict | None = None) -> None:
    """Writes or replaces the pixels and metadata of an image. Labels and tables in it stay."""
    old_levels = [entry.parent for entry in image.path.glob("*/.zarray") if entry.parent.name.isdigit()]
    create_group(image.path)
    write_pyramid(image, (len(image.channels), image.planes), "<u2", planes, mean_of_four)
    attributes = {
        **read_attributes(image.path),
        **(more_attributes or {}),
        "multiscales": multiscales(image.path.name, AXES, image.levels, image.voxel_size),
        "omero": {"version": VERSION, "name": image.path.name, "channels": image.channels},
    }
    create_group(image.path, attributes)
    for entry in old_levels:
        if int(entry.name) >= image.levels:
            shutil.rmtree(entry)


def write_labels(image: Image, name: str, planes: list[array]) -> None:
    group = create_group(image.path / "labels")
    names = [*read_attributes(group).get("labels", []), name]
    create_group(group, {"labels": list(dict.fromkeys(names))})
    labels = image._replace(path=group / name)
    create_group(labels.path)
    write_pyramid(labels, (image.planes,), "<u4", (((z,), plane) for z, plane in enumerate(planes)), one_of_four)
    attributes = {
        "multiscales": multiscales(name, AXES[1:], image.levels, image.voxel_size),
        "image-label": {"version": VERSION, "source": {"image": "../../"}},
    }
    create_group(labels.path, attributes)


def read_labels(image: Image, name: str) -> list[array]:
    path = image.path / "labels" / name
    if "image-label" not in read_attributes(path):
        raise Refusal(f"{image.path} has no label image {name!r}. Run Segment Nuclei first.")
    source = open_array(path / "0")
    if source.chunks != (1, image.height, image.width) or source.shape[0] != image.planes:
        raise Refusal(f"The label image {name!r} and {image.path} differ in size. Run Segment Nuclei again.")
    return [read_chunk(source, (z, 0, 0)) for z in range(image.planes)]
