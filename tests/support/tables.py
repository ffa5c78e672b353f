"""Tables as task packages write them, and as ngio reads them.

    python tables.py write FOLDER            writes images with tables of every kind, prints their addresses
    python tables.py read IMAGE ...          prints all tables of the images as ngio reads them, by columns

Everything is printed as JSON; what is missing is null.
"""

from __future__ import annotations

import json
import math
import os
import sys
from pathlib import Path

import anndata
import numpy as np
import pandas as pd
import scipy.sparse
from fractal_tasks_core._measure_features_utils import AdvancedOptions
from fractal_tasks_core.measure_features import measure_features
from ngio import create_ome_zarr_from_array, open_ome_zarr_container
from ngio.tables import ConditionTable, FeatureTable, GenericTable

BACKENDS = ["anndata", "csv", "json", "parquet"]
random = np.random.default_rng(11)


def features(rows: int) -> pd.DataFrame:
    """Every kind of column, with holes."""
    holes = random.random(rows)
    holes[random.random(rows) < 0.2] = np.nan
    return pd.DataFrame(
        {
            "label": np.arange(1, rows + 1) * 3,
            "area": random.random(rows) * 1e4,
            "single": random.random(rows).astype("float32"),
            "tiny": random.random(rows) * 1e-12,
            "holes": holes,
            "count": random.integers(-5, 2**40, rows),
            "small": random.integers(0, 200, rows).astype("uint8"),
            "class": random.choice(["mitotic", "interphase", 'ä, "b"\n', "=1+1"], rows),
            "maybe": [None if value < 0.3 else f"t{int(value * 5)}" for value in random.random(rows)],
            "category": pd.Categorical(random.choice(["x", "y"], rows)),
            "flag": random.random(rows) > 0.5,
        }
    ).set_index("label")


def write_image(path: Path, version: str):
    pixels = random.integers(0, 1000, (1, 64, 64)).astype("uint16")
    image = create_ome_zarr_from_array(
        path, pixels, pixelsize=0.5, axes_names=["c", "y", "x"], ngff_version=version, overwrite=True
    )
    label = image.derive_label("nuclei", overwrite=True)
    labels = np.zeros((64, 64), dtype="uint32")
    for at in range(16):
        labels[(at // 4) * 16 : (at // 4) * 16 + 10, (at % 4) * 16 : (at % 4) * 16 + 12] = at + 1
    label.set_array(labels)
    label.consolidate()
    return image


def write(folder: Path) -> list[str]:
    images = []
    for turn, version in enumerate(["0.4", "0.5"]):
        # where runs are short, two of them, each in one of the versions
        backends = BACKENDS if "LONG" in os.environ else BACKENDS[3 * turn :: 4]
        path = folder / f"tables-{version}.zarr"
        image = write_image(path, version)
        for backend in backends:
            for rows in [0, 1, 1500] if backend != "anndata" else [1, 1500]:
                table = FeatureTable(features(rows), reference_label="nuclei")
                image.add_table(f"features_{backend}_{rows}", table, backend=backend, overwrite=True)
            generic = GenericTable(features(7).reset_index())
            image.add_table(f"generic_{backend}", generic, backend=backend, overwrite=True)
            measure_features(
                zarr_url=str(path),
                input_label_name="nuclei",
                output_table_name=f"measured_{backend}",
                advanced_options=AdvancedOptions(table_backend=backend),
                overwrite=True,
            )
        image.add_table("drugs", ConditionTable(pd.DataFrame({"drug": ["dmso"], "dose": [1.5]})), backend="csv")
        image.add_table("rois", image.build_image_roi_table("whole"), overwrite=True)
        image.add_table("nuclei_rois", image.get_label("nuclei").build_masking_roi_table(), overwrite=True)
        images.append(str(path))
    return images


def plain(value):
    if value is None or value is pd.NA:
        return None
    if isinstance(value, (float, np.floating)):
        return None if math.isnan(value) else float(value)
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    return str(value)


def columns_of(frame: pd.DataFrame) -> dict[str, list]:
    if frame.index.name is not None:
        frame = frame.reset_index()
    return {str(name): [plain(value) for value in frame[name]] for name in frame.columns}


def read(path: str) -> dict[str, dict[str, list]]:
    image = open_ome_zarr_container(path)
    tables = {}
    for name in image.list_tables():
        tables[name] = columns_of(image.get_table(name).dataframe)
    return tables


def encodings(folder: Path) -> list[str]:
    """Kinds of AnnData that ngio does not write itself; their values are those of `read_encodings`."""
    paths = []
    for version in [2, 3]:
        anndata.settings.zarr_write_format = version
        dense = random.random((50, 4)).round(1)
        dense[dense < 0.5] = 0
        matrices = {
            "dense": dense.astype("float32"),
            "fortran": np.asfortranarray(dense),
            "csr": scipy.sparse.csr_matrix(dense),
            "csc": scipy.sparse.csc_matrix(dense),
        }
        obs = pd.DataFrame(
            {
                "nullable": pd.array([None if at % 7 == 0 else at for at in range(50)], dtype="Int64"),
                "perhaps": pd.array([None if at % 5 == 0 else at % 2 == 0 for at in range(50)], dtype="boolean"),
                "text": [f"t{at}" for at in range(50)],
                "numbers": pd.Categorical([at % 3 for at in range(50)]),
                "large": np.arange(50) + 2**60,
            },
            index=[str(at) for at in range(50)],
        )
        for name, matrix in matrices.items():
            table = anndata.AnnData(X=matrix, obs=obs, var=pd.DataFrame(index=list("abcd")))
            path = folder / f"encodings-{version}.zarr"
            table.write_zarr(path / "tables" / name, chunks=(20, 3) if name in ("dense", "fortran") else None)
            paths.append(str(path))
        if version == 2:
            (path / "tables" / ".zgroup").write_text('{"zarr_format": 2}')
            (path / "tables" / ".zattrs").write_text(json.dumps({"tables": list(matrices)}))
            (path / ".zattrs").write_text("{}")
        else:
            group = {"zarr_format": 3, "node_type": "group"}
            (path / "tables" / "zarr.json").write_text(json.dumps({**group, "attributes": {"tables": list(matrices)}}))
            (path / "zarr.json").write_text(json.dumps({**group, "attributes": {}}))
    return sorted(set(paths))


def read_encodings(path: str) -> dict[str, dict[str, list]]:
    tables = {}
    for name in ["dense", "fortran", "csr", "csc"]:
        table = anndata.read_zarr(f"{path}/tables/{name}")
        frame = pd.concat([table.obs, table.to_df()], axis=1)
        tables[name] = columns_of(frame)
        tables[name]["large"] = [str(value) for value in tables[name]["large"]]
    return tables


if __name__ == "__main__":
    command, *rest = sys.argv[1:]
    if command == "write":
        print(json.dumps({"images": write(Path(rest[0])), "encodings": encodings(Path(rest[0]))}))
    else:
        readers = {path: read_encodings if "encodings" in path else read for path in rest}
        print(json.dumps({path: reader(path) for path, reader in readers.items()}))
