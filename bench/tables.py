"""A plate with measurements, and how long Python needs to read it.

    python tables.py write FOLDER BACKEND IMAGES ROWS    writes images with a table each
    python tables.py read FOLDER IMAGES                  seconds for the medians of wells, and for two columns, as JSON

Tables are written and read with ngio, as tasks and notebooks do it.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from ngio import create_empty_ome_zarr, open_ome_zarr_container
from ngio.tables import FeatureTable

FEATURES = [f"feature_{at}" for at in range(18)]
random = np.random.default_rng(3)


def place(folder: Path, at: int) -> Path:
    return folder / "plate.zarr" / chr(ord("A") + at // 24) / f"{at % 24 + 1:02d}" / "0"


def write(folder: Path, backend: str, images: int, rows: int) -> None:
    for at in range(images):
        image = create_empty_ome_zarr(place(folder, at), shape=(16, 16), pixelsize=0.5, overwrite=True)
        frame = pd.DataFrame(random.random((rows, len(FEATURES))), columns=FEATURES)
        frame.index = pd.Index(np.arange(1, rows + 1), name="label")
        image.add_table("nuclei", FeatureTable(frame, reference_label="nuclei"), backend=backend)


def tables(folder: Path, images: int):
    for at in range(images):
        path = place(folder, at)
        frame = open_ome_zarr_container(path).get_table("nuclei").dataframe
        frame["well"] = f"{path.parts[-3]}{path.parts[-2]}"
        yield frame


def read(folder: Path, images: int) -> dict:
    # what is loaded with the first table is no part of reading
    list(tables(folder, 1))
    start = time.perf_counter()
    whole = pd.concat(tables(folder, images))
    whole.groupby("well")["feature_3"].median()
    medians = time.perf_counter() - start
    start = time.perf_counter()
    whole = pd.concat(frame[["feature_3", "feature_4", "well"]] for frame in tables(folder, images))
    whole[["feature_3", "feature_4"]].to_numpy()
    return {"medians": medians, "columns": time.perf_counter() - start, "rows": len(whole)}


if __name__ == "__main__":
    command, folder, *rest = sys.argv[1:]
    if command == "write":
        write(Path(folder), rest[0], int(rest[1]), int(rest[2]))
    else:
        print(json.dumps(read(Path(folder), int(rest[0]))))
