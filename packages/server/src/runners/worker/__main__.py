"""The command line of the worker.

    python3 -I -S worker.pyz <batch folder>
    python3 -I -S worker.pyz --pack <inputs> <outputs> <round> <pack> [--nodes]
    python3 -I -S worker.pyz --follow [<outputs>]
    python3 -I -S worker.pyz --warm <folder>

The first runs a batch beside the service: the folder holds batch.json, units.jsonl and control.json, written by the
service, and journal.jsonl, written here. The worker needs nobody: the service may stop, come back later and read the
journal. The second runs a pack, the part of a batch that one job of a scheduler has; its journal holds all that the
service wants to know. The third prints what is new in the journals of packs. The fourth keeps
what tasks import in memory, for batches to come.
"""

from __future__ import annotations

import sys


def main() -> None:
    arguments = sys.argv[1:]
    if arguments[:1] == ["--follow"]:
        from .follow import follow

        try:
            follow(*arguments[1:])
        except BrokenPipeError:
            pass
        return
    from .run import run_batch, run_pack, run_warm

    if arguments[:1] == ["--pack"]:
        inputs, outputs, round_number, pack, *flags = arguments[1:]
        run_pack(inputs, outputs, int(round_number), int(pack), on_nodes="--nodes" in flags)
    elif arguments[:1] == ["--warm"]:
        run_warm(arguments[1])
    elif len(arguments) == 1:
        run_batch(arguments[0])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
