"""What a default install takes on disk, in a fresh virtual environment, and that it runs without a download.

    python -m tests.performance install [--keep FOLDER] [--json OUT]

Installs this checkout as a user would (`pip install .`), adds up the files, and then embeds and reads a turn with
every proxy pointing nowhere. Bar: at most 1.5 GB.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.performance.figures import Figure, arguments, present

ROOT = Path(__file__).parents[2]
SIZE_GB = 1.5
_USE = """
from pathlib import Path
from memgraph_server import wiring
from memgraph_server.settings import Settings
services = wiring.services(Settings(store="sqlite:///" + str(Path.cwd() / "fresh.db")))
services.reader.get()
assert services.embedder.get().encode(["Ann lives in Paris"])[0].pooled.shape[0] > 0
services.close()
"""
_NOWHERE = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9")


def measure(folder: Path) -> list[Figure]:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python"
    empty = size_gb(folder / "venv")
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(ROOT)]
    subprocess.run(pip, check=True, cwd=folder)
    installed = time.perf_counter() - began
    subprocess.run([python, "-c", _USE], check=True, cwd=folder, env=os.environ | _NOWHERE)
    largest = sorted(((size_gb(path), path.name) for path in _site(folder).iterdir()), reverse=True)[:5]
    return [
        Figure("installed", size_gb(folder / "venv"), "GB", SIZE_GB),
        Figure("of which the empty environment", empty, "GB"),
        Figure("time to install", installed, "s"),
        *(Figure(f"of which {name}", size, "GB") for size, name in largest),
    ]


def _site(folder: Path) -> Path:
    return next((folder / "venv" / "lib").glob("python*/site-packages"))


def size_gb(path: Path) -> float:
    """Bytes on disk, in 10⁹; a hard link counts once."""
    seen: dict[int, int] = {}
    for file in [path, *path.rglob("*")]:
        status = file.lstat()
        seen[status.st_ino] = status.st_blocks * 512
    return sum(seen.values()) / 1e9


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--keep", type=Path, help="make the environment there, and leave it")
    options = parser.parse_args()
    if options.keep is not None:
        options.keep.mkdir(parents=True, exist_ok=True)
        return present("A default install", measure(options.keep), options.json)
    with TemporaryDirectory(prefix="memgraph-install-") as folder:
        return present("A default install", measure(Path(folder)), options.json)


if __name__ == "__main__":
    main()
