"""Does a study survive? Kill ``smtl reproduce --quick`` at random moments, and compare with one left in peace.

    python benchmarks/killing.py FOLDER --kills 10

Both runs are kept in FOLDER. Every figure but seconds must be the same, to the last digit.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from smtl.experiments import Store

MEASURES = ["macro_f1", "micro_f1", "auc", "average_precision", "hamming_loss", "subset_accuracy", "C", "gap", "seed"]


def start(out: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "smtl.cli", "reproduce", "--quick", "--skip-missing", "--out", str(out)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def table(out: Path) -> list[tuple[object, ...]]:
    with Store(out / "runs.sqlite") as store:
        rows = store.rows()
    return [(row["dataset"], row["method"], row["split"], *(row.get(key) for key in MEASURES)) for row in rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--longest", type=float, default=60.0, help="seconds between kills at most")
    arguments = parser.parse_args()
    peace, war = arguments.folder / "peace", arguments.folder / "war"
    for _ in range(arguments.kills):
        process = start(war)
        time.sleep(random.uniform(1.0, arguments.longest))
        ended = process.poll() is not None
        process.send_signal(signal.SIGKILL)
        process.wait()
        done = len(table(war)) if (war / "runs.sqlite").exists() else 0
        print(f"killed after {done} runs" if not ended else f"it had ended, with {done} runs", flush=True)
    for out in (war, peace):
        started = time.perf_counter()
        if start(out).wait():
            sys.exit(f"the run in {out} failed")
        print(
            f"{out.name}: {len(table(out))} runs, the last start took {time.perf_counter() - started:.0f} s", flush=True
        )
    print("the same table" if table(war) == table(peace) else "NOT THE SAME")


if __name__ == "__main__":
    main()
