"""Make Demo Plate, first part: the folders and metadata of the plate, and one item for each of its wells."""

from __future__ import annotations

import shutil
from pathlib import Path

from demo_tasks.arguments import Refusal
from demo_tasks.plates import write_plate
from demo_tasks.program import run
from demo_tasks.zarr import is_group, read_attributes


def dose(treatment: dict, column: int, columns: int) -> float:
    """From 0 in the first column to 1 in the last."""
    return 0.0 if treatment["kind"] == "none" or columns == 1 else column / (columns - 1)


def effects(treatment: dict, dose: float) -> dict:
    """What the treatment of a well does to its cells."""
    if dose == 0:
        return {"survival": 1.0, "condensed": 0.0, "treatment": "control"}
    return {
        "survival": 1.0 - (1.0 - treatment["lowest_survival"]) * dose,
        "condensed": treatment["highest_condensed"] * dose,
        "treatment": f"drug {dose:.0%}",
    }


def make_demo_plate_init(
    *, zarr_dir: str, plate_name: str, layout: dict, treatment: dict, seed: int, overwrite: bool
) -> dict:
    plate = Path(zarr_dir) / f"{plate_name}.zarr"
    if plate.exists():
        if not overwrite:
            raise Refusal(f"{plate} exists already. Choose another plate_name, or switch on overwrite.")
        if not (is_group(plate) and "plate" in read_attributes(plate)):
            raise Refusal(f"{plate} is not a plate, so it is not overwritten. Choose another plate_name.")
        shutil.rmtree(plate)

    rows = [chr(ord("A") + row) for row in range(layout["rows"])]
    columns = [f"{column + 1:02}" for column in range(layout["columns"])]
    write_plate(plate, {(row, column): ["0"] for row in rows for column in columns})
    print(f"Made the plate {plate} with {len(rows) * len(columns)} wells.")
    items = [
        {
            "zarr_url": f"{plate}/{row}/{column}/0",
            "init_args": {"seed": seed, **effects(treatment, dose(treatment, index, len(columns)))},
        }
        for row in rows
        for index, column in enumerate(columns)
    ]
    return {"parallelization_list": items}


if __name__ == "__main__":
    run(__file__, make_demo_plate_init)
