"""How much of smtl fit on a large table of mixed columns is reading and encoding.

    python benchmarks/table_cost.py                               # 200,000 x 50
    python benchmarks/table_cost.py --rows 20000 --preset fast

The table has numbers with holes, categories, short strings of many values, texts, dates, yes/no and an id, and three
labels. `smtl fit` runs in this process as it is; the clock stops the time in the reader and in the encoder, in training
and wherever else columns become features. A quarter at the most is asked for.
"""

import argparse
import resource
import sys
import tempfile
import time
from contextlib import suppress
from functools import wraps
from pathlib import Path

import numpy as np
import pandas as pd

KINDS = {"number": 24, "category": 8, "strings": 4, "text": 4, "date": 4, "yes/no": 5}  # and the id


def table(rows, rng):
    """Return a table of fifty columns, and three labels that depend on one column of each kind."""
    words = np.array([f"word{k}" for k in range(3000)])
    often = 1.0 / (10.0 + np.arange(len(words)))
    often /= often.sum()
    columns, odds = {"id": [f"R-{k:07d}" for k in range(rows)]}, np.zeros((rows, 3))

    def add(values):
        return np.outer((values - values.mean()) / values.std(), rng.normal(size=3))

    for k in range(KINDS["number"]):
        values = rng.normal(size=rows)
        odds += add(values) if k < 3 else 0.0
        columns[f"number{k}"] = np.where(rng.random(rows) < 0.05, np.nan, values.round(4))
    for k in range(KINDS["category"]):
        codes = rng.integers(12, size=rows)
        odds += add(rng.normal(size=12)[codes]) if k == 0 else 0.0
        columns[f"category{k}"] = np.array([f"level{j}" for j in range(12)])[codes]
    for k in range(KINDS["strings"]):
        codes = rng.integers(2000, size=rows)
        columns[f"strings{k}"] = np.array([f"P{j % 40:02d}-{j:04d}" for j in range(2000)])[codes]
    for k in range(KINDS["text"]):
        drawn = rng.choice(len(words), (rows, 8), p=often)
        odds += add((drawn < 20).sum(axis=1)) if k == 0 else 0.0
        columns[f"text{k}"] = [" ".join(row) for row in words[drawn]]
    for k in range(KINDS["date"]):
        seconds = rng.integers(2 * 365 * 86_400, size=rows)
        odds += add((seconds // 3600 % 24 > 18).astype(float)) if k == 0 else 0.0
        columns[f"date{k}"] = (pd.Timestamp("2024-01-01") + pd.to_timedelta(seconds, unit="s")).strftime(
            "%Y-%m-%d %H:%M:%S"
        )
    for k in range(KINDS["yes/no"]):
        columns[f"flag{k}"] = np.where(rng.random(rows) < 0.3, "yes", "no")
    labels = odds + rng.logistic(size=odds.shape) > np.array([2.0, 4.0, 6.0])
    return pd.DataFrame(columns | {f"label{i}": np.where(labels[:, i], "yes", "no") for i in range(3)})


class Clock:
    """Seconds in some functions, those that they call included once."""

    def __init__(self):
        self.seconds, self.inside = {}, False

    def around(self, name, function):
        @wraps(function)
        def timed(*arguments, **options):
            if self.inside:
                return function(*arguments, **options)
            self.inside, started = True, time.perf_counter()
            try:
                return function(*arguments, **options)
            finally:
                self.inside = False
                self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - started

        return timed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--preset", default="balanced")
    parser.add_argument("--model", default="ensemble")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()

    import smtl.cli.fit as fit
    from smtl.cli import main as command
    from smtl.tables import TableEncoder

    clock = Clock()
    fit.read_for_model = clock.around("reading", fit.read_for_model)
    TableEncoder.fit = clock.around("encoding", TableEncoder.fit)
    TableEncoder.transform = clock.around("encoding", TableEncoder.transform)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        table(options.rows, np.random.default_rng(0)).to_csv(path, index=False)
        print(f"{options.rows:,} x 50, {path.stat().st_size / 2**20:,.0f} MB of CSV", flush=True)
        given = ["--preset", options.preset] if options.model == "ensemble" else ["--model", options.model]
        sys.argv = ["smtl", "fit", str(path), "--labels", "label0,label1,label2", *given]
        sys.argv += ["--jobs", str(options.jobs), "-o", str(Path(folder, "model.skops"))]
        started = time.perf_counter()
        with suppress(SystemExit):
            command()
        whole = time.perf_counter() - started
    part = sum(clock.seconds.values())
    print({name: round(seconds, 1) for name, seconds in clock.seconds.items()})
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"whole {whole:.1f} s, reading and encoding {part:.1f} s: {100 * part / whole:.0f} %; peak {peak:.2f} GB")


if __name__ == "__main__":
    main()
