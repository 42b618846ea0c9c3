"""Faults at some places of every command that writes; `benchmarks/faults.py` has all places."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.seeds import new_rng

HARNESS = Path(__file__).parents[3] / "benchmarks" / "faults.py"
COMMANDS = "fit,fit-folder,predict,predict-parquet,predict-gz,export,report,convert-arff,datasets,cache,compare-on"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the library that makes calls fail is Linux's")
@pytest.mark.skipif(shutil.which("cc") is None, reason="no compiler")
def test_no_fault_loses_or_corrupts_a_file():
    words = [
        "--commands",
        COMMANDS,
        "--faults",
        "ENOSPC,kill",
        "--random",
        "3",
        "--seed",
        str(new_rng().integers(2**31)),
    ]
    done = subprocess.run([sys.executable, str(HARNESS), *words], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, (words, done.stdout + done.stderr)
    assert done.stdout.endswith(" 0 failures\n")
    told = {line.split()[0] for line in done.stdout.splitlines() if " faults " in line}
    assert told >= set(COMMANDS.split(",")) - {"cache"}
