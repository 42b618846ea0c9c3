"""`tests/tickets.py`: the table has what it says, the same for a seed, and its labels depend on what they should."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.metrics import roc_auc_score

from tests.seeds import new_seed
from tests.tickets import LABELS, MEANINGS, NUMBERS, make_tickets, tickets_and_truth, write_tickets

YES_NO = ["premium", "contract"]


@pytest.fixture(scope="module")
def tickets():
    return tickets_and_truth(3000, new_seed())


def left_over(z, columns):
    """Return z less its best linear function of columns, and how many of these are independent."""
    A = np.column_stack([np.ones(len(z)), *columns])
    return z - A @ np.linalg.lstsq(A, z, rcond=None)[0], np.linalg.matrix_rank(A)


def explained(z, columns):
    """Return the share of the variance of z that a linear function of columns explains, adjusted for their number."""
    left, rank = left_over(z, columns)
    return 1.0 - (left @ left / (len(z) - rank)) / np.var(z, ddof=1)


def meanings_and_categories(table):
    """Return columns of 0 and 1: which meanings a subject has, and the category."""
    words = table["subject"].fillna("").str.lower().str.findall("[a-z]+")
    meanings = [words.map(lambda said, s=set(s): bool(s & set(said))).to_numpy(float) for s in MEANINGS]
    return meanings, list(pd.get_dummies(table["category"]).to_numpy(float).T)


def test_a_seed_is_a_table():
    seed = new_seed()
    table = make_tickets(300, seed)
    pd.testing.assert_frame_equal(table, make_tickets(300, seed))
    assert not table["subject"].equals(make_tickets(300, seed + 1)["subject"])


def test_the_file_is_the_table(tmp_path):
    seed = new_seed()
    path = write_tickets(tmp_path, 300, seed)
    pd.testing.assert_frame_equal(pd.read_csv(path), make_tickets(300, seed), check_dtype=False)


def test_columns_are_as_messy_as_said(tickets):
    table = tickets.table
    assert list(table.columns[-8:]) == list(LABELS)
    assert table["ticket"].str.fullmatch(r"TCK-\d{5}").all()
    assert table["ticket"].is_unique
    assert pd.to_datetime(table["created"], format="%Y-%m-%d %H:%M").is_monotonic_increasing
    assert table["category"].nunique() == 20
    assert table["product"].str.fullmatch(r"[A-Z]{2}-\d{3}-[a-d]").all()
    assert 130 <= table["product"].nunique() <= 150
    assert table["currency"].nunique() == 1
    assert table["n_messages"].nunique() == 6
    waiting = table["waiting_hours"].dropna()
    assert waiting.max() > 10.0 * waiting.mean() > 15.0 * waiting.median()
    for name in YES_NO + list(LABELS):
        assert set(table[name].dropna()) == {"yes", "no"}
    holes = table[["subject", "category", *NUMBERS, "premium", *LABELS]].isna().mean()
    assert (holes > 0.005).all()
    assert (holes < 0.3).all()


def test_subjects_have_synonyms_and_typos(tickets):
    subjects = tickets.table["subject"].dropna().str.lower()
    words = subjects.str.findall("[a-z]+").explode()
    known = {word for synonyms in MEANINGS for word in synonyms}
    assert known <= set(words)
    assert subjects.str.split().str.len().between(3, 12).all()
    assert (words.value_counts() == 1).sum() > 100  # typos


def test_labels_are_as_rare_as_said_and_drawn_from_the_log_odds(tickets):
    for name, share in LABELS.items():
        log_odds = tickets.log_odds[name]
        assert expit(log_odds).mean() == pytest.approx(share)
        known = tickets.table[name].notna()
        yes = tickets.table[name][known] == "yes"
        # Six standard errors, and what the noise moves.
        assert abs(yes.mean() - share) < 6.0 * np.sqrt(share / len(yes)) + 0.02
        assert roc_auc_score(yes, log_odds[known]) > 0.9


def test_log_odds_depend_on_each_kind_of_column(tickets):
    table, Z = tickets.table, tickets.log_odds.to_numpy()
    time = pd.to_datetime(table["created"])
    words, categories = meanings_and_categories(table)
    kinds = {
        "words": words,
        "category": categories,
        "product": pd.get_dummies(table["product"].str[:2] + table["product"].str[-1]).to_numpy(float).T,
        "date": [
            (time.dt.hour < 7) | (time.dt.hour > 19),
            time.dt.day_of_week >= 5,
            time.astype("int64") / 1e18,
            *pd.get_dummies(time.dt.month).to_numpy(float).T,
        ],
    }
    for kind, columns in kinds.items():
        if kind in ("product", "date"):
            Z = np.column_stack([left_over(z, words + categories)[0] for z in Z.T])  # these two would hide the rest
        assert max(explained(z, columns) for z in Z.T) > 0.01, kind


def test_numbers_act_by_curves_and_by_an_interaction(tickets):
    table, Z = tickets.table, tickets.log_odds.to_numpy()
    whole = table[[*NUMBERS, "premium"]].notna().all(axis=1).to_numpy()
    waiting, _, years, _ = table.loc[whole, NUMBERS].to_numpy().T
    premium, waiting = (table.loc[whole, "premium"] == "yes").to_numpy(float), np.log(waiting + 0.01)
    words, categories = meanings_and_categories(table[whole])
    Z = np.column_stack([left_over(z, words + categories)[0] for z in Z[whole].T])
    for straight, bent in (([premium, waiting], premium * waiting), ([years], years**2)):
        gains = [explained(z, [*straight, bent]) - explained(z, straight) for z in Z.T]
        assert max(gains) > 0.005


def test_labels_share_four_traits(tickets):
    Z = tickets.log_odds.to_numpy()
    sizes = np.linalg.svd(Z - Z.mean(axis=0), compute_uv=False) ** 2
    assert 0.7 < sizes[:4].sum() / sizes.sum() < 0.999  # of eight independent labels it is little more than a half
