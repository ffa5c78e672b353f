"""Which CPUs each unit of a pack runs on, so that units do not get into each other's way."""

from __future__ import annotations

import os


class OnCpus:
    """What is started inside runs on these CPUs from its first instruction on."""

    def __init__(self, cpus: list[int] | None, all_cpus: set[int]) -> None:
        self._cpus, self._all_cpus = cpus, all_cpus

    def __enter__(self) -> None:
        if self._cpus:
            os.sched_setaffinity(0, self._cpus)

    def __exit__(self, *_: object) -> None:
        if self._cpus:
            os.sched_setaffinity(0, self._all_cpus)


class CpuShares:
    """CPUs for as many units as run at a time; none where the CPUs of the job cannot be told from those of others."""

    def __init__(self, units: int = 0, cpus_per_unit: int = 0) -> None:
        # Elsewhere than on Linux, processes are not tied to CPUs.
        self._all = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
        self._free = cpus_of_units(units, cpus_per_unit) if cpus_per_unit and self._all else []

    def take(self) -> list[int] | None:
        return self._free.pop() if self._free else None

    def give_back(self, cpus: list[int]) -> None:
        self._free.append(cpus)

    def first_free(self) -> list[int] | None:
        return self._free[0] if self._free else None

    def on(self, cpus: list[int] | None) -> OnCpus:
        return OnCpus(cpus, self._all)


def cpus_of_units(units: int, cpus_per_unit: int) -> list[list[int]]:
    """Empty where the worker may use more than its job has: jobs would meet on the same CPUs."""
    allowed = os.sched_getaffinity(0)
    told = os.environ.get("SLURM_CPUS_ON_NODE", "")
    of_job = int(told) if told.isdigit() else units * cpus_per_unit
    if len(allowed) != of_job or of_job < units * cpus_per_unit:
        return []
    ordered = sorted(allowed, key=lambda cpu: (core_of(cpu), cpu))
    return [ordered[unit * cpus_per_unit : (unit + 1) * cpus_per_unit] for unit in range(units)]


def core_of(cpu: int) -> int:
    """The first of the CPUs that are threads of the same core."""
    try:
        with open(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list") as file:
            return int(file.read().replace("-", ",").split(",")[0])
    except (OSError, ValueError):
        return cpu
