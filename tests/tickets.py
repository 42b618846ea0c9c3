"""A made-up table of support tickets, as messy as real ones: an id, a date, a text, codes, holes, imbalanced labels.

The log odds of the labels are known, so that it is known what can be learned. A ticket has four hidden traits: failure,
money, access and goods. Each trait is a sum of effects of the subject's words, the date, the category, the product and
the numbers. Each label is a mixture of the traits, with one meaning that matters most and small effects of its own. The
effects depend on the seed; which words mean the same does not.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit

LABELS = {  # the share of yes
    "urgent": 0.30,
    "escalated": 0.25,
    "refund": 0.20,
    "reopened": 0.15,
    "churn": 0.10,
    "field_visit": 0.06,
    "fraud": 0.03,
    "recall": 0.01,
}
CAUSES = {  # the meaning that matters most for a label, by its first word; its trait is the label's main one
    "urgent": "outage",
    "escalated": "locked",
    "refund": "refund",
    "reopened": "lost",
    "churn": "cancel",
    "field_visit": "broken",
    "fraud": "hacked",
    "recall": "smoke",
}
NUMBERS = ["waiting_hours", "n_messages", "account_years", "satisfaction"]
CATEGORIES = """
    account app-android app-ios billing chat cloud delivery desktop email hardware installation
    integration marketplace network other payments printing returns security website
    """.split()  # noqa: SIM905
# Synonyms of one meaning share a line. Four lines make a trait; the last four lines stand for calm.
MEANINGS = [
    line.split()
    for line in """
    crash crashes crashed freezes frozen hangs
    outage down offline unreachable unavailable
    slow sluggish lagging timeout delays
    lost vanished corrupted deleted wiped
    refund reimbursement moneyback chargeback
    invoice bill receipt statement
    overcharged overbilled surcharge fee
    cancel terminate unsubscribe quit
    login signin password credentials
    hacked phishing suspicious intruder
    locked blocked banned suspended
    permission rights role admin
    broken cracked damaged defective faulty
    parcel shipment courier package
    smoke overheating burning hot
    replacement exchange swap return
    question howto wondering curious
    thanks thank appreciated great
    feature suggestion idea wish
    update upgrade version release
    """.strip().splitlines()
]
FILLERS = """
    the my our again since yesterday after please help with on for cannot not still customer office when
    every order problem issue need monday new two device screen team asap
    """.split()  # noqa: SIM905
TRAITS = ["failure", "money", "access", "goods"]
FAMILIES = ["PX", "PZ", "QT", "LM", "HR", "VK"]
N_PRODUCTS = 150
FIRST_DAY, N_DAYS = "2023-01-01", 730
SIGNAL = 7.0  # standard deviation of the log odds that the columns tell
NOISE = 0.5  # standard deviation of the log odds that no column tells; half of it is shared by the labels
SHARES = {"words": 1.5, "date": 0.5, "category": 0.8, "product": 0.3, "numbers": 0.6}  # of a trait; before scaling
OWN = 0.25  # size of a label's own effects beside the traits
CAUSE = 1.0  # size of the effect of a label's cause beside the traits
MIXING = 0.2  # size of the traits that are not a label's main one
SPREAD = 1.0  # standard deviation of the logarithm of strengths of words and categories
TYPOS = 0.06  # share of words


class Tickets(NamedTuple):
    """A table, and the log odds of its labels as far as columns without holes or typos tell them."""

    table: pd.DataFrame
    log_odds: pd.DataFrame


def make_tickets(n_rows: int = 2000, seed: int = 0) -> pd.DataFrame:
    """Return a table of tickets; the labels are its last eight columns."""
    return tickets_and_truth(n_rows, seed).table


def write_tickets(folder: Path, n_rows: int = 2000, seed: int = 0, name: str = "tickets.csv") -> Path:
    """Write a table of tickets as CSV, and return where it is."""
    path = Path(folder) / name
    make_tickets(n_rows, seed).to_csv(path, index=False)
    return path


def tickets_and_truth(n_rows: int = 2000, seed: int = 0) -> Tickets:
    """Return a table of tickets, and what its labels were drawn from."""
    rng = np.random.default_rng(seed)
    created = _times(rng, n_rows)
    category = rng.choice(len(CATEGORIES), size=n_rows, p=_decreasing(rng, len(CATEGORIES), 0.6))
    products = _products(rng)
    product = rng.choice(N_PRODUCTS, size=n_rows, p=_decreasing(rng, N_PRODUCTS, 0.8))
    meanings = _meanings(rng, category)
    facts = _facts(rng, n_rows)
    log_odds = _log_odds(rng, meanings, created, category, products.iloc[product], facts)
    facts = facts.mask(_holes(rng, facts))
    table = pd.DataFrame(
        {
            "ticket": [f"TCK-{number:05d}" for number in range(1, n_rows + 1)],
            "created": created.strftime("%Y-%m-%d %H:%M"),
            "subject": _subjects(rng, meanings),
            "category": np.where(rng.random(n_rows) < 0.02, None, np.array(CATEGORIES)[category]),
            "product": products["code"].to_numpy()[product],
            **{name: facts[name] for name in NUMBERS},
            "premium": facts["premium"],
            "contract": facts["contract"],
            "currency": "EUR",
            **_answers(rng, log_odds),
        }
    )
    return Tickets(table, log_odds)


def _times(rng: np.random.Generator, n_rows: int) -> pd.DatetimeIndex:
    """Return sorted times, most of them in office hours, of a business that grows."""
    days = np.sort((N_DAYS * rng.beta(1.3, 1.0, size=n_rows)).astype(int))
    office = rng.normal(13.0, 3.0, size=n_rows)
    hours = np.where(rng.random(n_rows) < 0.75, office, rng.uniform(0.0, 24.0, size=n_rows)) % 24.0
    return pd.DatetimeIndex(pd.Timestamp(FIRST_DAY) + pd.to_timedelta(24.0 * days + hours, unit="h")).sort_values()


def _decreasing(rng: np.random.Generator, n: int, power: float) -> np.ndarray:
    """Return probabilities of n levels, few of them frequent."""
    sizes = rng.permutation(1.0 / np.arange(1, n + 1) ** power)
    return sizes / sizes.sum()


def _products(rng: np.random.Generator) -> pd.DataFrame:
    """Return family, revision and code of the products, each code once."""
    numbers = rng.choice(np.arange(100, 1000), size=N_PRODUCTS, replace=False)
    family, revision = rng.integers(len(FAMILIES), size=N_PRODUCTS), rng.integers(4, size=N_PRODUCTS)
    codes = [f"{FAMILIES[f]}-{number}-{'abcd'[r]}" for f, number, r in zip(family, numbers, revision, strict=True)]
    return pd.DataFrame({"code": codes, "family": family, "revision": revision})


def _meanings(rng: np.random.Generator, category: np.ndarray) -> np.ndarray:
    """Return which meanings a subject has: one to three, some of them usual in the category."""
    usual = rng.random((len(CATEGORIES), len(MEANINGS))) < 0.2
    score = rng.gumbel(size=(len(category), len(MEANINGS))) + 1.2 * usual[category]
    n_meant = rng.integers(1, 4, size=len(category))
    ranks = np.argsort(np.argsort(-score, axis=1), axis=1)
    return ranks < n_meant[:, None]


def _subjects(rng: np.random.Generator, meanings: np.ndarray) -> list[str | None]:
    """Return subjects that say what is meant among other words, with typos; some are missing."""
    subjects: list[str | None] = []
    for meant in meanings:
        words = [MEANINGS[k][int(rng.integers(len(MEANINGS[k])))] for k in np.flatnonzero(meant)]
        words += [FILLERS[k] for k in rng.integers(len(FILLERS), size=rng.integers(2, 6))]
        typos = rng.random(len(words)) < TYPOS
        words = [_mistyped(rng, word) if typo else word for word, typo in zip(words, typos, strict=True)]
        rng.shuffle(words)
        subject, style = " ".join(words), rng.integers(10)
        if style < 5:
            subject = subject.capitalize()
        elif style == 5:
            subject = subject.upper() + "!!"
        elif style == 6:
            subject = f"Re: {subject}"
        elif style == 7:
            subject = f"{subject}, kind regards"
        subjects.append(None if rng.random() < 0.04 else subject)
    return subjects


def _mistyped(rng: np.random.Generator, word: str) -> str:
    """Return the word with two letters swapped, one left out, or one twice."""
    at, kind = int(rng.integers(len(word) - 1)), rng.integers(3)
    first, second = word[at], word[at + 1]
    return word[:at] + (second + first, second, first + first + second)[kind] + word[at + 2 :]


def _facts(rng: np.random.Generator, n_rows: int) -> pd.DataFrame:
    """Return the numbers and the yes/no columns, as yet without holes."""
    return pd.DataFrame(
        {
            "waiting_hours": np.round(np.exp(rng.normal(1.0, 1.5, size=n_rows)), 2),
            "n_messages": rng.choice(np.arange(1.0, 7.0), size=n_rows, p=[0.35, 0.25, 0.15, 0.1, 0.1, 0.05]),
            "account_years": np.round(rng.gamma(2.0, 2.0, size=n_rows), 1),
            "satisfaction": np.round(np.clip(rng.normal(65.0, 18.0, size=n_rows), 0.0, 100.0), 1),
            "premium": np.where(rng.random(n_rows) < 0.35, "yes", "no"),
            "contract": np.where(rng.random(n_rows) < 0.6, "yes", "no"),
        }
    )


def _holes(rng: np.random.Generator, facts: pd.DataFrame) -> np.ndarray:
    """Return where cells are missing. Satisfaction is missing most often where there were few messages."""
    chance = np.tile([0.03, 0.05, 0.08, 0.10, 0.02, 0.0], (len(facts), 1))
    chance[:, 3] += 0.25 * (facts["n_messages"] == 1)
    return rng.random(chance.shape) < chance


def _log_odds(
    rng: np.random.Generator,
    meanings: np.ndarray,
    created: pd.DatetimeIndex,
    category: np.ndarray,
    product: pd.DataFrame,
    facts: pd.DataFrame,
) -> pd.DataFrame:
    """Return the log odds of the labels: four traits, mixed, and each label's own effects of words and categories."""
    n_traits, m = len(TRAITS), len(LABELS)
    calm = np.repeat([False, True], [4 * n_traits, 4])
    of_trait = np.vstack([np.kron(np.eye(n_traits), np.ones((4, 1))), np.full((4, n_traits), -0.5)])
    of_trait *= _strengths(rng, of_trait.shape)
    effects = {
        "words": meanings @ of_trait,
        "date": _date_effects(rng, created),
        "category": _strengths(rng, (len(CATEGORIES), n_traits))[category],
        "product": _product_effects(rng, product),
        "numbers": _number_effects(rng, facts),
    }
    traits = sum(share * _scaled(effects[name]) for name, share in SHARES.items())
    mixture = MIXING * rng.normal(size=(n_traits, m))
    cause = np.array([[words[0] for words in MEANINGS].index(CAUSES[name]) for name in LABELS])
    mixture[cause // 4, np.arange(m)] += 1.0
    words = meanings @ (rng.normal(size=(len(MEANINGS), m)) * ~calm[:, None])
    own = _scaled(words) + _scaled(rng.normal(size=(len(CATEGORIES), m))[category])
    total = SIGNAL * _scaled(_scaled(traits @ mixture) + CAUSE * _scaled(meanings[:, cause]) + OWN * own)
    return pd.DataFrame(
        {
            name: z + brentq(lambda b, z=z, q=q: expit(z + b).mean() - q, -60.0, 60.0)
            for (name, q), z in zip(LABELS.items(), total.T, strict=True)
        }
    )


def _strengths(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Return positive effects, few of them strong: what is rare can be learned only where it has few causes."""
    return np.exp(rng.normal(0.0, SPREAD, size=shape))


def _scaled(effects: np.ndarray) -> np.ndarray:
    return (effects - effects.mean(axis=0)) / np.maximum(effects.std(axis=0), 1e-12)


def _date_effects(rng: np.random.Generator, created: pd.DatetimeIndex) -> np.ndarray:
    """Failures come at night, trouble with money in a season, with access at weekends, with goods more every year."""
    night = ((created.hour < 7) | (created.hour > 19)).astype(float)
    season = np.cos(2.0 * np.pi * (created.month - rng.integers(1, 13)) / 12.0)
    weekend = (created.day_of_week >= 5).astype(float)
    trend = (created - created[0]).days / N_DAYS
    return np.column_stack([_scaled(np.asarray(part, dtype=float)) for part in (night, season, weekend, trend)])


def _product_effects(rng: np.random.Generator, product: pd.DataFrame) -> np.ndarray:
    """Return effects of the family and of the revision, both of which are only parts of the code."""
    families, revisions = rng.normal(size=(len(FAMILIES), len(TRAITS))), rng.normal(size=(4, len(TRAITS)))
    return families[product["family"]] + revisions[product["revision"]]


def _number_effects(rng: np.random.Generator, facts: pd.DataFrame) -> np.ndarray:
    """Return one effect a trait: an interaction, a step, a valley and a saturation."""
    premium = facts["premium"].to_numpy() == "yes"
    waiting = _scaled(np.log(facts["waiting_hours"].to_numpy() + 0.01))
    impatient = np.where(premium, 1.5, -0.5) * waiting  # who pays more waits less gladly
    unhappy = (facts["satisfaction"].to_numpy() < rng.uniform(45.0, 60.0)).astype(float)
    years = np.abs(facts["account_years"].to_numpy() - rng.uniform(3.0, 5.0))  # new and old customers alike
    messages = np.minimum(facts["n_messages"].to_numpy(), 3.0) * np.where(facts["contract"] == "yes", 1.0, 0.6)
    return np.column_stack([impatient, unhappy, years, messages])


def _answers(rng: np.random.Generator, log_odds: pd.DataFrame) -> dict[str, np.ndarray]:
    """Return yes and no by chance; a few answers are missing, and many of one label."""
    n_rows, m = log_odds.shape
    shared = rng.normal(size=(n_rows, 1))
    noise = NOISE * np.sqrt(0.5) * (shared + rng.normal(size=(n_rows, m)))
    yes = rng.random((n_rows, m)) < expit(log_odds.to_numpy() + noise)
    missing = rng.random((n_rows, m)) < np.where(np.arange(m) == 2, 0.15, 0.03)
    answers = np.where(missing, None, np.where(yes, "yes", "no"))
    return dict(zip(LABELS, answers.T, strict=True))
