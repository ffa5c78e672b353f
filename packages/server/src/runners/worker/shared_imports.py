"""Which modules the scripts of an environment all import, found by reading them, so that these are imported once.

Only what every one of them imports for certain is shared, and only as far as nothing before it may change what an
import finds. A module that just one of them imports may change what the others do (filters of warnings, settings of a
library): it is imported for that one alone.
"""

from __future__ import annotations

import ast
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

MOST_FILES = 200  # of the package of a script
LONGEST_FILE = 1024 * 1024
STANDARD_LIBRARY: frozenset[str] = getattr(sys, "stdlib_module_names", frozenset(sys.builtin_module_names))  # 3.10

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Pass)
TOUCHING = {"environ", "environb", "putenv", "setenv", "path", "modules", "meta_path", "path_hooks"}


class SharedImports(NamedTuple):
    names: list[str]  # in the order in which the first of the scripts imports them
    scripts: list[str]


class Package(NamedTuple):
    """The package that a script is a file of; without a name where it is a file of none."""

    folder: str  # above the package
    name: str

    def file_of(self, module: str) -> str | None:
        path = os.path.join(self.folder, *module.split("."))
        return next((file for file in (f"{path}.py", f"{path}/__init__.py") if os.path.isfile(file)), None)

    def has(self, module: str) -> bool:
        return bool(self.name) and module.split(".")[0] == self.name


def package_of(script: str) -> Package:
    folder, parts = os.path.dirname(script), [""]
    while os.path.isfile(f"{folder}/__init__.py"):
        folder, part = os.path.split(folder)
        parts.append(part)
    return Package(folder, parts[-1])


class ChangesImports(Exception):
    """From here on nobody knows what an import finds."""


def imports_of(script: str) -> list[str]:
    """The modules of other packages that a script imports, itself or through the files of its own package, in order."""
    script = os.path.realpath(script)
    package = package_of(script)
    found: dict[str, None] = {}
    seen: set[str] = set()

    def take_file(path: str) -> None:
        if path in seen:
            return
        seen.add(path)
        if len(seen) > MOST_FILES:
            raise ChangesImports()
        for module in modules_in(path, package):
            if not package.has(module):
                found.update(dict.fromkeys(prefixes(module)))
                continue
            for one in prefixes(module):
                file = package.file_of(one)
                if file:
                    take_file(file)

    try:
        take_file(script)
    except (ChangesImports, RecursionError):
        pass
    return list(found)


def prefixes(module: str) -> list[str]:
    """To import a module is to import the packages that it is in."""
    parts = module.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts) + 1)]


def modules_in(path: str, package: Package) -> Iterator[str]:
    try:
        with open(path, "rb") as file:
            body = ast.parse(file.read(LONGEST_FILE)).body
    except (OSError, SyntaxError, ValueError, MemoryError) as error:  # the Python of the task may be a newer one
        raise ChangesImports() from error
    for statement in body:
        if isinstance(statement, ast.Import):
            yield from (name.name for name in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            yield from modules_from(path, statement, package)
        elif may_change_imports(statement):
            raise ChangesImports()


def modules_from(path: str, statement: ast.ImportFrom, package: Package) -> Iterator[str]:
    module = statement.module or ""
    if module == "__future__":
        return
    if statement.level:
        folder = os.path.dirname(path)
        for _ in range(statement.level - 1):
            folder = os.path.dirname(folder)
        here = os.path.relpath(folder, package.folder).replace(os.sep, ".")
        module = f"{here}.{module}" if module else here
    yield module
    if package.has(module):  # what is taken from a package may be a module of it
        yield from (f"{module}.{name.name}" for name in statement.names)


def may_change_imports(statement: ast.stmt) -> bool:
    """Definitions and plain variables do not, whatever they are made of, unless they name what imports depend on."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return False
    if isinstance(statement, (ast.If, ast.Try)):
        handlers = [one for handler in getattr(statement, "handlers", ()) for one in handler.body]
        parts = [*statement.body, *handlers, *statement.orelse, *getattr(statement, "finalbody", ())]
        return not is_main_guard(statement) and any(may_change_imports(part) for part in parts)
    if isinstance(statement, DEFINITIONS):
        return False
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return False
    if isinstance(statement, ast.Assign):
        is_plain = all(isinstance(target, ast.Name) for target in statement.targets)
    else:
        is_plain = isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
    return not is_plain or any(
        isinstance(node, ast.Attribute) and node.attr in TOUCHING for node in ast.walk(statement)
    )


def is_main_guard(statement: ast.stmt) -> bool:
    """`if __name__ == "__main__":`, at the end of a script."""
    test = getattr(statement, "test", None)
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"


def tops_of(names: Iterable[str]) -> set[str]:
    """The packages that were installed."""
    return {name for name in names if "." not in name and name not in STANDARD_LIBRARY}


def largest_share(imports: Mapping[str, list[str]]) -> SharedImports | None:
    """What those scripts have in common that import the package which most of them import."""
    most = Counter(top for names in imports.values() for top in tops_of(names)).most_common(1)
    if not most or most[0][1] < 2:
        return None
    scripts = [script for script, names in imports.items() if most[0][0] in names]
    common = set.intersection(*(set(imports[script]) for script in scripts))
    return SharedImports([name for name in imports[scripts[0]] if name in common], scripts)
