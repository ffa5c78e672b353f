"""What every task does around its own work: read the arguments file, check it, write the output file.

A task ends with `if __name__ == "__main__": run(__file__, make_demo_plate_init)`.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from demo_tasks.arguments import Refusal, read_arguments, schema_of


def run(file: str, task) -> None:
    # A task may be killed at any time; what it has said so far should be in the log.
    sys.stdout.reconfigure(line_buffering=True)
    parser = argparse.ArgumentParser(description=(task.__doc__ or "").strip())
    parser.add_argument("--args-json", required=True, type=Path, metavar="FILE")
    parser.add_argument("--out-json", required=True, type=Path, metavar="FILE")
    options = parser.parse_args()
    try:
        given = json.loads(options.args_json.read_text(encoding="utf-8"))
        output = task(**read_arguments(given, schema_of(f"tasks/{Path(file).name}")))
    except Refusal as refusal:
        sys.exit(str(refusal))
    options.out_json.write_text(json.dumps(output, indent=2), encoding="utf-8")
