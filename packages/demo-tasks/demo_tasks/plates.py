"""Plates and wells of OME-Zarr 0.4: where an image lies in them, and the metadata that lists it.

`/data/demo.zarr/A/01/0` is image 0 of well A01 of the plate demo.zarr.
"""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import NamedTuple

from demo_tasks.arguments import Refusal
from demo_tasks.zarr import create_group, read_attributes, write_json

VERSION = "0.4"


class Place(NamedTuple):
    plate: Path
    row: str
    column: str
    image: str

    @property
    def well(self) -> str:
        return f"{self.row}{self.column}"


def place_of(zarr_url: str) -> Place:
    parts = Path(zarr_url).parts
    if len(parts) < 5 or not parts[-4].endswith(".zarr"):
        raise Refusal(f"{zarr_url} is not an image of a plate. Its address should end like plate.zarr/A/01/0.")
    return Place(Path(*parts[:-3]), *parts[-3:])


def read_plate(path) -> dict:
    """The plate's metadata; refused if there is none."""
    plate = read_attributes(path).get("plate")
    if plate is None:
        raise Refusal(f"{path} is not an OME-Zarr plate. Give the folder that holds the rows A, B, ...")
    return plate


def write_plate(path, images: dict[tuple[str, str], list[str]]) -> None:
    """Writes the plate with these images, by row and column. Wells that are already in it stay."""
    path = Path(path)
    known = read_attributes(path).get("plate", {"wells": []})
    wells = {tuple(well["path"].split("/")) for well in known["wells"]} | images.keys()
    rows = sorted({row for row, _ in wells}, key=lambda row: (len(row), row))
    columns = sorted({column for _, column in wells})
    plate = {
        "version": VERSION,
        "name": path.name,
        "rows": [{"name": row} for row in rows],
        "columns": [{"name": column} for column in columns],
        "wells": [
            {"path": f"{row}/{column}", "rowIndex": rows.index(row), "columnIndex": columns.index(column)}
            for row, column in sorted(wells, key=lambda well: (rows.index(well[0]), well[1]))
        ],
    }
    create_group(path, {"plate": plate})
    for (row, column), names in images.items():
        create_group(path / row)
        create_group(path / row / column)
        add_images_to_well(path / row / column, names)


def images_of_well(path) -> list[str]:
    return [image["path"] for image in read_attributes(path).get("well", {"images": []})["images"]]


def add_images_to_well(path, names: list[str]) -> None:
    # Tasks run on several images of a well at the same time, and each adds its own.
    with open(Path(path) / ".zgroup", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        images = [*images_of_well(path), *names]
        well = {"version": VERSION, "images": [{"path": name} for name in dict.fromkeys(images)]}
        write_json(Path(path) / ".zattrs", {"well": well})
