"""Maximum Projection, first part: plates for the projections, and one item for each image."""

from __future__ import annotations

from pathlib import Path

from demo_tasks.arguments import Refusal
from demo_tasks.plates import place_of, write_plate
from demo_tasks.program import run


def maximum_projection_init(*, zarr_dir: str, zarr_urls: list, suffix: str) -> dict:
    origins: dict[str, str] = {}
    plates: dict[Path, dict] = {}
    for zarr_url in zarr_urls:
        place = place_of(zarr_url)
        plate = Path(zarr_dir) / f"{place.plate.stem}_{suffix}.zarr"
        target = f"{plate}/{place.row}/{place.column}/{place.image}"
        if target in origins:
            raise Refusal(f"{origins[target]} and {zarr_url} would both become {target}. Select one of the plates.")
        origins[target] = zarr_url
        plates.setdefault(plate, {}).setdefault((place.row, place.column), []).append(place.image)
    for plate, images in plates.items():
        write_plate(plate, images)
        print(f"Made the plate {plate} for the projections of {len(images)} wells.")
    items = [{"zarr_url": target, "init_args": {"origin_url": origin}} for target, origin in origins.items()]
    return {"parallelization_list": items}


if __name__ == "__main__":
    run(__file__, maximum_projection_init)
