"""The tests against scipy, scikit-posthocs, statsmodels and the worked example of Demsar 2006."""

import numpy as np
import pytest
from scipy import stats

from smtl.experiments.results import Results
from smtl.experiments.statistics import cliques, critical_difference, holm, mean_ranks, paired_tests
from tests.seeds import new_rng

# Table 6 of J. Demsar, JMLR 7, 2006: AUC of C4.5, +m, +cf, +m+cf on 14 data sets.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)


def test_the_example_of_demsar():
    result = mean_ranks(DEMSAR)
    assert result.ranks == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=6e-4)
    assert result.critical_difference == pytest.approx(1.25, abs=5e-3)
    # The paper does not correct for ties, scipy does: its statistic is larger.
    chi2 = 12 * 14 / (4 * 5) * (np.sum(result.ranks**2) - 4 * 25 / 4)
    assert chi2 == pytest.approx(9.28, abs=0.01)
    assert 13 * chi2 / (14 * 3 - chi2) == pytest.approx(3.69, abs=0.01)
    assert stats.chi2.isf(result.friedman, 3) > chi2
    assert result.friedman < stats.chi2.sf(9.28, 3)
    assert result.iman_davenport < stats.f.sf(3.69, 3, 39) < 0.05
    # "C4.5+m+cf and C4.5+m against C4.5: not significant at 0.05 by Nemenyi" (1.179 and 1.143 < 1.25).
    assert result.nemenyi[3, 0] > 0.05
    assert result.nemenyi[1, 0] > 0.05


def test_critical_differences_of_the_table():
    # q_0.05 of Demsar's table 5a for 2, 5 and 10 methods.
    for k, q in [(2, 1.960), (5, 2.728), (10, 3.164)]:
        assert critical_difference(20, k) == pytest.approx(q * np.sqrt(k * (k + 1) / 120), rel=1e-3)
    assert critical_difference(14, 4, alpha=0.10) == pytest.approx(1.12, abs=5e-3)


def test_nemenyi_as_in_scikit_posthocs():
    posthocs = pytest.importorskip("scikit_posthocs", reason="scikit-posthocs is not installed")
    values = new_rng().normal(size=(9, 6)) + np.arange(6) * 0.5
    theirs = posthocs.posthoc_nemenyi_friedman(values).to_numpy()
    assert mean_ranks(values).nemenyi == pytest.approx(theirs, abs=1e-6)


def test_friedman_as_in_scipy():
    values = new_rng().normal(size=(12, 5))
    assert mean_ranks(values).friedman == pytest.approx(stats.friedmanchisquare(*values.T).pvalue)


@pytest.mark.parametrize("n", [3, 10, 30])
@pytest.mark.parametrize("decimals", [15, 0], ids=["all differ", "with ties"])
def test_paired_tests_as_in_scipy(n, decimals):
    rng = new_rng()
    ours, theirs = 60 + 3 * rng.normal(size=(2, n))
    ours, theirs = ours.round(decimals), theirs.round(decimals)
    ours[0] = theirs[0] + 2.0
    ours[1] = theirs[1] - 1.0
    result = paired_tests(ours, theirs)
    assert result.t_test == pytest.approx(stats.ttest_rel(ours, theirs).pvalue)
    difference = (ours - theirs)[ours != theirs]
    expected = stats.wilcoxon(difference, method=stats.PermutationMethod() if n < 14 else "auto").pvalue
    assert result.wilcoxon == pytest.approx(expected)
    assert result.difference == pytest.approx(np.mean(ours - theirs))
    assert result.wins + result.ties + result.losses == n
    assert result.wins == np.sum(ours > theirs)


def test_paired_tests_at_the_edges():
    same = paired_tests([0.5, 0.6], [0.5, 0.6])
    assert (same.t_test, same.wilcoxon, same.ties) == (1.0, 1.0, 2)
    assert np.isnan(paired_tests([0.5], [0.4]).t_test)
    assert paired_tests([1.0, 2.0, 3.0], [0.0, 1.0, 2.0]).t_test == 0.0
    with pytest.raises(ValueError, match="same splits"):
        paired_tests([0.5, 0.6], [0.5])
    with pytest.raises(ValueError, match="finite"):
        paired_tests([0.5, np.nan], [0.5, 0.4])


def test_the_corrected_t_test_is_sober():
    """By its formula; and two methods that are equal differ "significantly" no more often than it says."""
    rng = new_rng()
    ours, theirs = rng.normal(size=(2, 10))
    d = ours - theirs
    t = d.mean() / np.sqrt(d.var(ddof=1) * (1 / 10 + 4 / 6))
    result = paired_tests(ours, theirs, 4 / 6)
    assert result.corrected == pytest.approx(2 * stats.t.sf(abs(t), 9))
    assert result.corrected > result.t_test
    assert np.isnan(paired_tests(ours, theirs).corrected)
    found = []
    for _ in range(300):
        rows = rng.normal(size=100)  # two methods with equal errors: what differs on a split is the mean of its rows
        parts = [rng.permutation(100)[:40] for _ in range(10)]
        found.append(paired_tests([rows[part].mean() for part in parts], np.zeros(10), 40 / 60))
    assert np.mean([result.corrected < 0.05 for result in found]) < 0.15
    assert np.mean([result.t_test < 0.05 for result in found]) > 0.2


def test_ranks_are_over_splits_that_all_have():
    rows = []
    for dataset in ("a", "b", "c"):
        for method, values in {"br": [0.90, 0.50], "lp": [0.88, None], "ecc": [0.80, 0.40]}.items():
            for split, value in enumerate(values):
                done = {"status": "done", "auc": value} if value is not None else {"status": "failed", "error": "no"}
                rows.append({"dataset": dataset, "method": method, "split": split, **done})
    datasets, methods, ranks = Results.of(rows).ranks("auc")
    assert datasets == ["a", "b", "c"]
    assert dict(zip(methods, ranks.ranks.tolist(), strict=True)) == {"br": 1.0, "lp": 2.0, "ecc": 3.0}
    apart = [row for row in rows if (row["method"] == "br") == (row["split"] == 1)]
    assert Results.of(apart).ranks("auc") is None


def test_holm_as_in_statsmodels():
    multitest = pytest.importorskip("statsmodels.stats.multitest", reason="statsmodels is not installed")
    p = new_rng().uniform(size=12) ** 3
    assert holm(p) == pytest.approx(multitest.multipletests(p, method="holm")[1])


def test_holm_leaves_out_what_is_not_known():
    assert holm([0.04, np.nan, 0.01]) == pytest.approx([0.04, np.nan, 0.02], nan_ok=True)


def test_few_methods_or_data_sets():
    assert np.isnan(mean_ranks([[0.5, 0.6]]).friedman)
    assert mean_ranks([[0.5, 0.6], [0.5, 0.6]]).ranks.tolist() == [2.0, 1.0]
    assert mean_ranks(np.ones((5, 3))).friedman == 1.0
    with pytest.raises(ValueError, match="finite"):
        mean_ranks([[0.5, np.nan]])


def test_cliques_cover_what_does_not_differ():
    rng = new_rng()
    ranks = np.sort(rng.uniform(1, 10, size=9))
    groups = cliques(list(ranks), 2.0)
    for i in range(9):
        for j in range(i + 1, 9):
            together = any(first <= i and j <= last for first, last in groups)
            assert together == (ranks[j] - ranks[i] <= 2.0)
    assert all(not (a <= c and d <= b) for a, b in groups for c, d in groups if (a, b) != (c, d))
