"""What choosing C costs: the warm path against cold fits, and SMTLClassifierCV against LogisticRegressionCV.

    python benchmarks/choosing.py              # everything
    python benchmarks/choosing.py path cv      # parts: path, cv, same

One thread each, interleaved in one run; see speed.py for how times are shown. 'same' is no timing: it compares the
objective of every point of a path with that of a cold fit, for all metrics and penalties.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegressionCV
from sklearn.multiclass import OneVsRestClassifier
from threadpoolctl import threadpool_limits

import real_data
import speed
from smtl import SMTLClassifier, SMTLClassifierCV, smtl_path
from smtl.metrics import get_metric, metric_names
from smtl.penalties import get_penalty, penalty_names
from smtl.solvers import Problem, critical_C, grid_of_Cs, solve, solve_path
from smtl.tasks import SharedRows


def part_path(sets: list[str], repeats: int) -> None:
    print(
        "\nA path of 20 values of C over three decades, against 20 cold fits, all to a certified gap of 1e-2 and 1e-3"
    )
    for name in sets or ["yeast", "optdigits"]:
        X, Y, _, _ = real_data.split(name)
        for metric in ["auc", "f1"]:
            for penalty in ["l21", "trace"]:
                for tol, rounds in [(1e-2, repeats), (1e-3, 1)]:
                    options = {"metric": metric, "penalty": penalty, "tol": tol}
                    Cs = smtl_path(X, Y, metric=metric, penalty=penalty, tol=0.5).Cs
                    cold = [SMTLClassifier(metric, penalty, C=C, tol=tol, threshold=0.0) for C in Cs]
                    jobs = {
                        "path": lambda X=X, Y=Y, Cs=Cs, options=options: smtl_path(X, Y, Cs=Cs, **options),
                        "cold": lambda X=X, Y=Y, cold=cold: [model.fit(X, Y) for model in cold],
                    }
                    smtl_path(X, Y, Cs=Cs[:6], **options)  # what compiles does so here
                    seconds = speed.interleaved(jobs, rounds)
                    middle, low, high = speed.ratio(seconds["path"], seconds["cold"])
                    path = smtl_path(X, Y, Cs=Cs, **options)
                    print(
                        f"{name:10} {metric:4} {penalty:6} tol={tol:g}  path {speed.shown(seconds['path'])}  "
                        f"cold {speed.shown(seconds['cold'])}  ratio {middle:.2f} [{low:.2f}, {high:.2f}]  "
                        f"passes {path.n_iters.sum()} against {sum(model.n_iter_ for model in cold)}",
                        flush=True,
                    )


def part_cv(sets: list[str], repeats: int) -> None:
    print("\nSMTLClassifierCV(Cs=20, cv=5) against one-vs-rest LogisticRegressionCV(Cs=20, cv=5), thresholds included")
    for name in sets or ["yeast", "scene", "optdigits"]:
        X, Y, X_test, Y_test = real_data.split(name)
        models = {
            (metric, penalty): SMTLClassifierCV(metric, penalty)
            for metric in ["auc", "f1"]
            for penalty in ["l21", "trace"]
        }
        peer = OneVsRestClassifier(LogisticRegressionCV(Cs=20, cv=5))
        jobs = {"peer": lambda peer=peer, X=X, Y=Y: peer.fit(X, Y)}
        jobs |= {" ".join(key): lambda model=model, X=X, Y=Y: model.fit(X, Y) for key, model in models.items()}
        seconds = speed.interleaved(jobs, repeats)
        for (metric, penalty), model in models.items():
            ours = seconds[f"{metric} {penalty}"]
            middle, low, high = speed.ratio(ours, seconds["peer"])
            passes = int(model.cv_results_["mean_n_iter"].sum() * len(model.scores_))
            print(
                f"{name:10} {metric:4} {penalty:6} ours {speed.shown(ours)}  peer {speed.shown(seconds['peer'])}  "
                f"ratio {middle:.2f} [{low:.2f}, {high:.2f}]  passes {passes} + {model.n_iter_}  "
                f"C {model.C_:.3g}, number {int(np.argmax(model.Cs_ == model.C_))}  "
                f"held-out 40 % {metric} {model.score(X_test, Y_test):.4f}",
                flush=True,
            )


def part_same(sets: list[str], seconds: float) -> None:
    """Both end within tol of the optimum, so their objectives differ by at most that."""
    print(f"\nObjective of a path's points against cold fits, tol=1e-3, 8 values of C (at most {seconds:g} s each way)")
    for name in sets or ["emotions", "yeast", "optdigits", "cal500"]:
        X, Y, _, _ = real_data.split(name)
        usable = (Y.sum(axis=0) > 0) & (Y.sum(axis=0) < len(Y))
        tasks = SharedRows(X, np.ascontiguousarray((2 * Y[:, usable] - 1).astype(np.int8)))
        for metric in metric_names():
            for penalty in penalty_names():
                problem = Problem(tasks, get_metric(metric), get_penalty(penalty), with_intercept=True)
                Cs = grid_of_Cs(8, critical_C(problem))
                worst, done, gap, started = 0.0, 0, 0.0, time.perf_counter()
                for C, warm in zip(Cs, solve_path(problem, Cs, tol=1e-3, max_iter=5000, warn=False), strict=True):
                    cold = solve(problem, C, tol=1e-3, max_iter=5000, warn=False).certificate
                    difference = abs(warm.certificate.objective / cold.objective - 1.0)
                    worst, gap, done = max(worst, difference), max(gap, warm.certificate.gap), done + 1
                    if time.perf_counter() - started > seconds:
                        break
                verdict = "" if worst <= 1e-3 else "NOT THE SAME"
                print(
                    f"{name:10} {metric:14} {penalty:6} {done} of {len(Cs)} values, up to {C / Cs[0]:7.1f} x "
                    f"critical: largest difference {worst:.1e}, largest gap {gap:.1e} {verdict}",
                    flush=True,
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["path", "cv", "same"])
    parser.add_argument("--sets", nargs="*", default=[], help="instead of those that each part has")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=20.0, help="for each problem of the part 'same'")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if not real_data.available():
        sys.exit(f"This needs the data sets in {real_data.DATA}; set SMTL_DATA.")
    X, Y = speed.wide(100, 5, 2, np.random.default_rng(0))
    for metric in ["auc", "f1"]:
        SMTLClassifierCV(metric, Cs=2, cv=2).fit(X, Y)
    with threadpool_limits(1):
        if "path" in arguments.parts:
            part_path(arguments.sets, arguments.repeats)
        if "cv" in arguments.parts:
            part_cv(arguments.sets, arguments.repeats)
        if "same" in arguments.parts:
            part_same(arguments.sets, arguments.seconds)


if __name__ == "__main__":
    main()
