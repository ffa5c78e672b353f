"""Images of many kinds, written with zarr and ngio, and what Python sees of them: through the service, and on disk.

    python look.py write FOLDER                 writes images and plates, prints what was written as JSON
    python look.py compare SERVICE < ...        compares pictures with numpy's own, prints the largest differences
    python look.py compare-tiles < ...          the same with pictures that are given as bytes
    python look.py read SERVICE PLATE ...       reads a plate through the service with ngio and fsspec, beside the disk

The token comes in the variable TOKEN.
"""

from __future__ import annotations

import base64
import io
import json
import os
import sys
import urllib.parse
import urllib.request
from pathlib import Path

import numpy as np
import zarr
from PIL import Image as Picture

TOKEN = os.environ.get("TOKEN", "")
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
COLOURS = ["FF0000", "00FF00", "0000FF"]
DTYPES = ("uint8", "int8", "uint32", "int16", "int32", "uint64", "float32", "int64", "bool", "float64")
AXES = ("tczyx", "czyx", "zyx", "cyx", "tcyx", "yx")
random = np.random.default_rng(7)


# writing


def group(path: Path, version: int, attributes: dict) -> None:
    """OME metadata where its version has it."""
    store = zarr.open_group(path, mode="a", zarr_format=version)
    store.attrs.update(attributes if version == 2 else {"ome": {"version": "0.5", **attributes}})


def pixels(shape: tuple, dtype: str) -> np.ndarray:
    kind = np.dtype(dtype)
    if kind == np.bool_:
        return random.random(shape) > 0.5
    if kind.kind == "f":
        return (random.random(shape) * 1000 - 100).astype(kind)
    highest = min(np.iinfo(kind).max, 5000)
    return random.integers(max(np.iinfo(kind).min, -50), highest, shape).astype(kind)


def halve(data: np.ndarray) -> np.ndarray:
    return data[..., ::2, ::2]


def write_image(path, data, axes, version, *, levels=2, scale=0.5, translation=None, omero=True, **storage) -> None:
    datasets = []
    level = data
    for index in range(levels):
        chunks = storage.get("chunks") or tuple(
            [1] * (level.ndim - 2) + [max(1, -(-side // 2)) for side in level.shape[-2:]]
        )
        options = {key: value for key, value in storage.items() if key not in ("chunks", "shards")}
        if storage.get("shards"):
            options["shards"] = tuple([1] * (level.ndim - 2) + [2 * side for side in chunks[-2:]])
        array = zarr.create_array(
            path / str(index),
            shape=level.shape,
            dtype=level.dtype,
            chunks=chunks,
            zarr_format=version,
            overwrite=True,
            **options,
        )
        array[...] = level
        transforms = [{"type": "scale", "scale": [1.0] * (level.ndim - 2) + [scale * 2**index] * 2}]
        if translation is not None:
            transforms.append({"type": "translation", "translation": [0.0] * (level.ndim - 2) + list(translation)})
        datasets.append({"path": str(index), "coordinateTransformations": transforms})
        level = halve(level)
    named = [
        {
            "name": axis,
            **(
                {"type": "space", "unit": "micrometer"}
                if axis in "zyx"
                else {"type": "channel" if axis == "c" else "time"}
            ),
        }
        for axis in axes
    ]
    attributes = {"multiscales": [{"version": "0.4", "axes": named, "datasets": datasets}]}
    if omero and "c" in axes:
        attributes["omero"] = {
            "channels": [
                {
                    "label": f"ch{at}",
                    "color": COLOURS[at % 3],
                    "active": True,
                    "window": {"start": 100 * at, "end": 3000, "min": 0, "max": 65535},
                }
                for at in range(data.shape[axes.index("c")])
            ]
        }
    group(path, version, attributes)


def write_labels(path: Path, version: int, shape: tuple) -> None:
    labels = np.zeros(shape, dtype="uint32")
    labels[..., 5:20, 5:20] = 1
    labels[..., 20:30, 5:20] = 4_000_000_000
    labels[..., 40:50, 30:60] = 7
    group(path / "labels", version, {"labels": ["nuclei"]})
    write_image(path / "labels" / "nuclei", labels, "zyx"[-len(shape) :], version, levels=1)


def compressors(version: int) -> dict:
    if version == 2:
        from numcodecs import LZ4, Blosc, GZip, Zlib, Zstd

        blosc = {
            f"blosc-{name}": Blosc(cname=name, clevel=5, shuffle=Blosc.SHUFFLE)
            for name in ("lz4", "zstd", "zlib", "blosclz")
        }
        return {**blosc, "zstd": Zstd(), "gzip": GZip(), "zlib": Zlib(), "lz4": LZ4(), "none": None}
    from zarr.codecs import BloscCodec, GzipCodec, ZstdCodec

    blosc = {f"blosc-{name}": BloscCodec(cname=name, shuffle="shuffle") for name in ("lz4", "zstd", "zlib", "blosclz")}
    return {**blosc, "zstd": ZstdCodec(), "gzip": GzipCodec(), "none": None}


def write_kinds(folder: Path) -> list[str]:
    """One image for each codec, type and set of axes, in both versions; in short runs half of them, in one version."""
    written = []

    def of(names: tuple, turn: int) -> tuple:
        return names if "LONG" in os.environ else names[turn::4]

    def write(name: str, version: int, data, axes: str, **storage) -> None:
        path = folder / f"{name}-v{version}"
        write_image(path, data, axes, version, **storage)
        written.append(str(path))

    for version, turn in ((2, 0), (3, 1)):
        for name, codec in of(tuple(compressors(version).items()), turn):
            write(name, version, pixels((2, 64, 70), "uint16"), "cyx", compressors=codec)
        for dtype in of(DTYPES, turn):
            write(dtype, version, pixels((2, 64, 70), dtype), "cyx")
        for axes in of(AXES, turn):
            shape = [{"t": 2, "c": 3, "z": 5, "y": 64, "x": 70}[axis] for axis in axes]
            write(axes, version, pixels(tuple(shape), "uint16"), axes)
        write("big-endian", version, pixels((2, 64, 70), ">u2"), "cyx")
        write("thick-chunks", version, pixels((2, 5, 64, 70), "uint16"), "czyx", chunks=(2, 3, 30, 20))
        write("no-levels", version, pixels((1, 100, 80), "uint16"), "cyx", levels=1)
        path = folder / f"labelled-v{version}"
        write("labelled", version, pixels((2, 1, 64, 70), "uint16"), "czyx")
        write_labels(path, version, (1, 64, 70))
        write("missing-chunks", version, pixels((2, 64, 70), "uint16"), "cyx", fill_value=17)
        chunk = folder / f"missing-chunks-v{version}" / "0" / ("0.0.0" if version == 2 else "c/0/0/0")
        chunk.unlink()
    write("fortran", 2, pixels((2, 64, 70), "uint16"), "cyx", order="F")
    write("sharded", 3, pixels((2, 3, 128, 128), "uint16"), "czyx", chunks=(1, 1, 32, 32), shards=True)
    return written


def write_plate(path: Path, version: int, placed: str) -> list[dict]:
    """2 x 3 wells, one of them missing, with 4 fields of 32 x 32 pixels each."""
    rows, columns = ["A", "B"], ["01", "02", "05"]
    wells = [f"{row}/{column}" for row in rows for column in columns if (row, column) != ("B", "02")]
    group(
        path,
        version,
        {
            "plate": {
                "rows": [{"name": row} for row in rows],
                "columns": [{"name": column} for column in columns],
                "wells": [
                    {"path": well, "rowIndex": rows.index(well[0]), "columnIndex": columns.index(well[2:])}
                    for well in wells
                ],
            }
        },
    )
    images = []
    # the microscope goes like a snake
    order = [(0, 0), (0, 1), (1, 1), (1, 0)]
    for well in wells:
        group(path / well[0], version, {})
        group(path / well, version, {"well": {"images": [{"path": str(at)} for at in range(4)]}})
        for at, (down, across) in enumerate(order):
            image = path / well / str(at)
            translation = (down * 16.0, across * 16.0) if placed == "metadata" else None
            write_image(
                image, pixels((2, 1, 32, 32), "uint16"), "czyx", version, translation=translation, shards=version == 3
            )
            if placed == "table":
                write_regions(image, version, down * 16.0, across * 16.0)
            images.append({"zarr_url": str(image), "attributes": {"plate": path.name, "well": well.replace("/", "")}})
    return images


def write_regions(image: Path, version: int, y: float, x: float) -> None:
    import anndata

    names = [
        "x_micrometer",
        "y_micrometer",
        "z_micrometer",
        "len_x_micrometer",
        "len_y_micrometer",
        "len_z_micrometer",
        "x_micrometer_original",
        "y_micrometer_original",
    ]
    values = np.array([[0, 0, 0, 16, 16, 1, 1000 + x, 2000 + y]], dtype="float32")
    table = anndata.AnnData(X=values)
    table.obs_names = ["FOV_1"]
    table.var_names = names
    group(image / "tables", version, {"tables": ["FOV_ROI_table"]})
    anndata.settings.zarr_write_format = version
    table.write_zarr(image / "tables" / "FOV_ROI_table")


def write(folder: str) -> None:
    root = Path(folder)
    plates = [
        write_plate(root / f"{placed}-{version}.zarr", version, placed)
        for placed in ("metadata", "table", "nowhere")
        for version in (2, 3)
    ]
    print(json.dumps({"kinds": write_kinds(root / "kinds"), "plates": [image for plate in plates for image in plate]}))


# comparing


def fetch(address: str) -> tuple[np.ndarray, dict]:
    with urllib.request.urlopen(urllib.request.Request(address, headers=HEADERS)) as answer:
        return np.asarray(Picture.open(io.BytesIO(answer.read()))), dict(answer.headers.items())


def light(values: np.ndarray, low: float, high: float) -> np.ndarray:
    return np.clip((values.astype("float64") - low) / (high - low), 0, 1)


def shown(array, axes: str, channel: int, z, t: int = 0) -> np.ndarray:
    """The plane that a picture shows."""
    data = array[...]
    for axis in axes[:-2]:
        if axis == "t":
            data = data[t]
        if axis == "c":
            data = data[channel]
        if axis == "z":
            data = data.max(axis=0) if z == "max" else data[data.shape[0] // 2 if z is None else z]
    return data


def difference(one: np.ndarray, other: np.ndarray) -> float:
    if one.shape != other.shape:
        return float("inf")
    return float(np.abs(one.astype("float64") - other.astype("float64")).max())


def axes_of(path: Path) -> str:
    attributes = dict(zarr.open_group(path, mode="r").attrs)
    multiscale = attributes.get("ome", attributes)["multiscales"][0]
    return "".join(axis["name"] for axis in multiscale["axes"])


def mixed(array, axes: str) -> np.ndarray:
    """All channels in their colours, as light adds up."""
    sums = np.zeros((*array.shape[-2:], 3))
    for channel in range(array.shape[axes.index("c")]):
        colour = np.array([int(COLOURS[channel % 3][at : at + 2], 16) for at in (0, 2, 4)])
        sums += light(shown(array, axes, channel, None), 100 * channel, 3000)[..., None] * colour
    return np.clip(np.round(sums), 0, 255)


def compare_tiles() -> None:
    """Pictures that were composed elsewhere, given as their bytes."""
    found = {}
    for path, text in json.load(sys.stdin).items():
        array, axes = zarr.open_array(f"{path}/0", mode="r"), axes_of(Path(path))
        bytes_ = np.frombuffer(base64.b64decode(text), dtype="uint8").reshape(*array.shape[-2:], 4)
        found[path] = difference(bytes_[..., :3], mixed(array, axes))
    print(json.dumps(found))


def compare_image(base: str, path: str) -> dict:
    axes = axes_of(Path(path))
    full = zarr.open_array(f"{path}/0", mode="r")

    def query(**more):
        return f"{base}/picture/?{urllib.parse.urlencode({'zarr_url': path, **more})}"

    found = {}
    channels = full.shape[axes.index("c")] if "c" in axes else 1
    for channel in range(min(channels, 2)) if len(axes) > 3 else [0]:
        for z in [None, "max", 0] if "z" in axes else [None]:
            plane = shown(full, axes, channel, z)
            more = {} if z is None else {"z": z}
            picture, headers = fetch(query(channel=channel, size=1024, **more))
            low, high = float(headers["x-picture-low"]), float(headers["x-picture-high"])
            found[f"range {channel} {z}"] = (
                max(abs(low - float(plane.min())), abs(high - float(plane.max()))) / max(1, abs(high)) * 1e4
            )
            found[f"grey {channel} {z}"] = difference(picture, np.round(light(plane, low, high) * 255))
    levels = len([entry for entry in Path(path).iterdir() if entry.name.isdigit()])
    if levels > 1:
        small = shown(zarr.open_array(f"{path}/1", mode="r"), axes, 0, None)
        picture, _ = fetch(query(channel=0, size=max(small.shape), low=0, high=3000))
        found["level"] = difference(picture, np.round(light(small, 0, 3000) * 255))
    else:
        plane = shown(full, axes, 0, None).astype("float64")
        mean = plane.reshape(plane.shape[0] // 2, 2, plane.shape[1] // 2, 2).mean(axis=(1, 3))
        picture, _ = fetch(query(channel=0, size=max(mean.shape), low=0, high=3000))
        found["mean of four"] = difference(picture, np.round(light(mean, 0, 3000) * 255))
    if "c" in axes:
        picture, _ = fetch(query(size=1024))
        found["colour"] = difference(picture[..., :3], mixed(full, axes))
        if "labelled" in path:
            labels = zarr.open_array(f"{path}/labels/nuclei/0", mode="r")[0]
            padded = np.pad(labels, 1, mode="edge")
            ends = sum(
                padded[1 + y : padded.shape[0] - 1 + y, 1 + x : padded.shape[1] - 1 + x] != labels
                for y, x in ((0, 1), (0, -1), (1, 0), (-1, 0))
            )
            outlined, _ = fetch(query(size=1024, labels="nuclei"))
            expected = np.where(((ends > 0) & (labels > 0))[..., None], [0xE6, 0xEB, 0xEE], picture[..., :3])
            found["outlines"] = difference(outlined[..., :3], expected)
    return found


def compare_plate(base: str, name: str, images: list[dict]) -> dict:
    def query(what, **more):
        return f"{base}/{what}?{urllib.parse.urlencode({'plate': name, **more})}"

    with urllib.request.urlopen(urllib.request.Request(query("plate-picture/info/"), headers=HEADERS)) as answer:
        info = json.load(answer)
    order = [(0, 0), (0, 1), (1, 1), (1, 0)] if not name.startswith("nowhere") else [(0, 0), (0, 1), (1, 0), (1, 1)]
    found = {}
    whole = np.zeros((128, 192), dtype="float64")
    for at, image in enumerate(images):
        well = image["attributes"]["well"]
        down, across = order[at % 4]
        row, column = "AB".index(well[0]), ["01", "02", "05"].index(well[1:])
        top, left = row * 64 + down * 32, column * 64 + across * 32
        whole[top : top + 32, left : left + 32] = zarr.open_array(image["zarr_url"] + "/0", mode="r")[1, 0]
    picture, headers = fetch(query("plate-picture/", channel=1, size=192, low=0, high=4000))
    found["whole"] = difference(picture, np.round(light(whole, 0, 4000) * 255))
    tile, headers = fetch(query("plate-picture/", channel=1, level=len(info["levels"]) - 1))
    found["tile"] = difference(
        tile, np.round(light(whole, float(headers["x-picture-low"]), float(headers["x-picture-high"])) * 255)
    )
    found["placed"] = info["fields_placed_by"]
    found["wells"] = len(info["wells"])
    return found


def compare(base: str) -> None:
    given = json.load(sys.stdin)
    found = {Path(path).name: compare_image(base, path) for path in given["kinds"]}
    for name in sorted({image["attributes"]["plate"] for image in given["plates"]}):
        found[name] = compare_plate(
            base, name, [image for image in given["plates"] if image["attributes"]["plate"] == name]
        )
    print(json.dumps(found))


# reading


def read(service: str, plate: str) -> None:
    from fsspec.implementations.http import HTTPFileSystem
    from ngio import open_ome_zarr_plate
    from ngio.utils import fractal_fsspec_store

    address = f"{service}/data/files{plate}"
    remote = open_ome_zarr_plate(fractal_fsspec_store(address, fractal_token=TOKEN))
    local = open_ome_zarr_plate(plate)
    found = {"images": 0, "labels": 0, "equal": True}
    for name, image in local.get_images().items():
        there = remote.get_images()[name]
        found["images"] += 1
        found["equal"] &= bool((image.get_image().get_array() == there.get_image().get_array()).all())
        for label in image.list_labels():
            found["labels"] += 1
            found["equal"] &= bool((image.get_label(label).get_array() == there.get_label(label).get_array()).all())
    files = HTTPFileSystem(client_kwargs={"headers": HEADERS})
    path = next(entry for entry in sorted(Path(plate).rglob("*")) if entry.is_file() and entry.stat().st_size > 1000)
    content = path.read_bytes()
    url = f"{service}/data/files{path}"
    with files.open(url, block_size=256) as stream:
        stream.seek(700)
        middle = stream.read(100)
    found["ranges"] = [
        files.cat_file(url) == content,
        files.cat_file(url, start=10, end=30) == content[10:30],
        files.cat_file(url, start=-20) == content[-20:],
        middle == content[700:800],
        files.info(url)["size"] == len(content),
        files.exists(url + "x"),
    ]
    print(json.dumps(found))


def read_sharded(service: str, image: str) -> None:
    """Zarr 3 through fsspec: shards are read by ranges."""
    import fsspec
    from zarr.storage import FsspecStore

    files = fsspec.filesystem("http", asynchronous=True, client_kwargs={"headers": HEADERS})
    remote = zarr.open_array(FsspecStore(files, path=f"{service}/data/files{image}/0", read_only=True), mode="r")
    print(json.dumps(bool((remote[...] == zarr.open_array(f"{image}/0", mode="r")[...]).all())))


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    {
        "write": write,
        "compare": compare,
        "compare-tiles": compare_tiles,
        "read": read,
        "read-sharded": read_sharded,
    }[command](*arguments)
