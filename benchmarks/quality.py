"""Is it better than what people use? SMTLClassifierCV against one-vs-rest logistic regression, on the same splits.

    python benchmarks/quality.py run STORE --jobs 2    # fills STORE (JSON lines); started again, it goes on
    python benchmarks/quality.py show STORE            # prints the tables

Ten random splits of 60/40 of each data set, features scaled on the training part. The rival is ThresholdedLogistic, one
logistic regression a label; its C (20 values from 1e-4 to 1e4, one for all labels) is chosen by 5-fold cross-validation
for the target, and for F1 its thresholds are those that are best on the held-out scores of that C: the same folds, and
the same code, as for SMTLClassifierCV. Targets are macro F1 and the mean AUC of the test part.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.metrics import f1_score, roc_auc_score
from threadpoolctl import threadpool_limits

import real_data
from smtl import SMTLClassifierCV
from smtl.baselines import ThresholdedLogistic

SETS = ["flags", "emotions", "scene", "yeast"]
SPLITS = range(10)
RIVAL_CS = np.logspace(-4, 4, 20)


def choices() -> list[tuple[str, str, str, str]]:
    """Target, metric, penalty and threshold of all that is tried; the rival first."""
    out = [("auc", "rival", "", ""), ("f1", "rival", "", "per-task")]
    for metric, penalty in product(["log", "auc"], ["trace", "l21"]):
        out += [("auc", metric, penalty, "per-task"), ("f1", metric, penalty, "per-task")]
    out += [("f1", metric, penalty, "smoothed") for metric, penalty in [("log", "trace"), ("auc", "l21")]]
    out += [("f1", "f1", penalty, "per-task") for penalty in ["trace", "l21"]]
    return out


def judge(target: str, Y: np.ndarray, scores: np.ndarray) -> float:
    if target == "f1":
        return float(f1_score(Y, scores > 0, average="macro", zero_division=0))
    both = (Y.sum(axis=0) > 0) & (Y.sum(axis=0) < len(Y))
    return float(np.mean([roc_auc_score(Y[:, i], scores[:, i]) for i in np.flatnonzero(both)]))


def rival(X: np.ndarray, Y: np.ndarray, X_test: np.ndarray, target: str) -> np.ndarray:
    """Scores of logistic regression on the test part, with the cut at zero."""
    return ThresholdedLogistic(RIVAL_CS, scoring=target, max_iter=100).fit(X, Y).decision_function(X_test)


def run_one(job: tuple[str, int, str, str, str, str]) -> dict[str, object]:
    warnings.simplefilter("ignore")
    name, split, target, metric, penalty, threshold = job
    X, Y, X_test, Y_test = real_data.split(name, seed=split)
    started = time.perf_counter()
    with threadpool_limits(1):
        if metric == "rival":
            scores = rival(X, Y, X_test, target)
        else:
            ours = SMTLClassifierCV(metric, penalty, scoring=target, threshold=threshold, threshold_metric="f1")
            scores = ours.fit(X, Y).decision_function(X_test)
    seconds = time.perf_counter() - started
    return {"job": job, "value": judge(target, Y_test, scores), "seconds": seconds}


def run(store: Path, n_jobs: int) -> None:
    done = {tuple(json.loads(line)["job"]) for line in store.read_text().splitlines()} if store.exists() else set()
    jobs = [(name, split, *choice) for choice in choices() for split in SPLITS for name in SETS]
    jobs = [job for job in jobs if job not in done]
    with ProcessPoolExecutor(n_jobs) as executor, store.open("a") as file:
        for result in executor.map(run_one, jobs):
            file.write(json.dumps(result) + "\n")
            file.flush()


def show(store: Path) -> None:
    values: dict[tuple[str, ...], dict[tuple[str, int], float]] = {}
    for line in store.read_text().splitlines():
        row = json.loads(line)
        name, split, *choice = row["job"]
        values.setdefault(tuple(choice), {})[name, split] = row["value"]
    for target, title in [("f1", "macro F1"), ("auc", "mean AUC")]:
        peer = next(value for choice, value in values.items() if choice[:2] == (target, "rival"))
        print(f"\n{title}: rival's mean, then ours less the rival's, mean of {len(SPLITS)} paired differences ± s.e.\n")
        print("| trained on | penalty | threshold | " + " | ".join(SETS) + " | average | ahead on |")
        print("|---|---|---|" + "---|" * (len(SETS) + 2))
        means = [np.mean([peer[name, split] for split in SPLITS]) for name in SETS]
        line = " | ".join(f"{mean:.4f}" for mean in means)
        threshold = "per-task" if target == "f1" else ""
        print(f"| logistic regression | ridge | {threshold} | {line} | {np.mean(means):.4f} | |")
        rows = []
        for choice in choices():
            if choice[0] != target or choice[1] == "rival" or len(values.get(choice, {})) < len(SETS) * len(SPLITS):
                continue
            differences = np.array(
                [[values[choice][name, split] - peer[name, split] for split in SPLITS] for name in SETS]
            )
            mean = differences.mean(axis=1)
            error = differences.std(axis=1, ddof=1) / np.sqrt(len(SPLITS))
            all_error = differences.mean(axis=0).std(ddof=1) / np.sqrt(len(SPLITS))
            cells = " | ".join(f"{a:+.4f} ± {b:.4f}" for a, b in zip(mean, error, strict=True))
            threshold = choice[3] if target == "f1" else ""
            ahead = f"{int((mean > 0).sum())} of {len(SETS)}"
            average = f"{mean.mean():+.4f} ± {all_error:.4f}"
            rows.append((mean.mean(), f"| {choice[1]} | {choice[2]} | {threshold} | {cells} | {average} | {ahead} |"))
        for _, row in sorted(rows, reverse=True):
            print(row)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "show"])
    parser.add_argument("store", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    if arguments.what == "run":
        run(arguments.store, arguments.jobs)
    show(arguments.store)


if __name__ == "__main__":
    main()
