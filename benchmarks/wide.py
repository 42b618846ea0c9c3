"""Wide data and many tasks: ratios against peers on generated data, interleaved in one run, one thread each.

    python benchmarks/wide.py                  # everything
    python benchmarks/wide.py cv tasks         # parts: cv, tasks

'cv' is one candidate's cross-validation against ThresholdedLogistic(), which has five folds and thresholds as well;
'tasks' is a fit to a certified gap of 1e-2 at the automatic C against one-vs-rest LogisticRegression(). Times are
CPU seconds, shown as in speed.py.
"""

from __future__ import annotations

import argparse
import functools
import time
import warnings

import speed  # first: it sets the number of threads

# isort: split
import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from smtl import SMTLClassifier, SMTLClassifierCV
from smtl.baselines import ThresholdedLogistic


def texts(n: int, d: int, m: int, rng: np.random.Generator) -> tuple[sp.csr_array, np.ndarray]:
    """Word counts of documents with topics: frequent and rare words, frequent and rare topics, words of topics.

    Words are drawn from a mixture of what all documents share and of what their topics add. Every topic has documents
    with and without it.
    """
    common = 1.0 / np.arange(3, d + 3)
    frequency = np.geomspace(0.25, max(8 / n, 0.02), m)
    own = np.zeros((m, d))
    for topic in own:
        words = rng.choice(d, size=max(5, d // 100), replace=False)
        topic[words] = rng.exponential(size=len(words))
    own /= own.sum(axis=1, keepdims=True)
    Y = (rng.random((n, m)) < frequency).astype(np.int8)
    Y[: 2 * m] |= np.tile(np.eye(m, dtype=np.int8), (2, 1))[: min(n, 2 * m)]
    rate = 20.0 * common / common.sum() + 4.0 * (Y @ own)
    return sp.csr_array(rng.poisson(rate).astype(np.float64)), Y


def part_cv(repeats: int) -> None:
    print("\nCross-validation of one candidate (Cs=20, cv=5) against ThresholdedLogistic(), 587 x 1,449 x 21 dense")
    X, Y = texts(587, 1449, 21, np.random.default_rng(0))
    X = np.ascontiguousarray(StandardScaler().fit_transform(X.toarray()))
    models = {f"{a} {b}": SMTLClassifierCV(a, b) for a in ("log", "auc", "f1") for b in ("l21", "trace", "ridge")}
    peer = ThresholdedLogistic()
    jobs = {"peer": functools.partial(peer.fit, X, Y)}
    jobs |= {name: functools.partial(model.fit, X, Y) for name, model in models.items()}
    seconds = speed.interleaved(jobs, repeats, time.process_time)
    for name, model in models.items():
        passes = int(model.cv_results_["mean_n_iter"].sum() * len(model.scores_))
        tell(name, seconds, f"passes {passes} + {model.n_iter_}  gap {model.gap_:.1e}")


CASES: dict[str, tuple[int, int, int, str, str, str]] = {
    "400 x 60 x 120 dense": (400, 60, 120, "f1", "trace", "dense"),
    "5,000 x 499 x 297 sparse": (5000, 499, 297, "f1", "l21", "sparse"),
    "978 x 1,449 x 25 sparse": (978, 1449, 25, "auc", "l21", "sparse"),
}


def part_tasks(repeats: int) -> None:
    print("\nFit to a certified gap of 1e-2, at the automatic C, against one-vs-rest LogisticRegression()")
    for title, (n, d, m, metric, penalty, kind) in CASES.items():
        rng = np.random.default_rng(0)
        X, Y = speed.wide(n, d, m, rng) if kind == "dense" else texts(n, d, m, rng)
        model = SMTLClassifier(metric, penalty, tol=1e-2, threshold=0.0)
        peer = OneVsRestClassifier(LogisticRegression())
        jobs = {"peer": functools.partial(peer.fit, X, Y), "ours": functools.partial(model.fit, X, Y)}
        seconds = speed.interleaved(jobs, repeats, time.process_time)
        seconds[f"{metric} {penalty} {title}"] = seconds["ours"]
        tell(f"{metric} {penalty} {title}", seconds, f"passes {model.n_iter_}  gap {model.gap_:.1e}")


def tell(name: str, seconds: dict[str, list[float]], more: str) -> None:
    middle, low, high = speed.ratio(seconds[name], seconds["peer"])
    print(
        f"{name:34} ours {speed.shown(seconds[name])}  peer {speed.shown(seconds['peer'])}  ratio {middle:5.2f} "
        f"[{low:.2f}, {high:.2f}]  {more}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["cv", "tasks"])
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    X, Y = texts(60, 20, 3, np.random.default_rng(0))
    for metric in ("log", "auc", "f1"):
        for penalty in ("l21", "trace", "ridge"):
            for features in (X, X.toarray()):
                SMTLClassifierCV(metric, penalty, Cs=2, cv=2).fit(features, Y)
                SMTLClassifier(metric, penalty, threshold=0.0).fit(features, Y)
    with threadpool_limits(1):
        if "cv" in arguments.parts:
            part_cv(arguments.repeats)
        if "tasks" in arguments.parts:
            part_tasks(arguments.repeats)


if __name__ == "__main__":
    main()
