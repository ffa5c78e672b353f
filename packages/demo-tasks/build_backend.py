"""Builds the package with the standard library alone: for pip (PEP 517), or by hand.

    python build_backend.py <folder>    writes <folder>/demo_tasks-0.1.0-py3-none-any.whl

The same sources give the same bytes: files are sorted, dated 1980 and stored without compression, because what a
compressor writes differs between its versions.
"""

import base64
import gzip
import hashlib
import io
import re
import sys
import tarfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = (HERE / "pyproject.toml").read_text(encoding="utf-8")
OUTSIDE_PACKAGE = ["README.md", "build_backend.py", "pyproject.toml"]


def setting(key):
    # Python has a TOML reader only since 3.11.
    return re.search(rf'^{key} = "(.*)"$', PROJECT, re.MULTILINE).group(1)


PACKAGE = setting("name").replace("-", "_")
STEM = f"{PACKAGE}-{setting('version')}"


def metadata():
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {setting('name')}",
        f"Version: {setting('version')}",
        f"Summary: {setting('description')}",
        f"Requires-Python: {setting('requires-python')}",
        "Description-Content-Type: text/markdown",
        "",
        (HERE / "README.md").read_text(encoding="utf-8"),
    ]
    return "\n".join(lines).encode()


def package_files():
    files = (path for path in (HERE / PACKAGE).rglob("*") if path.suffix in (".py", ".json"))
    return {path.relative_to(HERE).as_posix(): path.read_bytes() for path in files}


def record_line(name, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    files = dict(sorted(package_files().items()))
    info = f"{STEM}.dist-info"
    files[f"{info}/METADATA"] = metadata()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: build_backend\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = [record_line(name, content) for name, content in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""]).encode()
    wheel = f"{STEM}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory) / wheel, "w", zipfile.ZIP_STORED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, content)
    return wheel


def build_sdist(sdist_directory, config_settings=None):
    files = {**package_files(), **{name: (HERE / name).read_bytes() for name in OUTSIDE_PACKAGE}}
    files["PKG-INFO"] = metadata()
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(files):
            entry = tarfile.TarInfo(f"{STEM}/{name}")
            entry.size = len(files[name])
            archive.addfile(entry, io.BytesIO(files[name]))
    sdist = f"{STEM}.tar.gz"
    (Path(sdist_directory) / sdist).write_bytes(gzip.compress(content.getvalue(), mtime=0))
    return sdist


def get_requires_for_build_wheel(config_settings=None):
    return []


def get_requires_for_build_sdist(config_settings=None):
    return []


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Name the folder for the wheel: python build_backend.py <folder>")
    Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    print(Path(sys.argv[1]) / build_wheel(sys.argv[1]))
