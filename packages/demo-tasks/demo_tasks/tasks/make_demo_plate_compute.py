"""Make Demo Plate, second part: the image of one well."""

from __future__ import annotations

from pathlib import Path
from random import Random

from demo_tasks.arguments import Refusal
from demo_tasks.cells import LIGHT_CENTRE, condense, draw_signal, light_field, noise_values, place_nuclei, take_plane
from demo_tasks.images import Image, channel_metadata, write_image
from demo_tasks.plates import place_of
from demo_tasks.program import run


def make_demo_plate_compute(
    *,
    zarr_url: str,
    init_args: dict,
    image: dict,
    channels: list,
    nuclei: dict,
    falloff: float,
    noise: float,
    compression: str,
) -> dict:
    for name in ("number", "radius"):
        if nuclei[name][0] > nuclei[name][1]:
            raise Refusal(f"nuclei.{name}: Give the smaller value first. It is {nuclei[name]}.")
    if len({channel["label"] for channel in channels}) < len(channels):
        raise Refusal("channels: Give each channel a label of its own.")

    place = place_of(zarr_url)
    size, planes = image["size"], image["planes"]
    random = Random(f"{init_args['seed']} {place.well}")
    wanted = round(random.randint(*nuclei["number"]) * init_args["survival"])
    placed = place_nuclei(random, wanted, nuclei["radius"], size, planes)
    # with numbers of its own, so that all else of a well stays as it is without the drug
    placed = condense(Random(f"{init_args['seed']} {place.well} drug"), placed, init_args["condensed"])
    if len(placed) < wanted:
        print(f"Warning: only {len(placed)} of {wanted} nuclei fit. Use a larger image or smaller nuclei.")

    field = light_field(size, size, falloff, LIGHT_CENTRE)
    noise_pool = noise_values(random, noise)

    def pixels():
        for index, channel in enumerate(channels):
            for z in range(planes):
                signal = draw_signal(placed, channel["stain"], z, size)
                yield (index, z), take_plane(signal, channel["brightness"], field, random, noise_pool)

    target = Image(
        Path(zarr_url),
        [channel_metadata(entry["label"], entry["color"], int(entry["brightness"] * 1.2)) for entry in channels],
        planes,
        size,
        size,
        image["voxel_size"],
        image["levels"],
        compression,
    )
    write_image(target, pixels(), {"demo_tasks": {"number_of_nuclei": len(placed)}})
    print(f"Drew {len(placed)} nuclei in well {place.well}.")
    update = {
        "zarr_url": zarr_url,
        "attributes": {"plate": place.plate.name, "well": place.well, "treatment": init_args["treatment"]},
        "types": {"is_3D": planes > 1},
    }
    return {"image_list_updates": [update]}


if __name__ == "__main__":
    run(__file__, make_demo_plate_compute)
