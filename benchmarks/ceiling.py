"""How high could the study's figures be? Every C of the grid on the test part itself, and the best one in hindsight.

    python benchmarks/ceiling.py optdigits tmc2007:paper --splits 10
    python benchmarks/ceiling.py optdigits --decades 4 --values 27  # a grid that goes on
    python benchmarks/ceiling.py optdigits cal500 --unit-rows  # every row scaled to length 1 before anything else

For the cells in which the published run is below the paper: no honest choice of C can do better than the best one for
the test part, taken for each split by itself. The splits, the grid and the solver's settings are those of the study;
the data sets are found as `smtl` finds them (SMTL_DATA). Models trained on F1 are cut at 0, those trained on AUC per
task where F1 is best on the training part.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from sklearn.preprocessing import normalize

from smtl import smtl_path
from smtl.estimators.thresholds import best_cut
from smtl.experiments.methods import GAP, PASSES
from smtl.experiments.protocol import measures, seed_of, split
from smtl.experiments.published import PAPER_MEASURES, best_smtl
from smtl.experiments.study_data import load_for_study


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+", metavar="SET")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--values", type=int, default=20)
    parser.add_argument("--decades", type=float, default=3.0, help="from the data's own critical C on")
    parser.add_argument("--unit-rows", action="store_true", help="scale every row to length 1, then the features")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in arguments.sets:
        X, Y = load_for_study(name)
        if arguments.unit_rows:
            X = normalize(X)
        for metric in ("auc", "f1"):
            for penalty in ("l21", "l11", "trace"):
                grid = arguments.values, arguments.decades
                found = [path_measures(X, Y, name, k, metric, penalty, *grid) for k in range(arguments.splits)]
                shown = []
                for measure in PAPER_MEASURES:
                    table = 100 * np.array([[at[measure] for at in each] for each in found])
                    shown.append(
                        f"{measure} {table.max(axis=1).mean():.3f} (one C for all {table.mean(axis=0).max():.3f})"
                    )
                print(f"{name:15} {metric:4} {penalty:6} best C in hindsight: {'  '.join(shown)}", flush=True)
        for measure in PAPER_MEASURES:
            print(f"{name:15} the paper's best SMTL, {measure}: {100 * best_smtl(name, measure):.3f}")


def path_measures(X, Y, name, number, metric, penalty, n_values, decades) -> list[dict[str, float]]:
    """Return the measures on the test part for every C of the grid."""
    parts = split(X, Y, seed_of(name, number), stratified=False)
    model = {"metric": metric, "penalty": penalty}
    critical = smtl_path(parts.X, parts.Y, Cs=2, tol=0.9, **model).Cs[0]
    Cs = critical * np.logspace(0.0, decades, n_values)
    path = smtl_path(parts.X, parts.Y, Cs=Cs, tol=GAP, max_iter=PASSES, **model)
    found = []
    for coef, intercept in zip(path.coefs, path.intercepts, strict=True):
        scores, test = (np.asarray(part @ coef.T) + intercept for part in (parts.X, parts.X_test))
        cuts = np.zeros(scores.shape[1])
        if metric == "auc":
            cuts = np.array([best_cut(y, s) for y, s in zip(parts.Y.T, scores.T, strict=True)])
        found.append(measures(parts.Y_test, test, (test > cuts).astype(int)))
    return found


if __name__ == "__main__":
    main()
