"""147 tiny problems with optima that two independent convex solvers agree on; see the keys in `Instance`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

METRICS = {"f1": "f1", "auc_label": "auc-labelling", "auc_pair": "auc"}


@dataclass
class Instance:
    """min_W Omega(W) + C sum_i G_i(w_i), no intercept; `X` and `y` are the tasks' rows, one task after another."""

    number: int
    metric: str
    penalty: str
    C: float
    X: np.ndarray
    y: np.ndarray
    task: np.ndarray
    n_tasks: int
    optimum: float

    @property
    def has_both_classes(self) -> bool:
        return all(len(np.unique(self.y[self.task == i])) == 2 for i in range(self.n_tasks))

    @property
    def ptr(self) -> np.ndarray:
        return np.concatenate([[0], np.cumsum(np.bincount(self.task))]).astype(np.int64)


def instances() -> list[Instance]:
    with np.load(Path(__file__).with_name("ground_truth.npz")) as data:
        table = {key: data[key] for key in data.files}
    found = []
    for k in range(len(table["m"])):
        m, d = int(table["m"][k]), int(table["d"][k])
        sizes = table["n"][k][:m]
        found.append(
            Instance(
                number=k,
                metric=METRICS[str(table["loss"][k])],
                penalty=str(table["reg"][k]),
                C=float(table["lam"][k]),
                X=np.vstack([table["X"][k, i, : sizes[i], :d] for i in range(m)]),
                y=np.concatenate([table["y"][k, i, : sizes[i]] for i in range(m)]).astype(np.int8),
                task=np.repeat(np.arange(m), sizes),
                n_tasks=m,
                optimum=float(table["obj"][k]),
            )
        )
    return found
