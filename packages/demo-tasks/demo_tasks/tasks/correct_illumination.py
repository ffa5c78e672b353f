"""Correct Illumination: divides the image by the profile of its light, in a new image or in place."""

from __future__ import annotations

from pathlib import Path

from demo_tasks.cells import light_field
from demo_tasks.illumination import corrected, estimated_profile
from demo_tasks.images import read_channel, read_image, write_image
from demo_tasks.plates import add_images_to_well, place_of
from demo_tasks.program import run


def correct_illumination(*, zarr_url: str, profile: dict, overwrite_input: bool) -> dict:
    source = read_image(zarr_url)
    place = place_of(zarr_url)

    def profile_of(planes):
        if profile["kind"] == "known":
            return light_field(source.height, source.width, profile["falloff"], profile["centre"])
        return estimated_profile(planes, source.height, source.width, profile["tiles"], profile["percentile"])

    def pixels():
        for channel, metadata in enumerate(source.channels):
            planes = read_channel(source, channel)
            light = profile_of(planes)
            print(f"Channel {metadata['label']}: the darkest place had {100 * min(light):.0f} % of the light.")
            for z, plane in enumerate(planes):
                yield (channel, z), corrected(plane, light)

    if overwrite_input:
        # All is read before anything is replaced.
        write_image(source, list(pixels()))
        return {"image_list_updates": [{"zarr_url": zarr_url}]}
    target = Path(f"{zarr_url}_corrected")
    write_image(source._replace(path=target), pixels())
    add_images_to_well(target.parent, [place.image, target.name])
    print(f"Wrote {target}.")
    return {"image_list_updates": [{"zarr_url": str(target), "origin": zarr_url}]}


if __name__ == "__main__":
    run(__file__, correct_illumination)
