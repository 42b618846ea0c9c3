"""The oracles of ranking metrics against all rankings, all labellings and all sets of negatives."""

import numpy as np
import pytest

from smtl.metrics import AUC, NDCG, PRBEP, AveragePrecision, PartialAUC, PrecisionAtK
from tests.candidates import candidates
from tests.seeds import new_rng

CASES = 2000
SIZES = [(P, N) for P in range(1, 6) for N in range(1, 6) if P + N <= 6]


METRICS = [
    AveragePrecision(),
    NDCG(),
    PRBEP(),
    *map(PrecisionAtK, (1, 2, 3, 5, 9)),
    *map(PartialAUC, (0.1, 0.5, 0.7, 1.0)),
]


def draw(rng, P, N):
    """Scores with ties, or about as far apart as the losses can feel, or anywhere."""
    n = P + N
    kind = rng.integers(4)
    if kind == 0:
        return 0.25 * rng.integers(-4, 5, n)
    if kind == 1:
        return rng.normal(size=n) * 10.0 ** rng.uniform(-2, 1)
    if kind == 2:
        return np.repeat([0.5, 0.0], [P, N]) * rng.normal() + rng.integers(0, 2, n) / n
    return rng.normal(size=n) / n + 10 * rng.normal()


@pytest.mark.parametrize("metric", METRICS, ids=repr)
def test_oracle_is_the_worst_of_all_candidates(metric):
    rng = new_rng()
    for case in range(CASES):
        P, N = SIZES[case % len(SIZES)]
        if isinstance(metric, PartialAUC) and P * N > 6:
            P, N = 2, 3
        every_delta, every_c = candidates(metric, P, N)
        s, y = draw(rng, P, N), np.repeat([1, -1], [P, N])
        order = rng.permutation(P + N)
        delta, permuted = metric.oracle(s[order], y[order])
        c = np.empty(P + N)
        c[order] = permuted
        rounding = 1e-10 * (1 + np.abs(s).sum())
        assert delta - s @ c == pytest.approx(np.max(every_delta - every_c @ s), abs=rounding), (s, y)
        u = draw(rng, P, N)  # and below the worst of all elsewhere
        assert delta - u @ c <= np.max(every_delta - every_c @ u) + 1e-10 * (1 + np.abs(u).sum()), (s, u, y)
        assert c.sum() == pytest.approx(0.0, abs=1e-12)


def place_by_place(s, y, discount, norm):
    """Each negative where it is worth most, among all places: O(P N) and no halving."""
    pos, neg = -np.sort(-s[y > 0]), -np.sort(-s[y < 0])
    i, total = np.arange(1, len(pos) + 1), 0.0
    for j, score in enumerate(neg, 1):
        worth = norm(i) * (discount(i + j - 1) - discount(i + j)) - (pos - score) / (len(pos) * len(neg))
        total += max(0.0, np.cumsum(worth[::-1]).max())
    return total


def one_over_rank(r):
    return 1.0 / r


def one_over_log(r):
    return 1.0 / np.log2(r + 1.0)


@pytest.mark.parametrize("kind", range(4))
def test_places_of_many_rows(kind):
    rng = new_rng()
    for P, N in [(1, 90), (90, 1), (40, 60), (7, 300), (200, 30)]:
        y = rng.permutation(np.repeat([1, -1], [P, N]))
        noise = rng.normal(size=P + N)
        s = [noise, 0.1 * noise + 0.2 * y, 0.0 * noise, 0.5 * np.round(noise)][kind]
        delta, c = AveragePrecision().oracle(s, y)
        assert delta - s @ c == pytest.approx(place_by_place(s, y, one_over_rank, lambda i, P=P: i / P), abs=1e-9)
        assert all(np.ptp(c[(s == v) & (y == label)]) < 1e-12 for v, label in set(zip(s, y, strict=True)))
        ideal = one_over_log(np.arange(1, P + 1)).sum()
        delta, c = NDCG().oracle(s, y)
        wanted = place_by_place(s, y, one_over_log, lambda i, ideal=ideal: 1 / ideal)
        assert delta - s @ c == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("n", [50, 3000])
def test_partial_auc_of_many_rows(n):
    rng = new_rng()
    for s in (rng.normal(size=n), rng.normal(size=n) ** 9, np.round(rng.normal(size=n), 1), np.ones(n)):
        y = np.where(np.arange(n) % 5 == 0, 1, -1)
        for beta in (0.013, 0.1, 0.5):
            delta, c = PartialAUC(beta).oracle(s, y)
            pos, neg = s[y > 0], -np.sort(-s[y < 0])
            share = np.clip(beta * len(neg) - np.arange(len(neg)), 0.0, 1.0)
            wanted = np.maximum(0.0, 1.0 - pos[:, None] + neg) @ share
            scale = 1 + np.abs(s).max()
            assert delta - s @ c == pytest.approx(np.mean(wanted) / (beta * len(neg)), rel=1e-9, abs=1e-9 * scale)
        whole, auc = (delta - s @ c for delta, c in (PartialAUC(1.0).oracle(s, y), AUC().oracle(s, y)))
        assert whole == pytest.approx(auc, rel=1e-9)


@pytest.mark.parametrize("n", [40, 4000])
def test_the_top_of_many_rows(n):
    rng = new_rng()
    for s in (rng.normal(size=n), rng.normal(size=n) ** 9, np.round(rng.normal(size=n), 1), np.ones(n)):
        y = np.where(np.arange(n) % 7 == 0, 1, -1)
        pos, neg = -np.sort(-s[y > 0]), -np.sort(-s[y < 0])
        for k in (1, 3, n // 10, n // 2):
            q = min(k, len(pos))
            tops = [t for t in range(q) if k - t <= len(neg)]
            wanted = max((q - t) / k * (1 + neg[: k - t].mean() - pos[t:].mean()) for t in tops)
            delta, c = PrecisionAtK(k).oracle(s, y)
            assert delta - s @ c == pytest.approx(max(0.0, wanted), rel=1e-9, abs=1e-9)
        P = len(pos)
        wanted = max((P - t) / P + 2 * (neg[: P - t].sum() - pos[t:].sum()) for t in range(P + 1))
        delta, c = PRBEP().oracle(s, y)
        assert delta - s @ c == pytest.approx(wanted, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("metric", METRICS, ids=repr)
def test_loss_is_at_least_what_the_score_falls_short(metric):
    """That of a perfect order less that of the scores, as areas or shares."""
    rng = new_rng()
    for _ in range(200):
        P, N = rng.integers(1, 8, 2)
        y, s = np.repeat([1, -1], [P, N]), rng.normal(size=P + N) * rng.choice([0.1, 1.0, 10.0])
        short = metric.score(y, y) - metric.score(y, s)
        if isinstance(metric, PartialAUC):  # from the standardised area to the share of the area
            short *= 2 * (1 - 0.5 * metric.max_fpr)
        delta, c = metric.oracle(s, y)
        assert delta - s @ c >= short - 1e-9


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (lambda: PartialAUC(0.0), r"max_fpr must be a number above 0 and at most 1, got 0\.0 instead\."),
        (lambda: PartialAUC("0.1"), r"max_fpr must be .*, got '0\.1' instead\."),
        (lambda: PartialAUC(np.nan), r"max_fpr must be .*, got nan instead\."),
        (lambda: PrecisionAtK(0), r"k must be a whole number, at least 1, got 0 instead\."),
        (lambda: PrecisionAtK(2.5), r"k must be .*, got 2\.5 instead\."),
        (lambda: PrecisionAtK(True), r"k must be .*, got True instead\."),
    ],
)
def test_parameters_without_a_meaning(made, text):
    with pytest.raises(ValueError, match=text):
        made()
