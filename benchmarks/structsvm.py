"""How fast is StructSVM? CPU time against scikit-learn's one-vs-rest LinearSVC, on its digits, one thread each.

    python benchmarks/structsvm.py [--repeats 5]

Ten one-vs-rest tasks on a 70 % training part. The C program SVM-perf takes about 57 times the CPU time of LinearSVC for
F1 at a relative gap of 1e-4, and about 13 times for AUC at 7e-3. At which trade-off is not known, so all are here: c is
SVM-perf's own (its default is 0.01), from which C follows (see StructSVM's notes), for the features as they are (0 to
16) and divided by 16. LinearSVC has its defaults; it is fitted to the same features.

Every gap is certified, task by task. 'bundle' is the same problem with the solver that takes any penalty, at the same
gap of all tasks together.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time
import warnings

for variable in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"]:
    os.environ[variable] = "1"

import numpy as np
import sklearn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

from smtl.baselines import StructSVM

GAPS = {"f1": 1e-4, "auc": 7e-3, "error": 1e-4}
TRADE_OFFS = [0.01, 0.1, 1.0, 10.0, 100.0]


def C_of(c: float, metric: str, n: int) -> float:
    """SVM-perf's trade-off in our terms."""
    return {"f1": 25.0 * c / n**2, "error": 50.0 * c / n, "auc": 100.0 * c}[metric]


def cpu_seconds(model: object, X: np.ndarray, y: np.ndarray) -> float:
    started = time.process_time()
    model.fit(X, y)
    return time.process_time() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, scikit-learn {sklearn.__version__}")
    X_all, y_all = load_digits(return_X_y=True)
    X_raw, X_test, y, y_test = train_test_split(X_all, y_all, train_size=0.7, random_state=0, stratify=y_all)
    Y, Y_test = (np.equal.outer(labels, np.arange(10)).astype(int) for labels in (y, y_test))
    for metric in GAPS:
        StructSVM(metric, threshold=0.0, max_iter=5).fit(X_raw, Y)  # compiles
    print("\nmetric  features       c         C   CPU ms  x LinearSVC (least, largest)  passes  gap      bundle  test")
    for metric, gap in GAPS.items():
        for scale, words in [(1.0, "0 to 16"), (1.0 / 16.0, "0 to 1")]:
            X = np.ascontiguousarray(scale * X_raw)
            for c in [*TRADE_OFFS, None]:
                C = "auto" if c is None else C_of(c, metric, len(X))
                ours = StructSVM(metric, C=C, tol=gap, threshold=0.0)
                bundle = StructSVM(metric, C=C, tol=gap, threshold=0.0, solver="bundle")
                rounds = [
                    (cpu_seconds(ours, X, Y), cpu_seconds(LinearSVC(), X, y), cpu_seconds(bundle, X, Y))
                    for _ in range(arguments.repeats)
                ]
                ratios = [a / b for a, b, _ in rounds]
                print(
                    f"{metric:6}  {words:8} {'auto' if c is None else f'{c:g}':>7}  {ours.C_:8.2g} "
                    f"{1e3 * statistics.median(a for a, _, _ in rounds):8.1f}  {statistics.median(ratios):11.2f} "
                    f"({min(ratios):.2f}, {max(ratios):.2f})  {ours.n_iter_:10d}  {ours.gap_:.1e}  "
                    f"{statistics.median(b / a for _, a, b in rounds):6.2f}  {ours.score(scale * X_test, Y_test):.3f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
