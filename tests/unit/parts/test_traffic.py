"""What a pass sends between a driver and its workers is little beside all scores."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from smtl.dask import SMTLClassifier
from smtl.parts.raw import Raw
from smtl.parts.rows import PartsInMemory
from tests.seeds import new_rng

N_ROWS, N_PARTS, N_WORKERS = 200_000, 4, 2


class CountedRows(PartsInMemory):
    """Parts of which each worker would have as many; the bytes of each pass are counted."""

    def __init__(self, raws):
        super().__init__(raws)
        self.bytes_of_passes = []

    def begin(self, where):
        self.bytes_of_passes.append(N_WORKERS * size(where))
        return CountedPass(super().begin(where), self)


class CountedPass:
    def __init__(self, plain, rows):
        self.plain, self.rows = plain, rows

    def answer(self, todo):
        sent = self.plain.answer(todo._replace(joined=None))
        self.count(todo, sent if todo.joined is None else [todo.joined(sent)] * N_WORKERS)
        return sent if todo.joined is None else todo.joined(sent)

    def sums(self, todo):
        total = self.plain.sums(todo)
        self.count(todo, [total] * N_WORKERS)
        return total

    def count(self, todo, sent):
        self.rows.bytes_of_passes[-1] += N_WORKERS * size(todo._replace(own=None)) + size(todo.own) + size(sent)


def size(values):
    return len(pickle.dumps(values))


@pytest.mark.parametrize("metric", ["auc", "f1", "log"])
def test_less_than_a_tenth_of_all_scores(metric):
    rng = new_rng()
    X = rng.standard_normal((N_ROWS, 3), dtype=np.float32)
    y = X[:, 0] + rng.normal(size=N_ROWS) > 3.29  # one in a hundred
    pieces = zip(np.array_split(X, N_PARTS), np.array_split(y, N_PARTS), strict=True)
    rows = CountedRows([Raw(a, b, None, k) for k, (a, b) in enumerate(pieces)])
    model = SMTLClassifier(metric, threshold=0.0, tol=1e-2)._fit_rows(rows)
    assert model.gap_ <= 1e-2
    assert len(rows.bytes_of_passes) > 2
    assert max(rows.bytes_of_passes) < 0.1 * 8 * N_ROWS  # the first pass, where all scores are tied, among them
