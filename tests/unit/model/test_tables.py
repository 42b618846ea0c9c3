"""Tables in pieces: numbers as Python reads them, rows as the csv module has them, whatever the pieces."""

import csv
import io
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smtl.datasets import DatasetError, read_csv
from smtl.model import csv_blocks
from smtl.model.csv_blocks import BlockParser
from smtl.model.tables import open_csv, open_json_lines
from tests.seeds import new_rng


def numbers_in(texts):
    block = "".join(f"{text}\n" for text in texts).encode()
    parser = BlockParser(["a"], ["a"], [], ",", "a.csv")
    found = parser._fast(block)
    assert found is not None, "the compiled parser has given up"
    return found[0][:, 0]


@pytest.mark.parametrize("form", ["%r", "%.17g", "%.16e", "%.15g", "%.6g", "%.3f", "%.18e"])
def test_numbers_are_rounded_as_python_rounds_them(form):
    rng = new_rng()
    bits = rng.integers(2**64, size=20_000, dtype=np.uint64).view(np.float64)
    values = [*bits[np.isfinite(bits)].tolist(), *rng.normal(size=20_000).tolist()]
    # Where %f would write hundreds of digits, or an exponent is far out, Python reads the cell.
    values = [value for value in values if 1e-200 < abs(value) < (1e15 if form == "%.3f" else 1e200)]
    texts = [repr(value) if form == "%r" else form % value for value in values]
    np.testing.assert_array_equal(numbers_in(texts), [float(text) for text in texts])


def test_numbers_halfway_between_two_floats():
    rng = new_rng()
    texts = []
    for mantissa in rng.integers(2**52, 2**53, size=3000).tolist():
        middle = 2 * mantissa + 1  # one bit more than a float has
        texts += [f"{middle}", f"{middle}.0", f"{middle}0e-1", f"{middle}1e-1", f"{middle - 1}9e-1"]
        texts += ["1"] * 20  # what is in doubt goes to Python, and must be rare
    texts += ["9007199254740993", "9007199254740992.5", "1e23", "8.5e-250", "4e250", "0e999", "-0.0"]
    np.testing.assert_array_equal(numbers_in(texts), [float(text) for text in texts])
    assert np.signbit(numbers_in(["-0.0"])[0])


def test_numbers_with_more_digits_than_fit_are_left_to_python():
    rng = new_rng()
    texts = [f"{value:.25g}" for value in rng.normal(size=100)] + ["5e-324", "1e308", "1e-400", "1" * 400]
    found = BlockParser(["a"], ["a"], [], ",", "a.csv")((1, "".join(f"{text}\n" for text in texts).encode()))
    np.testing.assert_array_equal(found[0][:, 0], [float(text) for text in texts])


@settings(deadline=None)
@given(st.text(alphabet="0123456789+-.eE naif_,\u0661", max_size=12).filter(lambda text: "," not in text))
def test_any_cell_is_a_number_where_the_reader_says_so(text):
    parser = BlockParser(["a", "b"], ["a"], [], ",", "a.csv")
    try:
        expected = None
        if text.strip() not in csv_blocks.MISSING:
            expected = csv_blocks.number(text.strip())
    except ValueError:
        with pytest.raises(DatasetError, match="must be a number"):
            parser((1, f"{text},1\n".encode()))
        return
    found = parser((1, f"{text},1\n".encode()))[0][0, 0]
    np.testing.assert_array_equal(found, np.nan if expected is None else expected)


cells = st.one_of(
    st.floats(allow_nan=False).map(repr),
    st.sampled_from(["", "?", "NA", "NULL", "#N/A", "-", " 1", "2 ", '"3"', '" 4"', "-0", "1e400", "inf"]),
)
words = st.text(alphabet='ab ,"\né?', max_size=6)


@settings(deadline=None)
@given(st.lists(st.tuples(cells, words, cells), min_size=1, max_size=12), st.integers(1, 60), st.booleans())
def test_pieces_are_what_the_whole_is(rows, size, windows):
    buffer = io.StringIO()
    end = "\r\n" if windows else "\n"
    quoted = ["" if word is None else '"' + word.replace('"', '""') + '"' for _, word, _ in rows]
    buffer.write(f"x,word,y{end}")
    for (x, _, y), word in zip(rows, quoted, strict=True):
        buffer.write(f"{x},{word},{y}{end}")
    content = buffer.getvalue().encode()
    expected = list(csv.reader(io.StringIO(buffer.getvalue(), newline=""), skipinitialspace=True))[1:]
    old, csv_blocks._BLOCK = csv_blocks._BLOCK, size
    try:
        table = open_csv(io.BytesIO(content), "a.csv")
        parts = list(table.chunks(["y", "x"], ["word"]))
    finally:
        csv_blocks._BLOCK = old

    def number(cell):
        return np.nan if cell.strip() in csv_blocks.MISSING else float(cell)

    numbers = np.concatenate([part[0] for part in parts])
    np.testing.assert_array_equal(numbers, [[number(row[2]), number(row[0])] for row in expected])
    texts = [text for part in parts for text in part[1]["word"]]
    stripped = [row[1].strip() for row in expected]
    assert texts == [None if word in csv_blocks.EMPTY else word for word in stripped]


def test_it_reads_what_the_reader_of_data_sets_reads(tmp_path):
    rng = new_rng()
    path = tmp_path / "a.csv"
    X = rng.normal(size=(500, 4)).round(3)
    lines = [
        ",".join("" if rng.random() < 0.1 else repr(float(v)) for v in row) + f",{i % 2}" for i, row in enumerate(X)
    ]
    path.write_text("\ufeffa,b,c,d,label:x\n" + "\n".join(lines))
    with open(path, "rb") as stream:
        found = np.concatenate([part[0] for part in open_csv(stream, path).chunks(["a", "b", "c", "d"], [])])
    np.testing.assert_array_equal(found, read_csv(path).X)


def test_faults_have_their_place():
    text = "a,b\n" + "1,2\n" * 1000
    for bad, words in {
        "1,2,3\n": "a.csv, line 1002: a row must have 2 cells, as the first has, got 3 instead",
        "1\n": "a.csv, line 1002: a row must have 2 cells",
        "x,1\n": "a.csv, line 1002: 'a' must be a number, got 'x' instead",
        '1,"2\n': "a.csv, line 1002: a row must be CSV",
        '1,"2"3\n': "a.csv, line 1002: a row must be CSV",
    }.items():
        table = open_csv(io.BytesIO((text + bad).encode()), "a.csv")
        with pytest.raises(DatasetError) as fault:
            list(table.chunks(["b", "a"], []))
        assert words in str(fault.value)
    for content, words in {b"": "must have rows", b"a,a\n1,2\n": "got 'a' twice"}.items():
        with pytest.raises(DatasetError, match=words):
            open_csv(io.BytesIO(content), "a.csv")


def test_other_separators_positions_and_lines_before():
    table = open_csv(io.BytesIO(b"made by me\n1;2\n3;4\n"), "a.csv", header=False, skip=1, separator=";")
    assert table.names == ["0", "1"]
    np.testing.assert_array_equal(next(table.chunks(["1", "0"], []))[0], [[2, 1], [4, 3]])
    table = open_csv(io.BytesIO("a|b\n1|é\n".encode("latin-1")), "a.csv", separator="|")
    assert next(table.chunks(["a"], ["b"]))[1] == {"b": ["é"]}


def test_json_lines():
    rows = [{"a": 1, "b": "x"}, {"b": None, "a": None}, {"a": True, "b": 2}]
    content = "".join(f"{json.dumps(row)}\n\n" for row in rows).encode()
    numbers, texts = next(open_json_lines(io.BytesIO(content), "a.jsonl").chunks(["a"], ["b"]))
    np.testing.assert_array_equal(numbers, [[1.0], [np.nan], [1.0]])
    assert texts == {"b": ["x", None, "2"]}
    for bad, words in {b'{"b": 1}': "must have 'a'", b"[1]": "must be a JSON object", b"{": "must be JSON"}.items():
        table = open_json_lines(io.BytesIO(content + bad), "a.jsonl")
        with pytest.raises(DatasetError, match=rf"line 7: .*{words}"):
            list(table.chunks(["a"], ["b"]))
    with pytest.raises(DatasetError, match="'b' must be a number, got 'x'"):
        list(open_json_lines(io.BytesIO(content), "a.jsonl").chunks(["a", "b"], []))
