"""The peers' virtual environments."""

import os
import pathlib
import subprocess
import sys

PACKAGES = {
    "imagededup": ["imagededup"],
    "fastdup": ["fastdup"],
    "torch": ["torch", "torchvision"],
    "dali": ["nvidia-dali-cuda120", "numpy"],
    "ffcv": ["ffcv", "pillow"],  # which it imports and does not ask for
}
BESIDE = {"numpy", "pillow"}
MODULE = {"dali": "nvidia.dali"}

# FFCV is source. It asks pkg-config for all of OpenCV and includes all of it, and uses imgproc alone.
OPENCV = """Name: opencv4
Description: as much of OpenCV as FFCV uses
Version: 4
Libs: -lopencv_imgproc -lopencv_core
Cflags: -I{folder} -I/usr/include/opencv4
"""


def pip(python, *words, environment=None):
    done = subprocess.run([python, "-m", "pip", "install", "-q", *words], env=environment, capture_output=True, text=True)
    return done.returncode == 0, done.stderr


def install(folder, name):
    python = folder / name / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", folder / name], check=True)
    if name != "ffcv":
        return pip(python, *PACKAGES[name])
    shim = folder / "opencv-for-ffcv"
    (shim / "opencv2").mkdir(parents=True, exist_ok=True)
    (shim / "opencv2" / "opencv.hpp").write_text("#include <opencv2/imgproc.hpp>\n")
    (shim / "opencv4.pc").write_text(OPENCV.format(folder=shim))
    environment = {**os.environ, "PKG_CONFIG_PATH": str(shim)}
    fine, why = pip(python, "setuptools<81", "wheel", "numpy")
    return pip(python, "--no-build-isolation", *PACKAGES[name], environment=environment) if fine else (fine, why)


def find(folder, named, make):
    """By name, the interpreters that can import their peer."""
    found = {}
    for name in PACKAGES:
        python = pathlib.Path(named.get(name, folder / name / "bin" / "python"))
        if make and name not in named and not python.exists():
            fine, why = install(folder, name)
            print(f"{name}: " + ("installed" if fine else f"cannot be installed:\n{why[-2000:]}"), file=sys.stderr)
        if python.exists():
            done = subprocess.run([python, "-c", f"import {MODULE.get(name, name)}"], capture_output=True, text=True)
            if done.returncode == 0:
                found[name] = str(python)
            else:
                print(f"{name}: cannot be imported:\n{done.stderr[-1000:]}", file=sys.stderr)
    return found


def versions(pythons):
    for name, python in pythons.items():
        for package in PACKAGES[name]:
            if package not in BESIDE:
                code = f"import importlib.metadata as m; print(m.version({package!r}))"
                yield package + " " + subprocess.run([python, "-c", code], capture_output=True, text=True).stdout.strip()
    for name in PACKAGES:
        if name not in pythons:
            yield f"no {name}"
