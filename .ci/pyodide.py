"""Fetches what the tests inside Pyodide import, from the same lock as everything else: pyodide.py FOLDER.

pip takes the wheels for Pyodide's platform; a stamp holds a checksum of their lines in the lock.
"""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# pytest and hypothesis with what they need there.
PACKAGES = ("pytest", "hypothesis", "iniconfig", "packaging", "pluggy", "pygments", "sortedcontainers")
PLATFORM = [
    "--only-binary=:all:",
    "--python-version=3.14",
    "--implementation=cp",
    "--abi=cp314",
    "--abi=none",
    "--platform=pyemscripten_2026_0_wasm32",
    "--platform=any",
]


def locked(lock):
    """The lines of the lock that pin these packages, hashes included."""
    blocks = lock.replace(" \\\n", " ").splitlines()
    return "\n".join(line for line in blocks if line.split("==")[0] in PACKAGES) + "\n"


def main(folder):
    folder = Path(folder)
    lines = locked((ROOT / "requirements.lock").read_text(encoding="utf-8"))
    stamp, checksum = folder / ".stamp", hashlib.sha256(lines.encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == checksum:
        return 0
    print("==> packages for the tests in Pyodide", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "requirements.txt").write_text(lines, encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--quiet"]
    where = ["--target", str(folder), "--no-deps", "--require-hashes", "-r", str(folder / "requirements.txt")]
    code = subprocess.call([*pip, *PLATFORM, *where], timeout=300)
    if code == 0:
        stamp.write_text(checksum)
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
