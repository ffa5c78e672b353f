"""Summarise Plate: one line for each image, from the tables that Measure Nuclei wrote."""

from __future__ import annotations

import csv
from pathlib import Path
from statistics import mean

from demo_tasks.arguments import Refusal
from demo_tasks.plates import place_of
from demo_tasks.program import run
from demo_tasks.tables import read_table

POSITION = {"label", "z_um", "y_um", "x_um"}


def summarise_plate(*, zarr_dir: str, zarr_urls: list, table_name: str, file_name: str, missing_tables: str) -> dict:
    tables = {zarr_url: read_table(zarr_url, table_name) for zarr_url in zarr_urls}
    missing = [zarr_url for zarr_url, table in tables.items() if table is None]
    if missing:
        text = f"{len(missing)} of {len(tables)} images have no table {table_name!r}. Run Measure Nuclei on them:"
        if missing_tables == "fail":
            raise Refusal("\n".join([text, *missing]))
        print("\n".join([f"Warning: {text}", *missing]))

    lines, updates = [], []
    for zarr_url, table in tables.items():
        if table is None:
            continue
        place = place_of(zarr_url)
        number = len(table["label"])
        line = {"plate": place.plate.name, "well": place.well, "image": place.image, "num_nuclei": number}
        for column in table.keys() - POSITION:
            line[f"mean_of_{column}"] = round(mean(table[column]), 3) if number else ""
        lines.append(line)
        updates.append({"zarr_url": zarr_url, "attributes": {"num_nuclei": number}})

    first = ["plate", "well", "image", "num_nuclei"]
    others = sorted({column for line in lines for column in line} - set(first))
    Path(zarr_dir).mkdir(parents=True, exist_ok=True)
    summary = Path(zarr_dir) / file_name
    with open(summary, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*first, *others], restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    print(f"{sum(line['num_nuclei'] for line in lines)} nuclei in {len(lines)} images. The summary is {summary}.")
    return {"image_list_updates": updates}


if __name__ == "__main__":
    run(__file__, summarise_plate)
