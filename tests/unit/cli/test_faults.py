"""Faults at some places of two commands; `benchmarks/faults.py` has all places of all commands."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HARNESS = Path(__file__).parents[3] / "benchmarks" / "faults.py"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the library that makes calls fail is Linux's")
@pytest.mark.skipif(shutil.which("cc") is None, reason="no compiler")
def test_no_fault_loses_or_corrupts_a_file():
    words = ["--commands", "predict,convert", "--faults", "ENOSPC,kill", "--most", "5"]
    done = subprocess.run([sys.executable, str(HARNESS), *words], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("0 failures\n")
    assert "left out" not in done.stdout
