"""Import Existing Plate: lists the images of a plate that is on disk already. Writes nothing there."""

from __future__ import annotations

import os
from pathlib import Path

from demo_tasks.arguments import Refusal
from demo_tasks.plates import images_of_well, read_plate
from demo_tasks.program import run
from demo_tasks.zarr import read_array_metadata, read_attributes


def is_3d(path: Path) -> bool:
    multiscale = read_attributes(path)["multiscales"][0]
    axes = [axis["name"] for axis in multiscale["axes"]]
    # Only the shape is of interest, so the plate may be stored in ways that the other tasks do not read.
    shape = read_array_metadata(path / multiscale["datasets"][0]["path"])["shape"]
    return "z" in axes and shape[axes.index("z")] > 1


def import_existing_plate(*, zarr_dir: str, plate: str, wells: list | None, attributes: dict) -> dict:
    path = Path(os.path.normpath(Path(zarr_dir) / plate))
    if Path(os.path.normpath(zarr_dir)) not in path.parents:
        raise Refusal(f"{path} is outside of {zarr_dir}. Copy or move the plate into that folder.")
    if not path.is_dir():
        raise Refusal(f"There is no folder {path}. Check the name of the plate.")

    known = {well["path"].replace("/", ""): path / well["path"] for well in read_plate(path)["wells"]}
    unknown = [well for well in wells or [] if well not in known]
    if unknown:
        raise Refusal(f"{path.name} has no well {', '.join(unknown)}. It has {', '.join(known)}.")

    updates = []
    for well in known if wells is None else wells:
        for name in images_of_well(known[well]):
            image = known[well] / name
            if "multiscales" not in read_attributes(image):
                print(f"Warning: {image} is in the metadata of its well but is not an image; left out.")
                continue
            updates.append(
                {
                    "zarr_url": str(image),
                    "attributes": {**attributes, "plate": path.name, "well": well},
                    "types": {"is_3D": is_3d(image)},
                }
            )
    print(f"Found {len(updates)} images in {path}.")
    return {"image_list_updates": updates}


if __name__ == "__main__":
    run(__file__, import_existing_plate)
