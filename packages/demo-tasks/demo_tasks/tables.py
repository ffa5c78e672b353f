"""Tables of measurements inside an image, as the packages of the field write feature tables in CSV.

`<image>/tables/nuclei/table.csv` has a line for each object; the attributes beside it say what the lines are about.
"""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

from demo_tasks.zarr import create_group, read_attributes

FILE = "table.csv"


def write_table(zarr_url, name: str, columns: dict[str, list], label_name: str) -> Path:
    """Writes or replaces a table. `columns` have one value per object; the first one is the label."""
    group = create_group(Path(zarr_url) / "tables")
    names = [*read_attributes(group).get("tables", []), name]
    create_group(group, {"tables": list(dict.fromkeys(names))})
    if (group / name / ".zgroup").is_file():
        shutil.rmtree(group / name)
    index = next(iter(columns))
    table = create_group(
        group / name,
        {
            "type": "feature_table",
            "table_version": "1",
            "backend": "csv",
            "index_key": index,
            "index_type": "int",
            "instance_key": index,
            "region": {"path": f"../labels/{label_name}"},
        },
    )
    with open(table / FILE, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values()))
    return table


def read_table(zarr_url, name: str) -> dict[str, list[float]] | None:
    """The columns, or None when the image has no such table."""
    path = Path(zarr_url) / "tables" / name / FILE
    if not path.is_file():
        return None
    with open(path, newline="", encoding="utf-8") as file:
        header, *lines = csv.reader(file)
    return {column: [float(line[at]) for line in lines] for at, column in enumerate(header)}
