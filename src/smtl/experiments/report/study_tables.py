"""The tables of a study: results beside the paper's, tests, ranks, whether the metric pays."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from smtl.experiments.findings import Duel, Ranking, duels
from smtl.experiments.naming import MEASURE_TITLES, SECONDS
from smtl.experiments.published import is_doubtful, paper_dataset, paper_value
from smtl.experiments.results import Results, Tested, sign_of
from smtl.experiments.summary import ALPHA
from smtl.experiments.tables import NOTHING, Cell, Column, Row, Table, number, p_value, percent, seconds

__all__ = [
    "difference_cell",
    "nemenyi_table",
    "opponents_table",
    "over_fewer",
    "pays_counts",
    "pays_table",
    "rank_table",
    "results_table",
    "tests_table",
]

# A difference of so many points has the first, second, third tone.
_TONES = (0.25, 1.0, 3.0)

PairedTests = Mapping[tuple[str, str], Tested]


def difference_cell(points: float | None) -> Cell:
    """Return the cell of a difference in points of percent, told by sign, arrow and colour.

    Parameters
    ----------
    points : float or None
        More is better.

    Returns
    -------
    Cell
        The cell.

    Examples
    --------
    >>> difference_cell(1.5).text, difference_cell(-0.1).tone
    ('▲ +1.50', 0)
    """
    if points is None or not np.isfinite(points):
        return Cell(NOTHING)
    tone = int(np.sign(points)) * sum(abs(points) >= least for least in _TONES)
    arrow = "▲ " if tone > 0 else "▼ " if tone < 0 else ""
    return Cell(arrow + number(points, sign=True), float(points), tone=tone)


def _figure(measure: str, mean: float, std: float, bold: bool, note: str) -> Cell:
    if not np.isfinite(mean):
        return Cell(NOTHING)
    text = seconds(mean) if measure in SECONDS else percent(mean, std)
    return Cell(text, float(mean), None if np.isnan(std) else float(std), bold=bold, note=note)


def over_fewer(n: int, most: int) -> str:
    """Return the note of a mean over fewer splits than another beside it has: the two are not comparable.

    Parameters
    ----------
    n, most : int
        Over how many it is, and the most that any method has.

    Returns
    -------
    str
        Nothing where it has all.

    Examples
    --------
    >>> over_fewer(1, 3), over_fewer(3, 3)
    ('over 1 of 3 splits', '')
    """
    return "" if n == most else f"over {n} of {most} splits"


def results_table(results: Results, dataset: str, name: Mapping[str, str], file: str) -> Table:
    """Return the table of a data set in the paper's layout, ours beside the paper's.

    Parameters
    ----------
    results : Results
        The study.
    dataset : str
        The data set.
    name : mapping
        Titles of data sets and methods.
    file : str
        The name of its files.

    Returns
    -------
    Table
        A row a method; for each of the paper's measures ours, the paper's and the difference, for others ours only. The
        best of a column is bold, but never a mean over fewer splits than another method has.

    Examples
    --------
    >>> rows = [{"dataset": "yeast", "method": "br", "split": 0, "status": "done", "auc": 0.7}]
    >>> table = results_table(Results.of(rows), "yeast", {"yeast": "Yeast", "br": "BR"}, "yeast")
    >>> [cell.text for cell in table.rows[0].cells][7:10]
    ['70.00', '62.38 ± 0.41', '▲ +7.62']
    """
    d = results.datasets.index(dataset)
    columns = [Column("Method", "method", text=True)]
    cells: list[list[Cell]] = [[Cell(name[method], method)] for method in results.methods]
    for measure, title in MEASURE_TITLES.items():
        mean, std = results.mean(measure)[d], results.std(measure)[d]
        n = results.counts(measure)[d]
        most = int(n.max(initial=0))
        turned = np.where(n == most, sign_of(measure) * mean, np.nan)
        best = turned.max(where=np.isfinite(turned), initial=-np.inf)
        in_paper = paper_dataset(dataset) is not None and paper_value(dataset, "br", measure) is not None
        columns.append(Column("ours" if in_paper else "", measure, title, measure, spread=True))
        if in_paper:
            columns.append(Column("paper", f"{measure}_paper", title, measure, spread=True))
            columns.append(Column("difference", f"{measure}_difference", title, measure))
        for m, method in enumerate(results.methods):
            note = over_fewer(int(n[m]), most)
            cells[m].append(_figure(measure, mean[m], std[m], bool(turned[m] == best), note))
            if in_paper:
                printed = paper_value(dataset, method, measure)
                note = "The paper prints the same row for HOMER and AdaBoostMH." if is_doubtful(dataset, method) else ""
                if printed is None:
                    cells[m] += [Cell(NOTHING), Cell(NOTHING)]
                else:
                    cells[m].append(Cell(percent(*printed), printed.mean, printed.std, note=note))
                    cells[m].append(difference_cell(100.0 * float(mean[m] - printed.mean)))
    columns.append(Column("splits", "splits"))
    rows = []
    for m, method in enumerate(results.methods):
        done = sum((row["dataset"], row["method"], row["status"]) == (dataset, method, "done") for row in results.rows)
        rows.append(Row([*cells[m], Cell(str(done or NOTHING), done)], method=method))
    caption = f"{name[dataset]}: mean ± standard deviation over splits, in percent; of seconds the mean"
    return Table(file, caption, columns, rows)


def tests_table(paired: PairedTests, ours: str, measure: str, name: Mapping[str, str], file: str) -> Table:
    """Return the paired tests of one method against all others, data set by data set.

    Parameters
    ----------
    paired : mapping
        As `Results.paired` returns it.
    ours, measure : str
        The method, and the measure.
    name : mapping
        Titles of data sets and methods.
    file : str
        The name of its files.

    Returns
    -------
    Table
        A row a data set and method.

    Examples
    --------
    >>> from smtl.experiments.statistics import Paired
    >>> tested = Tested(Paired(0.01, 0.002, 0.01, 0.02, 9, 0, 1, 0.05), 0.03, 0.04, 0.06)
    >>> names = {"yeast": "Y", "br": "B", "lp": "L"}
    >>> table = tests_table({("yeast", "br"): tested}, "lp", "auc", names, "tests")
    >>> [cell.text for cell in table.rows[0].cells]
    ['Y', 'B', '▲ +1.00', '9 / 0 / 1', '0.010', '0.030', '0.020', '0.040', '0.050', '0.060']
    """
    columns = [
        Column("Data set", "dataset", text=True),
        Column("Method", "method", text=True),
        Column("difference", "difference"),
        Column("won / level / lost", "won_level_lost"),
        Column("p", "t_test", "paired t-test"),
        Column("Holm's p", "t_test_holm", "paired t-test"),
        Column("p", "wilcoxon", "Wilcoxon"),
        Column("Holm's p", "wilcoxon_holm", "Wilcoxon"),
        Column("p", "corrected", "corrected t-test"),
        Column("Holm's p", "corrected_holm", "corrected t-test"),
    ]
    rows = []
    for (dataset, method), (test, *holms) in paired.items():
        cells = [
            Cell(name[dataset], dataset),
            Cell(name[method], method),
            difference_cell(100.0 * test.difference),
            Cell(f"{test.wins} / {test.ties} / {test.losses}"),
            *(
                Cell(p_value(p), None if np.isnan(p) else p, bold=bool(p < ALPHA))
                for pair in zip((test.t_test, test.wilcoxon, test.corrected), holms, strict=True)
                for p in pair
            ),
        ]
        rows.append(Row(cells, dataset, method))
    caption = f"{name[ours]} against each other method by {MEASURE_TITLES[measure]}, split by split"
    return Table(file, caption, columns, rows)


def opponents_table(paired: PairedTests, ours: str, measure: str, name: Mapping[str, str], file: str) -> Table:
    """Return how one method does against each other over all data sets.

    Parameters
    ----------
    paired, ours, measure, name, file
        As for `tests_table`.

    Returns
    -------
    Table
        A row a method.

    Examples
    --------
    >>> from smtl.experiments.statistics import Paired
    >>> tested = Tested(Paired(0.01, 0.002, 0.01, 0.02, 9, 0, 1, 0.05), 0.03, 0.04, 0.06)
    >>> table = opponents_table({("y", "br"): tested}, "lp", "auc", {"br": "BR", "lp": "LP"}, "opponents")
    >>> [cell.text for cell in table.rows[0].cells]
    ['BR', '1 / 0 / 0', '1 / 0 / 0', '1 / 0 / 0', '0 / 1 / 0', '9 / 0 / 1']
    """
    columns = [
        Column("Method", "method", text=True),
        Column("in the mean", "datasets", "data sets won / level / lost"),
        Column("t-test, Holm", "datasets_t_test", "data sets won / level / lost"),
        Column("Wilcoxon, Holm", "datasets_wilcoxon", "data sets won / level / lost"),
        Column("corrected t-test, Holm", "datasets_corrected", "data sets won / level / lost"),
        Column("won / level / lost", "splits", "splits"),
    ]
    rows = []
    for method in dict.fromkeys(method for _, method in paired):
        met = [found for (_, other), found in paired.items() if other == method]
        signs = np.array([np.sign(tested.test.difference) for tested in met])
        sure = [np.array([tested[k] for tested in met]) < ALPHA for k in (1, 2, 3)]
        counts = [_won_level_lost(signs), *(_won_level_lost(np.where(each, signs, 0)) for each in sure)]
        splits = [sum(getattr(tested.test, what) for tested in met) for what in ("wins", "ties", "losses")]
        texts = [*counts, " / ".join(map(str, splits))]
        rows.append(Row([Cell(name[method], method), *map(Cell, texts)], method=method))
    return Table(file, f"{name[ours]} by {MEASURE_TITLES[measure]}, over data sets", columns, rows)


def _won_level_lost(signs: np.ndarray) -> str:
    return f"{(signs > 0).sum()} / {(signs == 0).sum()} / {(signs < 0).sum()}"


def rank_table(rankings: list[Ranking], name: Mapping[str, str]) -> Table:
    """Return the mean ranks by every measure, with Nemenyi's p against the first.

    Parameters
    ----------
    rankings : list of Ranking
        One a measure.
    name : mapping
        Titles of methods.

    Returns
    -------
    Table
        A row a method, in the order of the first ranking.

    Examples
    --------
    >>> from smtl.experiments.statistics import mean_ranks
    >>> tests = mean_ranks([[3.0, 2.0, 1.0], [3.0, 2.0, 1.0]])
    >>> ranking = Ranking("auc", ["a", "b"], ["br", "lp", "ecc"], tests.ranks.tolist(), tests)
    >>> table = rank_table([ranking], {"br": "BR", "lp": "LP", "ecc": "ECC"})
    >>> [[cell.text for cell in row.cells] for row in table.rows]
    [['BR', '1.00', '–'], ['LP', '2.00', '0.577'], ['ECC', '3.00', '0.112']]
    """
    columns = [Column("Method", "method", text=True)]
    for ranking in rankings:
        title = MEASURE_TITLES[ranking.measure]
        columns.append(Column("mean rank", ranking.measure, title, ranking.measure))
        columns.append(Column("p", f"{ranking.measure}_nemenyi", title, ranking.measure))
    rows = []
    for method in dict.fromkeys(method for ranking in rankings for method in ranking.methods):
        cells = [Cell(name[method], method)]
        for ranking in rankings:
            if method not in ranking.methods:
                cells += [Cell(NOTHING), Cell(NOTHING)]
                continue
            place = ranking.methods.index(method)
            p = float(ranking.tests.nemenyi[0, place]) if place else np.nan
            value = ranking.ranks[place]
            cells.append(Cell(number(value), value, bold=value == ranking.ranks[0]))
            cells.append(Cell(p_value(p), None if np.isnan(p) else p))
        rows.append(Row(cells, method=method))
    caption = "Mean ranks over data sets, and Nemenyi's p against the first by that measure"
    return Table("ranks", caption, columns, rows)


def nemenyi_table(ranking: Ranking, name: Mapping[str, str]) -> Table:
    """Return Nemenyi's p-values of all pairs.

    Parameters
    ----------
    ranking : Ranking
        The ranking.
    name : mapping
        Titles of methods.

    Returns
    -------
    Table
        Methods x methods, best first.

    Examples
    --------
    >>> from smtl.experiments.statistics import mean_ranks
    >>> tests = mean_ranks([[3.0, 2.0, 1.0], [3.0, 2.0, 1.0]])
    >>> ranking = Ranking("auc", ["a", "b"], ["br", "lp", "ecc"], tests.ranks.tolist(), tests)
    >>> nemenyi_table(ranking, {"br": "BR", "lp": "LP", "ecc": "ECC"}).rows[0].cells[2].text
    '0.577'
    """
    columns = [Column("Method", "method", text=True), *(Column(name[method], method) for method in ranking.methods)]
    rows = []
    for i, method in enumerate(ranking.methods):
        cells = [Cell(name[method], method)]
        for j in range(len(ranking.methods)):
            p = float(ranking.tests.nemenyi[i, j])
            cells.append(Cell("") if i == j else Cell(p_value(p), p, bold=p < ALPHA))
        rows.append(Row(cells, method=method))
    caption = f"Nemenyi's p of all pairs by {MEASURE_TITLES[ranking.measure]}"
    return Table(f"nemenyi-{ranking.measure}", caption, columns, rows)


def pays_table(results: Results, name: Mapping[str, str]) -> Table | None:
    """Return SMTL on the metric that it is trained on beside MTL-CLS and MTL-REG with the same penalty.

    Parameters
    ----------
    results : Results
        The study.
    name : mapping
        Titles of data sets.

    Returns
    -------
    Table or None
        A row a penalty and data set; None where there is nothing to compare.

    Examples
    --------
    >>> done = {"dataset": "yeast", "split": 0, "status": "done"}
    >>> rows = [done | {"method": "smtl-auc-l21", "auc": 0.7}, done | {"method": "mtl-cls-l21", "auc": 0.6}]
    >>> [cell.text for cell in pays_table(Results.of(rows), {"yeast": "Yeast"}).rows[0].cells]
    ['l21', 'Yeast', '70.00', '60.00 ✓', '–', '–', '–', '–']
    """
    found = {(duel.penalty, duel.dataset, duel.target, duel.rival): duel for duel in duels(results)}
    if not found:
        return None
    columns = [Column("Penalty", "penalty", text=True), Column("Data set", "dataset", text=True)]
    for target, title, group in (("auc", "SMTL(AUC)", "AUC"), ("f1", "SMTL(F1)", "macro F1")):
        columns.append(Column(title, f"smtl_{target}", group))
        columns += [Column(rival, f"{rival.lower().replace('-', '_')}_{target}", group) for rival in _RIVALS]
    rows = []
    for penalty, dataset in dict.fromkeys(key[:2] for key in found):
        cells = [Cell(penalty), Cell(name[dataset], dataset)]
        for target in ("auc", "f1"):
            pair = [found.get((penalty, dataset, target, rival)) for rival in _RIVALS]
            ours = next((duel.ours for duel in pair if duel), None)
            best = ours is not None and all(duel.won for duel in pair if duel)
            cells.append(Cell(percent(ours), ours, bold=best))
            cells += [_rival(duel) for duel in pair]
        rows.append(Row(cells, dataset))
    caption = "SMTL trained on a metric against the same penalty without it, by that metric in percent"
    return Table("metric-pays", f"{caption} (✓ SMTL is better, ✗ it is not)", columns, rows)


_RIVALS = ("MTL-CLS", "MTL-REG")


def _rival(duel: Duel | None) -> Cell:
    if duel is None:
        return Cell(NOTHING)
    return Cell(f"{percent(duel.theirs)} {'✓' if duel.won else '✗'}", duel.theirs, tone=1 if duel.won else -1)


def pays_counts(results: Results) -> Table | None:
    """Return on how many data sets training on the metric pays.

    Parameters
    ----------
    results : Results
        The study.

    Returns
    -------
    Table or None
        A row a penalty; None where there is nothing to compare.

    Examples
    --------
    >>> done = {"dataset": "yeast", "split": 0, "status": "done"}
    >>> rows = [done | {"method": "smtl-auc-l21", "auc": 0.7}, done | {"method": "mtl-cls-l21", "auc": 0.6}]
    >>> [cell.text for cell in pays_counts(Results.of(rows)).rows[0].cells]
    ['l21', '1 of 1', '–', '–', '–']
    """
    found = duels(results)
    if not found:
        return None
    columns = [Column("Penalty", "penalty", text=True)]
    kinds = [(target, rival) for target in ("auc", "f1") for rival in _RIVALS]
    groups = {"auc": "AUC, trained on AUC", "f1": "macro F1, trained on F1"}
    columns += [Column(f"beats {rival} on", f"{rival}_{target}", groups[target]) for target, rival in kinds]
    rows = []
    for penalty in dict.fromkeys(duel.penalty for duel in found):
        cells = [Cell(penalty)]
        for kind in kinds:
            won = [duel.won for duel in found if duel.penalty == penalty and (duel.target, duel.rival) == kind]
            cells.append(Cell(f"{sum(won)} of {len(won)}") if won else Cell(NOTHING))
        rows.append(Row(cells))
    return Table("metric-pays-counts", "Data sets on which training on the metric pays", columns, rows)
