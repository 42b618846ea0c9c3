"""Does `smtl fit` on a file as it is reach what a skilled user writes by hand? A made-up table of support tickets.

    pip install skrub
    python benchmarks/tickets.py --seeds 3
    python benchmarks/tickets.py --seeds 3 --without-ours --methods logistic forest

The tables are those of `tests/tickets.py`, each with its own effects of words, dates, codes and numbers. Of each, 75 %
of the rows train and 25 % test; both get their share of the rarest label. Methods see the training rows only. A rival
has one model a label, on the rows that have the label. It has one cut a label, tuned for F1 on the held-out
probabilities of 5 folds:

- logistic: medians, scaling, one-hot, TF-IDF of one and two words, date parts; C by the log loss of the same folds;
- forest: the same columns, TF-IDF reduced to 50 by SVD, 300 trees;
- skrub: `tabular_pipeline("classifier")`, gradient boosting, on the table without its id;
- ours: `smtl fit train.csv --labels ...`, then `smtl predict`, each in a process, with no other option;
- truth: the log odds that the labels were drawn from, which nobody has. No method can be much better.

F1 and AUC are means over the labels that have both classes in the test part. Seconds are those of the CPU, one thread.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT))  # for tests.tickets
os.environ.setdefault("OMP_NUM_THREADS", "1")  # before what reads it is imported

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from smtl.estimators.thresholds import best_cut
from tests.tickets import LABELS, NUMBERS, Tickets, tickets_and_truth

METHODS = ("truth", "logistic", "forest", "skrub", "ours")
N_FOLDS = 5  # of the training rows, for cuts and for logistic regression's C
CS = np.logspace(-2, 3, 11)  # C of logistic regression, one chosen for each label
NOMINAL = ["category", "product", "premium", "contract"]
DATE_PARTS = ["month", "weekday", "hour"]


class Answers(NamedTuple):
    """Of the test rows, a column a label: yes or no, and a score to order rows by."""

    yes: np.ndarray
    scores: np.ndarray


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=3, help="how many tables and splits")
    parser.add_argument("--first-seed", type=int, default=0, help="of the tables and splits")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--without-ours", action="store_true")
    parser.add_argument("--labels", action="store_true", help="print the F1 of each label, too")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    chosen = [name for name in arguments.methods if not (arguments.without_ours and name == "ours")]
    found: dict[str, list[list[float]]] = {name: [] for name in chosen}
    for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
        tickets = tickets_and_truth(arguments.rows, seed)
        rarest = tickets.table[min(LABELS, key=LABELS.get)].fillna("")
        rows = np.arange(arguments.rows)
        train, test = train_test_split(rows, test_size=0.25, random_state=seed, stratify=rarest)
        for name in chosen:
            before = _cpu_seconds()
            answers = answers_of(name, tickets, train, test)
            seconds = _cpu_seconds() - before
            f1, auc = measures(tickets.table.iloc[test], answers)
            found[name].append([np.nanmean(f1), np.nanmean(auc), seconds])
            shown = " ".join(f"{value:.2f}" for value in f1) if arguments.labels else ""
            print(f"seed {seed} {name:9} F1 {np.nanmean(f1):.3f} AUC {np.nanmean(auc):.3f} {shown}", flush=True)
    print_table(found)


def answers_of(name: str, tickets: Tickets, train: np.ndarray, test: np.ndarray) -> Answers:
    """Return what a method says of the test rows."""
    table = tickets.table
    if name == "ours":
        return our_answers(table.iloc[train], table.iloc[test].drop(columns=list(LABELS)))
    X, yes, scores = table.drop(columns=["ticket", "currency", *LABELS]), [], []
    for label in LABELS:
        known = train[table[label].iloc[train].notna()]
        y = (table[label].iloc[known] == "yes").to_numpy().astype(int)
        if name == "truth":
            held_out, scored = (tickets.log_odds[label].to_numpy()[rows] for rows in (known, test))
        else:
            held_out, scored = probabilities(name, X.iloc[known], y, X.iloc[test])
        yes.append(scored > best_cut(y, held_out))
        scores.append(scored)
    return Answers(np.column_stack(yes), np.column_stack(scores))


def probabilities(name: str, X: pd.DataFrame, y: np.ndarray, X_test: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return a rival's probabilities of the training rows, each held out once, and of the test rows."""
    candidates = [LogisticRegression(C=C, max_iter=2000) for C in CS]
    if name == "forest":
        candidates = [RandomForestClassifier(300, random_state=0, n_jobs=1)]
    elif name == "skrub":
        from skrub import tabular_pipeline

        candidates = [tabular_pipeline("classifier", n_jobs=1)]
    held_out = np.zeros((len(candidates), len(y)))
    for fit, held in StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(X, y):
        held_out[:, held] = _fitted_probabilities(name, candidates, X.iloc[fit], y[fit], X.iloc[held])
    best = int(np.argmin([log_loss(y, p) for p in held_out]))
    return held_out[best], _fitted_probabilities(name, [candidates[best]], X, y, X_test)[0]


def _fitted_probabilities(
    name: str, candidates: list[BaseEstimator], X: pd.DataFrame, y: np.ndarray, X_test: pd.DataFrame
) -> np.ndarray:
    if name != "skrub":  # which has its own columns
        columns = by_hand(sparse=name == "logistic").fit(X)
        X, X_test = columns.transform(X), columns.transform(X_test)
    return np.array([model.fit(X, y).predict_proba(X_test)[:, 1] for model in candidates])


def by_hand(sparse: bool) -> ColumnTransformer:
    """Return what turns the table into features; TF-IDF is reduced to 50 columns where they must be dense."""
    text = [FunctionTransformer(_filled), TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)]
    if not sparse:
        text.append(TruncatedSVD(50, random_state=0))
    one_hot = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=5, sparse_output=sparse)
    # Trees cut numbers where they like. A linear model needs a column for each month, weekday and hour.
    parts = [("day", StandardScaler(), ["day"]), ("parts", one_hot if sparse else "passthrough", DATE_PARTS)]
    dates = make_pipeline(FunctionTransformer(_date_parts), ColumnTransformer(parts))
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler()), NUMBERS),
            ("nominal", one_hot, NOMINAL),
            ("text", make_pipeline(*text), "subject"),
            ("date", dates, "created"),
        ]
    )


def _filled(texts: pd.Series) -> pd.Series:
    return texts.fillna("")


def _date_parts(created: pd.Series) -> pd.DataFrame:
    times = pd.to_datetime(created).dt
    day = (pd.to_datetime(created) - pd.Timestamp("2023-01-01")).dt.days
    return pd.DataFrame({"day": day, "month": times.month, "weekday": times.day_of_week, "hour": times.hour})


def our_answers(train: pd.DataFrame, test: pd.DataFrame) -> Answers:
    """Return what the command says: yes and no as the training file has them, and scores in a second file."""
    with tempfile.TemporaryDirectory() as folder:
        train.to_csv(Path(folder) / "train.csv", index=False)
        test.to_csv(Path(folder) / "test.csv", index=False)
        _smtl(folder, "fit", "train.csv", "--labels", ",".join(LABELS), "-o", "model.skops")
        _smtl(folder, "predict", "model.skops", "test.csv", "-o", "answers.csv")
        _smtl(folder, "predict", "model.skops", "test.csv", "--what", "scores", "-o", "scores.csv")
        answers, scores = (pd.read_csv(Path(folder) / name) for name in ("answers.csv", "scores.csv"))
    return Answers(
        (answers[list(LABELS)] == "yes").to_numpy(),
        np.column_stack([scores[_score_column(list(scores), label)] for label in LABELS]),
    )


def _smtl(folder: str, *words: str) -> None:
    path = os.pathsep.join(filter(None, [str(ROOT / "src"), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "-m", "smtl.cli", *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"smtl {' '.join(words)} must end with 0, got {done.returncode} instead:\n{done.stderr}")


def _score_column(names: list[str], label: str) -> str:
    """Return the column of a label's scores: its name, perhaps with something before or after it."""
    fitting = [name for name in names if name in (label, f"score:{label}", f"{label}_score", f"{label} score")]
    if len(fitting) != 1:
        raise RuntimeError(f"The scores must have one column of {label!r}, got the columns {names} instead.")
    return fitting[0]


def measures(test: pd.DataFrame, answers: Answers) -> tuple[np.ndarray, np.ndarray]:
    """Return F1 and AUC of each label, on the rows that have it; NaN where they have one class only."""
    f1, auc = np.full((2, len(LABELS)), np.nan)
    for k, label in enumerate(LABELS):
        known = test[label].notna().to_numpy()
        y = (test[label][known] == "yes").to_numpy()
        if 0 < y.sum() < len(y):
            f1[k] = f1_score(y, answers.yes[known, k], zero_division=0.0)
            auc[k] = roc_auc_score(y, answers.scores[known, k])
    return f1, auc


def _cpu_seconds() -> float:
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def print_table(found: dict[str, list[list[float]]]) -> None:
    """Print means over seeds, and their standard errors."""
    print("\n| method | mean F1 | mean AUC | CPU seconds |\n|---|---|---|---|")
    for name, rows in found.items():
        mean = np.mean(rows, axis=0)
        error = np.std(rows, axis=0, ddof=1) / np.sqrt(len(rows)) if len(rows) > 1 else np.full(3, np.nan)
        cells = [f"{m:.{d}f} ± {e:.{d}f}" for m, e, d in zip(mean, error, (3, 3, 1), strict=True)]
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
