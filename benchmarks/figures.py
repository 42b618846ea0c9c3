"""The tables of README and docs, from the committed results: nothing in them is typed by hand.

    python benchmarks/figures.py write   # put the tables of docs/results into the pages
    python benchmarks/figures.py check   # say which pages are behind the results; a test does this

A table stands between ``<!-- figures: NAME -->`` and ``<!-- end -->``. NAME is one of:

- rivals: all tables of ``rivals.py table``;
- readme: our ensemble and its rivals, macro F1 and mean AUC, on the sets that all of them have, and who else is ahead;
- faq: the ensemble less logistic regression, in words.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import numpy as np

import rival_tables
import rivals

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "docs/faq.md", "docs/rivals.md")
STORE = ROOT / "docs" / "results" / "rivals.jsonl"
MARKED = re.compile(r"(?<=<!-- figures: )(\w+)( -->\n)(.*?)(?=<!-- end -->)", re.DOTALL)
OURS, LOGISTIC = rival_tables.OURS, rival_tables.TITLES["logistic"]
SHOWN = {"mediamill:paper": "mediamill", "tmc2007:paper": "tmc2007"}


def of_rivals() -> str:
    return rival_tables.tables(rows_of_store(), rivals.SETS, list(rivals.METHODS))


def of_readme() -> str:
    """Return methods and sets, the best mean of each set in bold, and where others than our ensemble have it."""
    sets, columns, ranks, means = of_common_sets()
    lines = ["| | mean rank | " + " | ".join(SHOWN.get(name, name) for name in sets) + " |"]
    lines.append("|---|---:|" + "---:|" * len(sets))
    for at in np.argsort(ranks[0]):
        cells = []
        for name in sets:
            values = (mean[name, columns[at]] for mean in means)
            best = (max(mean[name, column] for column in columns) for mean in means)
            cells.append(
                " / ".join(f"**{v:.1f}**" if v == most else f"{v:.1f}" for v, most in zip(values, best, strict=True))
            )
        both = " / ".join(f"{rank[at]:.1f}" for rank in ranks)
        lines.append(f"| {columns[at]} | {both} | " + " | ".join(cells) + " |")
    ahead = [best_of_others(mean, sets, columns) for mean in means]
    pairs = zip(("macro F1", "mean AUC"), ahead, strict=True)
    told = [f"by {by} on {', '.join(where)}" for by, where in pairs if where]
    if told:
        lines += ["", f"Others are ahead of the ensemble {'; '.join(told)}."]
    return "\n".join(lines)


def of_faq() -> str:
    """Return in words how the macro F1 of our ensemble differs from that of logistic regression, in points."""
    sets, _, _, (f1, _) = of_common_sets()
    less = {SHOWN.get(name, name): f1[name, OURS] - f1[name, LOGISTIC] for name in sets}
    gains = [one for one in less.values() if one > 0]
    words = (
        f"Of {len(sets)} sets the ensemble is ahead on {len(gains)}, by up to {max(gains):.1f} points of macro F1; "
        f"the mean over all is {np.mean(list(less.values())):+.1f}."
    )
    behind = [f"{name} ({one:+.1f})" for name, one in less.items() if one <= 0]
    return f"{words} It is behind on {', '.join(behind)}." if behind else words


def of_common_sets() -> tuple[list[str], list[str], list[np.ndarray], list[dict[tuple[str, str], float]]]:
    """Return sets that all methods have, methods, their mean ranks, and means in per cent, by macro F1 and mean AUC."""
    rows = rows_of_store()
    f1, columns = rival_tables.of_measure(rows, "macro_f1", list(rivals.METHODS))
    auc, _ = rival_tables.of_measure(rows, "auc", list(rivals.METHODS))
    sets = rival_tables.complete(f1, rivals.SETS, columns)
    ranks = [rival_tables.mean_ranks(values, sets, columns) for values in (f1, auc)]
    means = [{(s, c): 100 * np.mean(list(v[s, c].values())) for s in sets for c in columns} for v in (f1, auc)]
    return sets, columns, ranks, means


def best_of_others(mean: dict[tuple[str, str], float], sets: list[str], columns: list[str]) -> list[str]:
    """Return the sets on which another method than our ensemble has the highest mean, each with that method."""
    best = {name: max(columns, key=lambda column, name=name: mean[name, column]) for name in sets}
    return [f"{SHOWN.get(name, name)} ({one})" for name, one in best.items() if one != OURS]


TABLES = {"rivals": of_rivals, "readme": of_readme, "faq": of_faq}


def rows_of_store() -> list[dict[str, object]]:
    return list(rivals.read_store(STORE).values())


def filled(text: str) -> str:
    """Return a page with its tables made anew."""
    return MARKED.sub(lambda found: f"{found[1]}{found[2]}\n{TABLES[found[1]]()}\n\n", text)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["write", "check"])
    what, behind = parser.parse_args(arguments).what, []
    for name in PAGES:
        page = ROOT / name
        text = page.read_text(encoding="utf-8")
        if not MARKED.search(text):
            parser.error(f"{name} must have a table between '<!-- figures: NAME -->' and '<!-- end -->', got none.")
        if (new := filled(text)) != text:
            behind.append(name)
            if what == "write":
                page.write_text(new, encoding="utf-8")
    for name in behind:
        print(f"{name}: {'written' if what == 'write' else 'behind the results; python benchmarks/figures.py write'}")
    return int(what == "check" and bool(behind))


if __name__ == "__main__":
    sys.exit(main())
