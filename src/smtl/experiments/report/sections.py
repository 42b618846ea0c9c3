"""The sections of a report, each a function from what is known to HTML."""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape

import numpy as np
from scipy import stats

from smtl.experiments.diagrams import critical_difference_diagram, curves, scatter
from smtl.experiments.findings import Ranking, Speed, speeds
from smtl.experiments.imbalance import parse_ratio
from smtl.experiments.naming import MEASURE_TITLES
from smtl.experiments.protocol import MEASURES
from smtl.experiments.published import PAPER, PAPER_MEASURES, paper_dataset, paper_seconds
from smtl.experiments.report import html, record_tables, study_tables
from smtl.experiments.report.html import attributes
from smtl.experiments.report.material import Material, file_name
from smtl.experiments.results import Results, sign_of
from smtl.experiments.statistics import iman_davenport_f
from smtl.experiments.summary import ALPHA, listed, summary
from smtl.experiments.tables import p_value
from smtl.pages import definitions, paragraph, picture

__all__ = ["SECTIONS"]


def _summary(m: Material) -> str:
    return definitions(summary(m.results, m.tests), "summary")


def _results(m: Material) -> str:
    title = m.names.title
    out = []
    taken: set[str] = set()
    for d, dataset in enumerate(m.results.datasets):
        file = file_name("results", title[dataset])
        file = f"{file}-{d}" if file in taken else file
        taken.add(file)
        table = m.keep(study_tables.results_table(m.results, dataset, title, file))
        out.append(f"<div{attributes(m.names, dataset)}><h3>{escape(title[dataset])}</h3>")
        out.append(html.table(table, m.names, f"results-{d}") + "</div>\n")
    if not out:
        return ""
    key = (
        '<ul class="key"><li><b>bold</b>: best of its column</li>'
        '<li><span class="swatch u3">▲ +</span> above the paper</li>'
        '<li><span class="swatch d3">▼ \N{MINUS SIGN}</span> below the paper</li>'
        "<li>the stronger the colour, the larger the difference (from 0.25, 1 and 3 points)</li></ul>\n"
    )
    told = _which_splits(m) + " Seconds are means of one process with one thread; the rest is in percent."
    if any(paper_dataset(dataset) for dataset in m.results.datasets):
        told += (
            " The difference is ours less the figure that the paper prints, in points of percent. The paper is "
            f"{PAPER}. {_papers_splits(m)}"
        )
    else:
        key = '<ul class="key"><li><b>bold</b>: best of its column</li></ul>\n'
    notes = [
        f"The paper uses {size} of {name} and does not say which; ours are drawn with a fixed seed."
        for known, size, name in (
            ("mediamill", "10,000 rows and 12 labels", "MediaMill"),
            ("tmc2007", "10,000 rows and 6 labels", "TMC2007"),
        )
        if known in map(paper_dataset, m.results.datasets)
    ]
    return paragraph(" ".join([told, *notes, "Other measures can be chosen under Measures."])) + key + "".join(out)


def _which_splits(m: Material) -> str:
    counts = [m.results.counts(measure) for measure in MEASURE_TITLES]
    if not any(((n > 0) & (n < n.max(axis=1, keepdims=True))).any() for n in counts):
        return "Each method on the same splits."
    return (
        "The splits are the same for every method, but not every method has a result on all of them. A mean with a "
        "mark is over fewer than others in its column, as the line below the table says; it is never bold."
    )


def _papers_splits(m: Material) -> str:
    protocol = m.settings.get("protocol")
    if protocol == "paper":
        return "Its ten splits, 60/40, were drawn at random like ours, but are not the same."
    ours = f"ours were made otherwise (protocol: {protocol})" if protocol else "ours are others"
    return f"Its ten splits, 60/40, were drawn at random; {ours}."


def _tests(m: Material) -> str:
    if not any(m.tests.values()):
        return ""
    title = m.names.title
    variants = list(dict.fromkeys(method for _, method in m.tests))
    measure = next((name for name in ("auc", *m.chosen) if m.tests.get((name, m.chosen.get(name, "")))), "")
    if not measure:
        return ""
    chosen = m.chosen[measure]
    for each, method in m.chosen.items():
        for make, kind in ((study_tables.tests_table, "tests"), (study_tables.opponents_table, "opponents")):
            m.keep(make(m.tests[each, method], method, each, title, f"{kind}-{file_name(each)}"))
    out = [
        paragraph(
            "Paired over the splits that both methods have; the difference is in points, turned so that more is better "
            "for the chosen method. Holm's correction is for the methods that it meets on that data set. "
            f"Bold: p below {ALPHA:g}. Splits of one data set share rows, so the p-values of the paired t-test and of "
            "Wilcoxon's test flatter; the t-test of Nadeau and Bengio (2003) is corrected for that." + _out_of_reach(m)
        ),
        '<div class="controls">',
        _select("ours", "Method", [(name, title[name]) for name in variants], chosen),
        _select("by", "Measure", [(name, MEASURE_TITLES[name]) for name in m.chosen], measure),
        "</div>\n",
    ]
    paired = m.tests[measure, chosen]
    out.append(html.table(study_tables.opponents_table(paired, chosen, measure, title, ""), m.names, "opponents"))
    out.append(html.table(study_tables.tests_table(paired, chosen, measure, title, ""), m.names, "tests", long=True))
    return "".join(out)


def _out_of_reach(m: Material) -> str:
    """Say on which data sets Wilcoxon's test cannot find anything, whatever the figures are."""
    # The least two-sided p of n splits, 2 / 2^n, times the number of methods: the least after Holm's correction.
    least: dict[str, float] = {}
    for paired in m.tests.values():
        for dataset in dict.fromkeys(dataset for dataset, _ in paired):
            met = [tested.test for (where, _), tested in paired.items() if where == dataset]
            n = max(test.wins + test.ties + test.losses for test in met)
            least[dataset] = min(least.get(dataset, math.inf), min(1.0, len(met) * 2.0 / 2.0**n))
    hopeless = {dataset: p for dataset, p in least.items() if p >= ALPHA}
    if not hopeless:
        return ""
    where = "" if len(hopeless) == len(least) else f" on {listed([m.names.title[name] for name in hopeless])}"
    low, high = p_value(min(hopeless.values())), p_value(max(hopeless.values()))
    return (
        f" With so few splits for so many methods, Wilcoxon's test cannot fall below {ALPHA:g} after Holm's "
        f"correction{where}: the least that it can reach there is {low if low == high else f'{low} to {high}'}."
    )


def _select(name: str, title: str, options: Iterable[tuple[str, str]], chosen: str) -> str:
    inside = "".join(
        f'<option value="{escape(value)}"{" selected" if value == chosen else ""}>{escape(text)}</option>'
        for value, text in options
    )
    return f'<label>{title} <select id="{name}">{inside}</select></label>'


def _ranks(m: Material) -> str:
    if not m.rankings:
        return ""
    out = [
        paragraph(
            "The methods are ranked on each data set by their means, the best first, and the ranks averaged. Methods "
            "under one bar are closer than Nemenyi's critical difference (CD). Filters hide methods here, but do not "
            "rank them anew."
        )
    ]
    for measure, ranking in m.rankings.items():
        caption = f"{MEASURE_TITLES[measure]}: {_tested(ranking)}"
        difference = ranking.tests.critical_difference if len(ranking.datasets) > 1 else math.nan
        marks = [m.names.mark(method) for method in ranking.methods]
        svg = critical_difference_diagram(marks, ranking.ranks, difference, f"Mean ranks by {MEASURE_TITLES[measure]}")
        out.append(picture(svg, caption, attributes(m.names, measure=measure)))
    out.append(html.table(m.keep(study_tables.rank_table(list(m.rankings.values()), m.names.title)), m.names, "ranks"))
    for measure, ranking in m.rankings.items():
        if ranking.tested:
            table = m.keep(study_tables.nemenyi_table(ranking, m.names.title))
            out.append(
                f"<details{attributes(m.names, measure=measure)}><summary>{escape(table.caption)}</summary>"
                f"{html.table(table, m.names, f'nemenyi-{measure}')}</details>\n"
            )
    return "".join(out)


def _tested(ranking: Ranking) -> str:
    n, k = len(ranking.datasets), len(ranking.methods)
    told = f"{k} methods on {n} data set{'s' * (n != 1)}"
    if not ranking.tested:
        return f"{told}; too few for Friedman's test."
    p, q = ranking.tests.friedman, ranking.tests.iman_davenport
    chi2 = float(stats.chi2.isf(p, k - 1))
    f = iman_davenport_f(chi2, n, k)  # not from its own p-value, which may be too small to tell
    parts = []
    for name, value, at in (("Friedman's chi-squared", chi2, p), ("Iman and Davenport's F", f, q)):
        statistic = f" = {value:.2f}," if math.isfinite(value) else ""
        parts.append(f"{name}{statistic} p {p_value(at) if at < 0.001 else f'= {p_value(at)}'}")
    return f"{told}; {'; '.join(parts)}; CD = {ranking.tests.critical_difference:.2f} at {ALPHA:g}."


def _pays(m: Material) -> str:
    counts, table = study_tables.pays_counts(m.results), study_tables.pays_table(m.results, m.names.title)
    if counts is None or table is None:
        return ""
    told = (
        "SMTL is trained on AUC or F1; MTL-CLS on the hinge loss and MTL-REG on the squared loss, with the same "
        "penalty. Means over the splits that both have."
    )
    tables = [html.table(m.keep(of), m.names, of.name) for of in (counts, table)]
    return paragraph(told) + "".join(tables)


def _imbalance(m: Material) -> str:
    tables = record_tables.imbalance_tables(m.imbalance, m.names.title)
    if not tables:
        return ""
    out = [
        paragraph(
            "The same data with one, five or ten negatives for each positive in every task. These runs are in none "
            "of the tables and ranks above."
        ),
        _key(),
        '<div class="panels">',
    ]
    behind = []
    for (base, measure), table in tables.items():
        m.keep(table)
        ratios = [float(column.title.removeprefix("1:")) for column in table.columns[1:]]
        values = [[_number(cell.value) * 100.0 for cell in row.cells[1:]] for row in table.rows]
        marks = [m.names.mark(row.method) for row in table.rows]
        caption = f"{m.names.title.get(base, base)}: {MEASURE_TITLES[measure]} in percent"
        svg = curves(marks, ratios, values, caption, [column.title for column in table.columns[1:]])
        where = attributes(m.names, base, measure=measure)
        out.append(picture(svg, caption, where))
        behind.append(html.table(table, m.names, file_name(table.name), marks=where))
    return (
        "".join(out)
        + "</div>\n<details><summary>The figures behind the curves</summary>"
        + "".join(behind)
        + "</details>\n"
    )


def _number(value: float | str | None) -> float:
    return value if isinstance(value, float) else math.nan


def _key() -> str:
    parts = (
        ("smtl", "SMTL", '<circle cx="7" cy="7" r="5"/>'),
        ("cls", "MTL-CLS", '<path d="M2 2H12V12H2Z"/>'),
        ("reg", "MTL-REG", '<path d="M7 1L13 12H1Z"/>'),
        ("other", "others", '<path d="M7 1L13 7L7 13L1 7Z"/>'),
    )
    items = "".join(
        f'<li class="{kind}"><svg viewBox="0 0 14 14" aria-hidden="true">{shape}</svg> {title}</li>'
        for kind, title, shape in parts
    )
    return f'<ul class="key">{items}</ul>\n'


def _time(m: Material) -> str:
    found = speeds(m.results)
    if not found:
        return ""
    out = [
        paragraph(
            "Seconds of training a split, the search for C included, against quality. The dashed line runs through "
            "the methods that no other beats in both."
        ),
        _key(),
    ]
    times = m.results.mean("fit_seconds")
    for measure in MEASURES:
        ranking = m.rankings.get(measure)
        if ranking is None or sign_of(measure) < 0:
            continue
        rows = [m.results.datasets.index(dataset) for dataset in ranking.datasets]
        columns = [m.results.methods.index(method) for method in ranking.methods]
        with np.errstate(divide="ignore", invalid="ignore"):
            seconds = np.exp(np.log(times[np.ix_(rows, columns)]).mean(axis=0))
        quality = 100.0 * m.results.mean(measure)[np.ix_(rows, columns)].mean(axis=0)
        n = len(rows)
        caption = f"{MEASURE_TITLES[measure]} in percent against seconds of training" + (
            f", means over {n} data sets (of seconds the geometric mean)"
            if n > 1
            else f" on {m.names.title[ranking.datasets[0]]}"
        )
        marks = [m.names.mark(method) for method in ranking.methods]
        svg = scatter(marks, seconds.tolist(), quality.tolist(), caption, "seconds of training")
        out.append(picture(svg, caption, attributes(m.names, measure=measure)))
    if len(m.results.datasets) > 1:
        out.append(_each_scatter(m, times))
    out.append(_time_tables(m, found))
    return "".join(out)


def _each_scatter(m: Material, times: np.ndarray) -> str:
    marks = [m.names.mark(method) for method in m.results.methods]
    out = ['<details><summary>Each data set by itself</summary><div class="panels">']
    for measure in PAPER_MEASURES:
        mean = m.results.mean(measure)
        for d, dataset in enumerate(m.results.datasets):
            if np.isfinite(mean[d]).any():
                caption = f"{m.names.title[dataset]}: {MEASURE_TITLES[measure]} against seconds of training"
                svg = scatter(marks, times[d].tolist(), (100.0 * mean[d]).tolist(), caption, "seconds of training")
                out.append(picture(svg, caption, attributes(m.names, dataset, measure=measure)))
    return "".join(out) + "</div></details>\n"


def _time_tables(m: Material, found: list[Speed]) -> str:
    title = m.names.title
    datasets = list(dict.fromkeys(speed.dataset for speed in found))
    printed = any(paper_seconds(dataset, "br") is not None for dataset in datasets)
    told = (
        "Seconds of training a split with what the search has chosen, and with the search; and the ratio of training "
        "to that of BR on the same splits."
    )
    if printed:
        told += (
            " The paper's seconds are from a processor of 1.9 GHz with Python 2.7, and it does not say whether its "
            "search for the trade-off is in them. They are compared with ours without it."
        )
    out = ["<h3>Time table</h3>\n", paragraph(told), '<div class="side">']
    for d, dataset in enumerate(datasets):
        table = m.keep(record_tables.time_table(found, dataset, title, file_name("time", title[dataset])))
        out.append(html.table(table, m.names, f"time-{d}", marks=attributes(m.names, dataset)))
    return "".join(out) + "</div>\n"


def _settings(m: Material) -> str:
    everything = Results.of([*m.results.rows, *m.imbalance.rows], [*m.results.datasets, *m.imbalance.datasets])
    title = m.names.title | {name: _imbalanced_title(name, m) for name in m.imbalance.datasets}
    versions: dict[str, set[str]] = {}
    for row in everything.rows:
        for name, number in (row.get("versions") or {}).items():
            versions.setdefault(str(name), set()).add(str(number))
    out = ["<h3>Methods</h3>\n", html.table(m.keep(record_tables.methods_table(everything, title)), m.names, "methods")]
    if m.settings:
        out += ["<h3>Study</h3>\n", definitions(((str(key), value) for key, value in m.settings.items()), "facts")]
    if versions:
        pairs = ((name, ", ".join(sorted(numbers))) for name, numbers in versions.items())
        out += ["<h3>Versions</h3>\n", definitions(pairs, "facts")]
    out += [
        "<h3>Splits and seeds</h3>\n",
        html.table(m.keep(record_tables.runs_table(everything, title)), m.names, "runs"),
    ]
    for heading, table in (
        ("Warnings", record_tables.warnings_table(everything, title)),
        ("Failures", record_tables.failures_table(everything, title)),
    ):
        out.append(f"<h3>{heading}</h3>\n")
        out.append(html.table(m.keep(table), m.names, table.name) if table else paragraph("None."))
    if m.command:
        out.append(f"<h3>Command</h3>\n<pre><code>{escape(m.command)}</code></pre>\n")
    return "".join(out)


def _imbalanced_title(dataset: str, m: Material) -> str:
    base, ratio = parse_ratio(dataset)
    return f"{m.names.title[base]} 1:{ratio:g}"


# Their names in the address, their headings, and what makes them. A section without content is left out.
SECTIONS = (
    ("summary", "Summary", _summary),
    ("results", "Results on each data set", _results),
    ("paired", "Paired tests", _tests),
    ("over-data-sets", "Ranks over data sets", _ranks),
    ("pays", "Does training on the metric pay?", _pays),
    ("imbalance", "Imbalance", _imbalance),
    ("time", "Time against quality", _time),
    ("record", "Settings and record", _settings),
)
