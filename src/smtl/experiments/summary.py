"""A summary of a study in words, every one of them from its figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from smtl.experiments.findings import Ranking, chosen_variant, duels, rank, reached, smtl_variants, speeds
from smtl.experiments.naming import MEASURE_TITLES, titles
from smtl.experiments.published import PAPER_MEASURES
from smtl.experiments.results import Results, Tested
from smtl.experiments.tables import p_value, seconds

__all__ = ["count", "listed", "summary"]

ALPHA = 0.05

# What `Results.paired` returns, by measure and method.
Tests: TypeAlias = Mapping[tuple[str, str], Mapping[tuple[str, str], Tested]]

_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def count(n: int, one: str, many: str = "") -> str:
    """Write how many there are of something.

    Parameters
    ----------
    n : int
        The number.
    one, many : str
        What it is, in singular and plural; the plural is made with an s if it is left out.

    Returns
    -------
    str
        Small numbers in words.

    Examples
    --------
    >>> count(1, "data set"), count(9, "data set"), count(27, "cell"), count(0, "run")
    ('one data set', 'nine data sets', '27 cells', 'no runs')
    """
    word = _WORDS[n] if n < len(_WORDS) else f"{n:,}"
    return f"{word} {one if n == 1 else many or one + 's'}"


def listed(names: Sequence[str], most: int = 6) -> str:
    """Write names one after another.

    Parameters
    ----------
    names : sequence of str
        The names.
    most : int, default=6
        How many are named at most.

    Returns
    -------
    str
        With commas, and "and" before the last.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"]), listed(["a", "b", "c", "d"], most=2)
    ('a', 'a, b and c', 'a, b and 2 more')
    """
    shown = list(names)
    if len(shown) > most:
        shown = [*shown[:most], f"{len(shown) - most} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def summary(results: Results, tests: Tests | None = None) -> list[tuple[str, str]]:
    """Tell what a study has found.

    Parameters
    ----------
    results : Results
        The study, without its runs on data made imbalanced.
    tests : dict, optional
        What `Results.paired` has returned, by measure and method, so that it need not be done again.

    Returns
    -------
    list of (str, str)
        A heading, and a paragraph of plain text. What the figures do not allow to say is left out.

    Examples
    --------
    >>> done = {"dataset": "yeast", "split": 0, "status": "done"}
    >>> rows = [done | {"method": "br", "auc": 0.6}, done | {"method": "lp", "auc": 0.7}]
    >>> for heading, text in summary(Results.of(rows)):
    ...     print(f"{heading}: {text}")
    What was run: Two methods were run on one data set, on one split. Both runs ended well.
    By AUC: LP is best of two methods, before BR. With one data set, no test over data sets is possible.
    """
    name = titles(results)
    parts = [("What was run", _scope(results))]
    if any(row["status"] == "done" for row in results.rows):
        parts += [(f"By {MEASURE_TITLES[measure]}", _ranks(results, measure, name)) for measure in PAPER_MEASURES]
        parts += [
            ("Does training on the metric pay?", _pays(results)),
            ("Against the paper", _paper(results, name)),
            ("Split by split", _tests(results, name, tests or {})),
            ("Speed", _speed(results, name)),
        ]
    parts.append(("Failures", _failures(results, name)))
    return [(heading, text) for heading, text in parts if text]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _word(n: int) -> str:
    return "none" if n == 0 else _WORDS[n] if n < len(_WORDS) else f"{n:,}"


def _scope(results: Results) -> str:
    n, failed = len(results.rows), len(results.failures())
    if n == 0:
        return "Nothing has been run yet."
    splits = [len({row["split"] for row in results.rows if row["dataset"] == name}) for name in results.datasets]
    same = len(set(splits)) == 1
    text = (
        f"{count(len(results.methods), 'method')} {'was' if len(results.methods) == 1 else 'were'} run on "
        f"{count(len(results.datasets), 'data set')}, on "
        f"{count(splits[0], 'split') if same else f'{min(splits)} to {max(splits)} splits'}"
        f"{'' if len(splits) == 1 else ' each'}."
    )
    everything = {1: "The only run", 2: "Both runs"}.get(n, f"All {n:,} runs")
    if failed == n:
        text += f" {everything} failed, so there is nothing to compare."
    elif failed:
        text += f" {_capital(count(n - failed, 'run'))} ended well and {_word(failed)} failed."
    else:
        text += f" {everything} ended well."
    missing = sum(splits) * len(results.methods) - n
    if missing:
        text += f" {_capital(count(missing, 'run'))} of the full table {'is' if missing == 1 else 'are'} not there."
    return _capital(text)


def _ranks(results: Results, measure: str, name: dict[str, str]) -> str:
    ranking = rank(results, measure)
    if ranking is None:
        return ""
    methods, ranks = ranking.methods, ranking.ranks
    n, k = len(ranking.datasets), len(methods)

    def told(place: int) -> str:
        return f"{name[methods[place]]} ({ranks[place]:.2f})"

    first = [place for place in range(k) if ranks[place] == ranks[0]]
    if n == 1:
        text = f"{listed([name[methods[place]] for place in first])} {'is' if len(first) == 1 else 'are'} best of "
        text += count(k, "method")
        if len(first) < k:
            text += f", before {name[methods[len(first)]]}"
        where = "" if len(results.datasets) == 1 else f" on {name[ranking.datasets[0]]}, which alone has all of them"
        text += f"{where}."
    elif len(first) == 1:
        text = (
            f"{name[methods[0]]} is first of {count(k, 'method')} with a mean rank of {ranks[0]:.2f} over "
            f"{count(n, 'data set')}, before {listed([told(place) for place in range(1, min(k, 3))])}."
        )
    else:
        who = listed([name[methods[place]] for place in first])
        shared = "are level" if len(first) == k else f"share the first place of {count(k, 'method')}"
        text = f"{who} {shared}, with a mean rank of {ranks[0]:.2f} over {count(n, 'data set')}."
    ours = [place for place, method in enumerate(methods) if method in smtl_variants(results)]
    if ours and ours[0] not in first and n > 1:
        text += f" The best SMTL variant, {told(ours[0])}, is in place {ours[0] + 1}."
    left_out = len(results.methods) - k
    if left_out:
        text += (
            f" {_capital(count(left_out, 'method'))} with too few results {'is' if left_out == 1 else 'are'} left out."
        )
    return f"{text} {_rank_tests(ranking)}".strip()


def _rank_tests(ranking: Ranking) -> str:
    if len(ranking.datasets) == 1:
        return "With one data set, no test over data sets is possible."
    if not ranking.tested:
        return "With two methods, there is no test over data sets here: see the paired tests."
    p = ranking.tests.friedman
    shown = p_value(p) if p < 0.001 else f"= {p_value(p)}"
    if p >= ALPHA:
        return f"Friedman's test does not find that the methods differ (p {shown})."
    level = int((np.asarray(ranking.tests.nemenyi)[0, 1:] >= ALPHA).sum())
    others = len(ranking.methods) - 1
    if level == others:
        rest = "by Nemenyi's test, though, no other method is told apart from the first"
    elif level:
        rest = (
            f"by Nemenyi's test the first is better than {_word(others - level)} of the others, "
            f"and not told apart from {_word(level)}"
        )
    else:
        rest = "by Nemenyi's test the first is better than every other"
    return f"The methods differ (Friedman's p {shown}); {rest}."


def _pays(results: Results) -> str:
    found = duels(results)
    sentences = []
    for target, shown in (("auc", "AUC"), ("f1", "F1")):
        told = []
        for rival in ("MTL-CLS", "MTL-REG"):
            of = [duel for duel in found if duel.target == target and duel.rival == rival]
            counts = []
            for penalty in dict.fromkeys(duel.penalty for duel in of):
                with_it = [duel.won for duel in of if duel.penalty == penalty]
                counts.append(f"{sum(with_it)} of {len(with_it)} with {penalty}")
            if counts:
                told.append(f"{rival} on {listed(counts)}")
        if told:
            judged = "AUC" if target == "auc" else "macro F1"
            sentences.append(f"Trained on {shown} and judged by {judged}, SMTL beats {', and '.join(told)}.")
    if not sentences:
        return ""
    return f"{' '.join(sentences)} What is counted are data sets, won in the mean over splits."


def _paper(results: Results, name: dict[str, str]) -> str:
    cells = reached(results)
    if not cells:
        return ""
    short = [cell for cell in cells if not cell.reached]
    n = len(cells)
    begin = "In the one pair" if n == 1 else f"Of the {_word(n)} pairs"
    text = f"{begin} of a data set and a measure that both this study and the paper have, the best SMTL variant here "
    if not short:
        return (
            text + ("reaches" if n == 1 else "reaches, in every one,") + " the best SMTL value that the paper prints."
        )
    if len(short) == n:
        text += ("does not reach" if n == 1 else "reaches in none") + " the best SMTL value that the paper prints."
    else:
        text += f"is at least the best SMTL value that the paper prints in {_word(n - len(short))}."
    missed = [
        f"{name[cell.dataset]} by {MEASURE_TITLES[cell.measure]} ({100 * (cell.paper - cell.ours):.2f} points)"
        for cell in sorted(short, key=lambda cell: cell.ours - cell.paper)
    ]
    return f"{text} It falls short on {listed(missed)}."


def _tests(results: Results, name: dict[str, str], tests: Tests) -> str:
    ours = smtl_variants(results)
    sentences, tested = [], False
    for measure in PAPER_MEASURES:
        chosen = chosen_variant(results, measure)
        if chosen is None or not ours:
            continue
        paired = tests.get((measure, chosen)) or results.paired(measure, chosen)
        met = [(found.test, found.corrected) for (_, method), found in paired.items() if method not in ours]
        if not met:
            continue
        better = sum(test.difference > 0 for test, _ in met)
        worse = sum(test.difference < 0 for test, _ in met)
        text = f"by {MEASURE_TITLES[measure]}, {name[chosen]} is ahead in {better}"
        if level := len(met) - better - worse:
            text += f", level in {level}"
        text += f" and behind in {worse} of {len(met)}"
        if any(np.isfinite(p) for _, p in met):
            up = sum(test.difference > 0 and p < ALPHA for test, p in met)
            down = sum(test.difference < 0 and p < ALPHA for test, p in met)
            text += f" (significantly in {up} and in {down})"
            tested = True
        sentences.append(text)
    if not sentences:
        return ""
    begin = "The SMTL variant that does best is set against every method that is not SMTL, on every data set."
    text = f"{begin} {_capital('; '.join(sentences))}."
    if tested:
        text += " Significance is by the t-test corrected for splits that share rows, after Holm's correction."
    return text


def _speed(results: Results, name: dict[str, str]) -> str:
    found = [speed for speed in speeds(results) if speed.method in smtl_variants(results)]
    if not found:
        return ""
    sets = listed([name[d] for d in dict.fromkeys(speed.dataset for speed in found)])
    times = [speed.seconds for speed in found]
    searched = [speed.searched for speed in found]
    text = f"On {sets}, training SMTL took {_range(times)} s a split, and {_range(searched)} s with the search for C."
    factors = [(speed.factor, speed) for speed in found if speed.factor is not None]
    if factors:
        slowest = min(factors, key=lambda pair: pair[0])[1]
        text += f" Where the paper prints a time, training is {_range([f for f, _ in factors])} times its speed"
        if len(factors) > 1:
            text += (
                f"; the least is {name[slowest.method]} on {name[slowest.dataset]}, {seconds(slowest.seconds)} s "
                f"against {seconds(slowest.paper)} s"
            )
        text += "."
    ratios = [speed.to_br for speed in found if speed.to_br is not None]
    if ratios:
        text += f" It took {_range(ratios)} times as long as training BR in the same run."
    return text


def _range(values: Sequence[float]) -> str:
    low, high = seconds(min(values)), seconds(max(values))
    return low if low == high else f"{low} to {high}"


def _failures(results: Results, name: dict[str, str]) -> str:
    groups: dict[tuple[str, str], list[str]] = {}
    for row in results.failures():
        groups.setdefault((row["method"], row["dataset"]), []).append(str(row.get("error", "unknown error")))
    told = []
    for (method, dataset), errors in list(groups.items())[:4]:
        first = " ".join(errors[0].split())
        first = first if len(first) <= 120 else f"{first[:119]}…"
        told.append(f"{name[method]} failed on {name[dataset]} in {count(len(errors), 'split')} ({first.rstrip('.')})")
    if not told:
        return ""
    more = len(groups) - len(told)
    rest = (
        f" {_capital(count(more, 'more pair'))} of method and data set failed too; all are listed below."
        if more
        else ""
    )
    return f"{'; '.join(told)}.{rest}"
