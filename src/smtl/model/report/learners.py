"""What an ensemble is made of, and the features that its tasks rest on, as tables of a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from smtl import pages
from smtl.model.leaderboard import standing
from smtl.model.report.words import figure

__all__ = ["importance", "learners", "words"]


def learners(ensemble: Any) -> str:
    """Return the leaderboard, and what the correction adds.

    Parameters
    ----------
    ensemble : SMTLEnsemble
        A fitted ensemble.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from smtl import SMTLEnsemble
    >>> X, Y = make_multilabel_classification(100, random_state=0)
    >>> "linear" in learners(SMTLEnsemble(learners=["linear"], cv=2).fit(X, Y))
    True
    """
    found = standing(ensemble)
    correction = found["correction"]
    told = (
        "The joint correction is left out: it would not have gained more than its standard error."
        if correction is None
        else f"The joint correction (penalty {correction['penalty']}) makes the log loss less by "
        f"{correction['gain']:.4f}, with a standard error of {correction['error']:.4f}."
    )
    rows = "".join(
        f'<tr><th scope="row" class="w">{escape(one["name"])}</th><td>{figure(one["score"])}</td>'
        f"<td>{one['weight']:.2f}</td><td>{one['seconds']:.1f}</td></tr>"
        for one in found["learners"]
    )
    head = "".join(
        f'<th scope="col" data-c="{c}"{kind}>{title}</th>'
        for c, (title, kind) in enumerate(
            [("Learner", ' class="w"'), ("Score by itself", ""), ("Share of the answer", ""), ("Seconds", "")]
        )
    )
    foot = (
        f'<tfoot><tr><th scope="row" class="w">The ensemble</th><td>{figure(found["score"])}</td><td>1.00</td>'
        f"<td>{found['seconds']:.1f}</td></tr></tfoot>"
    )
    caption = f"What each learner scores by itself on held-out rows of the training data ({found['scoring']})."
    table = pages.framed_table("learners-table", caption, f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody>{foot}")
    return pages.paragraph(told) + table


def importance(found: Mapping[str, Any], tasks: Sequence[str], *, of_columns: bool = False) -> str:
    """Return the features without which the AUC of a task falls most.

    Parameters
    ----------
    found : mapping
        See `smtl.model.importance.permutation_importance`.
    tasks : sequence of str
        Names.
    of_columns : bool, default=False
        Whether columns of a table were shuffled.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> one = {"feature": "beat", "drop": 0.2, "interval": [0.1, 0.3]}
    >>> "beat 0.200 (0.100 to 0.300)" in importance({"rows": 9, "features": 1, "tasks": [[one]]}, ["calm"])
    True
    """
    rows = []
    for name, largest in zip(tasks, found["tasks"], strict=True):
        told = ", ".join(
            f"{one['feature']} {figure(one['drop'])} ({figure(one['interval'][0])} to {figure(one['interval'][1])})"
            for one in largest
        )
        rows.append(
            f'<tr><th scope="row" class="w">{escape(name)}</th>'
            f'<td class="w wrap">{escape(told or "not both classes in these data")}</td></tr>\n'
        )
    head = '<thead><tr><th scope="col" class="w">Task</th><th scope="col" class="w">AUC falls by</th></tr></thead>'
    what = "column" if of_columns else "feature"
    caption = (
        f"By how much AUC falls where a {what} is shuffled among {found['rows']:,} rows, with 95 % intervals; "
        f"{found['features']:,} {what}s were tried."
    )
    return pages.framed_table("importance", caption, f"{head}<tbody>{''.join(rows)}</tbody>", long=len(rows) > 30)


def words(found: Sequence[Mapping[str, Any]]) -> str:
    """Return the words of texts that speak for yes and for no; nothing if there are none.

    Parameters
    ----------
    found : sequence of mapping
        See `smtl.model.words.word_weights`.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> one = {"task": "refund", "column": "subject", "yes": [{"word": "money", "weight": 2.0}], "no": []}
    >>> "money" in words([one]), words([])
    (True, '')
    """
    if not found:
        return ""
    rows = [
        f'<tr><th scope="row" class="w">{escape(one["task"])}</th><td class="w">{escape(one["column"])}</td>'
        + "".join(
            f'<td class="w wrap">{escape(", ".join(word["word"] for word in one[answer]) or "none")}</td>'
            for answer in ("yes", "no")
        )
        + "</tr>\n"
        for one in found
    ]
    titles = ("Task", "Text", "Words for yes", "Words for no")
    head = "".join(f'<th scope="col" class="w">{title}</th>' for title in titles)
    caption = "The words with the largest weights of the linear model, the largest first."
    inside = f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return pages.framed_table("words", caption, inside, long=len(rows) > 30)
