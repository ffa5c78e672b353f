"""What Python runs first in the zip, where this file is called `__main__.py`."""

from __future__ import annotations

import sys
from zipimport import zipimporter


class Importer(zipimporter):
    """Asked for the name of a module's file, Python's own compiles the module, and then again to run it."""

    def get_filename(self, fullname: str) -> str:
        name = fullname.rpartition(".")[2]
        return f"{self.archive}/{self.prefix}{name}{'/__init__' if self.is_package(fullname) else ''}.py"


if __name__ == "__main__":
    sys.path_hooks.insert(0, Importer)  # type: ignore[arg-type]  # one of Python 3.9 is described as an older kind
    sys.path_importer_cache.clear()
    from worker.__main__ import main

    main()
