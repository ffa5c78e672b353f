"""Segment Nuclei: finds the bright objects of a channel and writes them as a label image."""

from __future__ import annotations

from demo_tasks.arguments import Refusal
from demo_tasks.images import channel_index, read_channel, read_image, write_labels
from demo_tasks.objects import connected_runs, label_planes, otsu_threshold
from demo_tasks.program import run


def segment_nuclei(
    *,
    zarr_url: str,
    channel_label: str,
    threshold: dict,
    min_size: int,
    max_size: int | None,
    exclude_border: bool,
    label_name: str,
) -> dict:
    if max_size is not None and max_size < min_size:
        raise Refusal(f"max_size: Use at least min_size, which is {min_size}. It is {max_size}.")
    image = read_image(zarr_url)
    planes = read_channel(image, channel_index(image, channel_label))
    if threshold["method"] == "fixed":
        value = threshold["value"]
    else:
        value = int(otsu_threshold(planes) * threshold["scale"])

    def wanted(runs) -> bool:
        pixels = sum(run.end - run.start for run in runs)
        if pixels < min_size or (max_size is not None and pixels > max_size):
            return False
        return not exclude_border or all(
            0 < run.start and run.end < image.width and 0 < run.y < image.height - 1 for run in runs
        )

    found = connected_runs(planes, image.height, image.width, value)
    nuclei = [runs for runs in found if wanted(runs)]
    write_labels(image, label_name, label_planes(nuclei, image.planes, image.height, image.width))
    print(f"Found {len(nuclei)} nuclei above {value}; left out {len(found) - len(nuclei)} other objects.")
    if not nuclei:
        print("Warning: there are no nuclei. Try a lower threshold or a smaller min_size.")
    return {"image_list_updates": [{"zarr_url": zarr_url}]}


if __name__ == "__main__":
    run(__file__, segment_nuclei)
