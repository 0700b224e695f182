"""Build wheel and sdist, and try the wheel in a clean environment of every Python from 3.11 that is here."""

import shutil
import subprocess
import sys
from pathlib import Path

PYTHONS = ("python3.11", "python3.12", "python3.13")


def run(*command: object) -> None:
    """Run a command; a failure ends the release."""
    subprocess.run([str(part) for part in command], check=True)


def main(folder: Path) -> None:
    """Build into a folder and try what was built."""
    shutil.rmtree(folder, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", folder, ".")
    (wheel,) = folder.glob("*.whl")
    for python in filter(shutil.which, PYTHONS):
        place = folder / python
        run(python, "-m", "venv", place)
        run(place / "bin" / "pip", "install", "--quiet", wheel)
        run(place / "bin" / "pliant", "--version")
        run(place / "bin" / "pliant", "doctor")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
