"""Build an sdist, of it a wheel, and try that in a clean environment of every Python from 3.11 here.

python tools/release.py results/release
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

VERSIONS = ("3.11", "3.12", "3.13")
WORKS = "import sys, venv, ensurepip; print(*sys.version_info[:2], sep='.')"


def run(*command: object) -> None:
    """Run a command; a failure ends the release."""
    subprocess.run([str(part) for part in command], check=True)


def pythons() -> dict[str, str]:
    """{version: program} of each Python that runs: on the path, or one that pyenv keeps.

    A name on the path is not enough: pyenv puts stand-ins there for versions that are not in use.
    """
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found: dict[str, str] = {}
    for version in VERSIONS:
        here = shutil.which(f"python{version}")
        others = sorted(kept.glob(f"{version}.*/bin/python{version}"), reverse=True)
        for program in filter(None, (here, *map(str, others))):
            asked = subprocess.run([program, "-c", WORKS], capture_output=True, text=True)
            if asked.returncode == 0 and asked.stdout.strip() == version:
                found[version] = program
                break
    return found


def main(folder: Path) -> None:
    """Build into a folder and try what was built."""
    shutil.rmtree(folder, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", folder, ".")
    (wheel,) = folder.glob("*.whl")
    for version, python in pythons().items():
        place = folder / f"python{version}"
        run(python, "-m", "venv", place)
        run(place / "bin" / "pip", "install", "--quiet", wheel)
        pliant = place / "bin" / "pliant"
        run(pliant, "--version")
        run(pliant, "run", "cantilever", "--steps", "2", "--out", place / "cantilever")
        print(f"Python {version}: installed from {wheel.name}, and works.", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
