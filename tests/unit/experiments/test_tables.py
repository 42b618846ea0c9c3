from __future__ import annotations

import csv
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtl.experiments.results import rows_as_csv
from smtl.experiments.tables import NOTHING, Cell, Column, Row, Table, number, p_value, percent, seconds

HOSTILE = 'a|b & <script>alert("1")</script> 50% of $x_1$ {~^}\\'


def table() -> Table:
    columns = [
        Column("Method", "method", text=True),
        Column("ours", "auc", "AUC", "auc", spread=True),
        Column("paper", "auc_paper", "AUC", "auc"),
    ]
    rows = [
        Row([Cell(HOSTILE, "hostile"), Cell("61.23 ± 1.00", 0.6123456789, 0.01, bold=True), Cell("60.0", 0.6)]),
        Row([Cell("BR"), Cell(NOTHING), Cell(NOTHING)]),
    ]
    return Table("t", "A & B", columns, rows, [Row([Cell("won"), Cell("1 of 2"), Cell("")])])


def test_csv_holds_the_unrounded_figures() -> None:
    lines = list(csv.DictReader(table().to_csv().splitlines()))
    assert [line["method"] for line in lines] == ["hostile", "BR"]
    assert float(lines[0]["auc"]) == 0.6123456789
    assert float(lines[0]["auc_std"]) == 0.01
    assert lines[1] == {"method": "BR", "auc": "", "auc_std": "", "auc_paper": ""}


def test_markdown_has_as_many_cells_as_columns_and_no_markup_of_names() -> None:
    lines = table().to_markdown().splitlines()
    assert lines[0] == "A &amp; B"
    assert lines[3] == "|:--|--:|--:|"
    for line in lines[2:]:
        assert len(re.findall(r"(?<!\\)\|", line)) == 4
        assert "<" not in line
    assert "**61.23 ± 1.00**" in lines[4]


def test_latex_has_as_many_cells_as_columns_and_no_open_commands() -> None:
    text = table().to_latex()
    body = text.split(r"\midrule")[1] + text.split(r"\midrule")[2].split(r"\bottomrule")[0]
    lines = [line for line in body.splitlines() if line]
    assert len(lines) == 3
    for line in lines:
        assert line.endswith(r" \\")
        assert len(re.findall(r"(?<!\\)&", line)) == 2
        assert not re.search(r"(?<!\\)[%#_]", line)
        for opened, closed in ("{}",):
            assert len(re.findall(rf"(?<!\\)\{opened}", line)) == len(re.findall(rf"(?<!\\)\{closed}", line))
    assert r"\multicolumn{2}{c}{AUC}" in text
    assert r"\textbf{61.23 $\pm$ 1.00}" in text


def test_latex_takes_no_first_cell_for_an_argument() -> None:
    columns = [Column("[Method]", "method", text=True), Column("AUC", "auc")]
    rows = [Row([Cell(text), Cell("1")]) for text in ("[0.1, 0.2]", "* all", "BR", "[x]")]
    text = Table("t", "A", columns, rows[:2], rows[2:]).to_latex()
    for end, after in re.findall(r"(\\\\|rule)\s*\n\s*(\S)", text):
        assert after not in "[*", (end, after)
    assert text.count("{}[") == 3
    assert "\nBR & 1" in text


def test_every_latex_table_has_a_label_of_its_name() -> None:
    assert r"\label{tab:t}" in table().to_latex()
    strange = Table(HOSTILE, "A", [Column("Method", "method", text=True)], []).to_latex()
    assert re.search(r"\\caption\{A\}\n\\label\{tab:[A-Za-z0-9-]+\}\n", strange)


def test_notes_have_a_mark_each_and_stand_below() -> None:
    columns = [Column("Method", "method", text=True), Column("AUC", "auc")]
    notes = [*(f"over {n} of 9 splits" for n in range(1, 8)), "over 1 of 9 splits"]
    of = Table("t", "A", columns, [Row([Cell(f"m{n}"), Cell("50", 0.5, note=note)]) for n, note in enumerate(notes)])
    assert list(of.marks.values()) == ["*", "†", "‡", "§", "¶", "**", "††"]
    lines = of.to_markdown().splitlines()
    assert lines[4] == lines[11].replace("m7", "m0") == r"| m0 | 50\* |"
    assert lines[12:15] == ["", r"\* over 1 of 9 splits", ""]
    assert r"\par{\footnotesize \dag{} over 2 of 9 splits}" in of.to_latex()
    assert of.to_csv().splitlines()[1] == "m0,0.5"


@given(st.floats(-1e6, 1e6), st.integers(0, 4))
def test_a_number_is_the_nearest_that_can_be_written(value: float, digits: int) -> None:
    text = number(value, digits).replace("\N{MINUS SIGN}", "-")
    assert abs(float(text) - value) <= 0.5 * 10**-digits + 1e-9
    assert not text.startswith("-0") or float(text) != 0.0


@given(st.floats(1e-4, 1e5))
def test_seconds_keep_three_digits(value: float) -> None:
    assert float(seconds(value)) == pytest.approx(value, rel=5e-3, abs=5e-7)


def test_what_is_not_there_is_a_dash() -> None:
    nan = math.nan
    assert {number(nan), number(None), percent(nan, 0.1), percent(None), seconds(nan), p_value(nan)} == {NOTHING}
    assert percent(0.5, nan) == "50.00"


def test_csv_has_nothing_that_a_spreadsheet_would_run() -> None:
    name = "=cmd|' /C calc'!A0.csv"
    one = Table(
        "t", "", [Column("Data", "data", text=True), Column("AUC", "auc")], [Row([Cell(name), Cell("-0.5", -0.5)])]
    )
    assert list(csv.reader(one.to_csv().splitlines()))[1] == [f"'{name}", "-0.5"]
    rows = [{"dataset": name, "method": "br", "split": 0, "status": "failed", "error": "@SUM(1)"}]
    assert list(csv.reader(rows_as_csv(rows).splitlines()))[1] == [f"'{name}", "br", "0", "failed", "'@SUM(1)"]
