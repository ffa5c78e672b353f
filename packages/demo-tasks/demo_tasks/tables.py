"""Tables of measurements inside an image: a Zarr group with one array per column, and the same as CSV for people.

    <image>/tables/nuclei/area        one number per object
    <image>/tables/nuclei/table.csv
"""

from __future__ import annotations

import csv
import shutil
from array import array
from pathlib import Path

from demo_tasks.zarr import create_array, create_group, open_array, read_attributes, read_chunk, write_chunk


def write_table(zarr_url, name: str, columns: dict[str, list], label_name: str) -> Path:
    """Writes or replaces a table. `columns` have one value per object; the first one is the label."""
    group = create_group(Path(zarr_url) / "tables")
    names = [*read_attributes(group).get("tables", []), name]
    create_group(group, {"tables": list(dict.fromkeys(names))})
    if (group / name / ".zgroup").is_file():
        shutil.rmtree(group / name)
    table = create_group(
        group / name,
        {
            "type": "columns",
            "columns": list(columns),
            "instance_key": next(iter(columns)),
            "region": {"path": f"../../labels/{label_name}"},
        },
    )
    for column, values in columns.items():
        target = create_array(table / column, [len(values)], [max(1, len(values))], "<f8")
        if values:
            write_chunk(target, (0,), array("d", values))
    with open(table / "table.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values()))
    return table


def read_table(zarr_url, name: str) -> dict[str, list[float]] | None:
    """The columns, or None when the image has no such table."""
    table = Path(zarr_url) / "tables" / name
    columns = read_attributes(table).get("columns")
    if columns is None:
        return None
    arrays = {column: open_array(table / column) for column in columns}
    return {column: list(read_chunk(source, (0,)))[: source.shape[0]] for column, source in arrays.items()}
