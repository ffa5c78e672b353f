"""What a worker has to do: a batch beside the service, or a pack of a batch in a job of a scheduler."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from typing import Any, Callable, NamedTuple

from .claim import Claim
from .processes import boot_id, start_ticks_of
from .units import unit_lines

GRACE_SECONDS = 5.0
GIVE_UP_SECONDS = 30.0


class Batch(NamedTuple):
    """What all units of a batch share; the service writes it to batch.json."""

    command: list[str]
    folder: str  # where arguments, outputs and logs are
    working_folder: str
    environment: dict[str, str]
    warm: bool
    largest_output: int


class SchedulerJob(NamedTuple):
    scheduler_job_id: int | None
    array_job: int | None
    restart: int
    host: str


class Assignment(NamedTuple):
    """Where the files of a worker are, and by which rules it works. The defaults are those of a batch."""

    batch: Batch
    unit_lines: Callable[[], Iterator[bytes]]
    total: int
    journal: str
    warm_files: str  # how the paths of the files for a warm process begin
    control: str | None = None  # the file that tells how many units may run, and when to stop
    warm_parent: str | None = None  # the folder of the process that has imported already
    claim: Claim | None = None
    scheduler_job: SchedulerJob | None = None
    slots: int | None = None
    cpus_per_unit: int = 0
    memory_per_unit: int | None = None  # bytes
    grace: float = GRACE_SECONDS  # between "please end" and "end"
    give_up: float = GIVE_UP_SECONDS  # after that, for a process that cannot be killed (dead file server)
    longest_log: int | None = None  # up to which a log comes with the journal

    @property
    def is_pack(self) -> bool:
        return self.claim is not None


def read_json(path: str) -> Any:
    with open(path) as file:
        return json.load(file)


def read_json_once_it_is_there(path: str) -> Any:
    """A file server may show a folder as it was some seconds ago."""
    for _ in range(100):
        try:
            return read_json(path)
        except FileNotFoundError:
            time.sleep(0.1)
    return read_json(path)


def batch_of(content: dict[str, Any]) -> Batch:
    return Batch(
        command=content["command"],
        folder=content["folder"],
        working_folder=content["working_folder"],
        environment=content["environment"],
        warm=bool(content["warm"]),
        largest_output=content["largest_output"],
    )


def batch_assignment(folder: str) -> Assignment:
    content = read_json(f"{folder}/batch.json")
    return Assignment(
        batch=batch_of(content),
        unit_lines=lambda: unit_lines(f"{folder}/units.jsonl"),
        total=content["total"],
        journal=f"{folder}/journal.jsonl",
        warm_files=f"{folder}/warm",
        control=f"{folder}/control.json",
        warm_parent=content.get("warm_parent"),
    )


def pack_assignment(inputs: str, outputs: str, round_number: int, pack: int, on_nodes: bool = False) -> Assignment:
    """With `on_nodes`, the workers on the nodes of a job share the units of the pack."""
    content = read_json_once_it_is_there(f"{inputs}/batch.json")
    rules = read_json_once_it_is_there(f"{inputs}/round-{round_number}.json")
    node, nodes = 0, 1
    if on_nodes:
        node, nodes = scheduler_number("SLURM_PROCID") or 0, max(1, scheduler_number("SLURM_NTASKS") or 1)
    begin, end = rules["offsets"][pack : pack + 2]

    def lines() -> Iterator[bytes]:
        of_pack = unit_lines(f"{inputs}/units-{round_number}.jsonl", begin, end)
        return (line for index, line in enumerate(of_pack) if index % nodes == node)

    stem = f"{outputs}/r{round_number}-{pack:06d}" + (f".{node}" if on_nodes else "")
    job = current_job()
    return Assignment(
        batch=batch_of(content),
        unit_lines=lines,
        total=sum(1 for _ in lines()),
        journal=f"{stem}.jsonl",
        warm_files=f"{stem}.warm",
        claim=Claim(
            f"{stem}.claim",
            {**job._asdict(), "pid": os.getpid(), "started": start_ticks_of(os.getpid()), "boot": boot_id()},
        ),
        scheduler_job=job,
        slots=rules["parallel"],
        cpus_per_unit=rules["cpus"] or 0,
        memory_per_unit=rules["memory"],
        # The scheduler kills soon after: what cannot be killed is given up at once.
        grace=content.get("grace", GRACE_SECONDS),
        give_up=0.5,
        longest_log=content["largest_log"],
    )


def current_job() -> SchedulerJob:
    return SchedulerJob(
        scheduler_job_id=scheduler_number("SLURM_JOB_ID"),
        array_job=scheduler_number("SLURM_ARRAY_JOB_ID"),
        restart=scheduler_number("SLURM_RESTART_COUNT") or 0,
        host=os.environ.get("SLURMD_NODENAME") or os.uname().nodename,
    )


def scheduler_number(name: str) -> int | None:
    text = os.environ.get(name, "")
    return int(text) if text.isdigit() else None
