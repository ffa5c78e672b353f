"""Maximum Projection, second part: the brightest value along z of one image."""

from __future__ import annotations

from array import array
from functools import reduce
from pathlib import Path

from demo_tasks.arguments import Refusal
from demo_tasks.images import read_channel, read_image, write_image
from demo_tasks.plates import place_of
from demo_tasks.program import run


def brighter(one: array, other: array) -> array:
    return array("H", map(max, one, other))


def maximum_projection_compute(*, zarr_url: str, init_args: dict, z_range: list | None) -> dict:
    origin = init_args["origin_url"]
    source = read_image(origin)
    first, last = z_range or (0, source.planes - 1)
    if not first <= last < source.planes:
        raise Refusal(
            f"z_range: {origin} has the planes 0 to {source.planes - 1}. "
            f"Give the first and the last plane to use. It is {z_range}."
        )
    projections = (
        ((channel, 0), reduce(brighter, read_channel(source, channel)[first : last + 1]))
        for channel in range(len(source.channels))
    )
    write_image(source._replace(path=Path(zarr_url), planes=1), projections)
    print(f"Projected the planes {first} to {last} of {origin}.")
    update = {
        "zarr_url": zarr_url,
        "origin": origin,
        "attributes": {"plate": place_of(zarr_url).plate.name},
        "types": {"is_3D": False},
    }
    return {"image_list_updates": [update]}


if __name__ == "__main__":
    run(__file__, maximum_projection_compute)
