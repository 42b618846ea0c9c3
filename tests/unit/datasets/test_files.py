"""Compression, limits, encodings, and what is never opened: the same for every text format."""

import bz2
import gzip
import os
import pickle
import zipfile

import numpy as np
import pytest

from smtl import datasets
from smtl.datasets import Dataset, DatasetError, limits, read, read_svmlight, write
from smtl.datasets.files import blocks, replacing, text_blocks

ROWS = b"0,2 1:0.5 3:2\n1 2:1\n"
READERS = [name for name in datasets.__all__ if name.startswith("read")]


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress])
def test_compression_is_told_by_the_content(tmp_path, pack):
    path = tmp_path / "data.svm"  # no suffix says it
    path.write_bytes(pack(ROWS))
    data = read(path)
    np.testing.assert_array_equal(data.X.toarray(), [[0.5, 0, 2], [0, 1, 0]])
    np.testing.assert_array_equal(data.Y, [[1, 0, 1], [0, 1, 0]])


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_several_streams_in_one_file(tmp_path, pack):
    path = tmp_path / "data.svm"
    path.write_bytes(pack(ROWS) + pack(ROWS))
    assert read_svmlight(path).X.shape == (4, 3)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_a_stream_that_is_cut_short_or_damaged(tmp_path, pack):
    content = pack(ROWS * 1000)
    path = tmp_path / "data.svm.gz"
    for damaged in (content[:-9], content[: len(content) // 2] + b"\xaa\xaa\xaa" + content[len(content) // 2 + 3 :]):
        path.write_bytes(damaged)
        with pytest.raises(DatasetError, match=r"data.svm.gz, line \d+: the compressed stream is cut short or damaged"):
            read(path)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_a_bomb_is_stopped_and_the_limit_can_be_raised(tmp_path, monkeypatch, pack):
    monkeypatch.setattr(limits, "_FREE_TEXT", 2**18)  # 64 MB as a rule
    path = tmp_path / "bomb.svm"
    content = pack(b"1 1:1\n" * 500_000)  # 3 MB
    assert len(content) < 10_000
    path.write_bytes(content)
    with pytest.raises(DatasetError, match=r"line \d+: the decompressed text must have at most max_bytes=[\d,]+ bytes"):
        for _ in blocks(path):
            pass
    assert sum(block.count(b"\n") + 1 for _, block in blocks(path, 3_000_000)) == 500_000
    with pytest.raises(DatasetError, match="max_bytes=2,999,999 bytes"):
        list(blocks(path, 2_999_999))


def test_a_bomb_of_one_line(tmp_path):
    path = tmp_path / "bomb.csv"
    path.write_bytes(gzip.compress(bytes(100_000_000)))
    with pytest.raises(DatasetError, match="line 1: the decompressed text must have at most max_bytes"):
        read(path)


def test_a_limit_holds_for_plain_text_too(tmp_path):
    path = tmp_path / "data.svm"
    path.write_bytes(ROWS)
    assert read(path, max_bytes=2 * len(ROWS)).X.shape == (2, 3)
    with pytest.raises(DatasetError, match="the text must have at most max_bytes=19 bytes, got more"):
        read(path, max_bytes=19)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("content", [b"", gzip.compress(b"", mtime=0)])
def test_an_empty_file(tmp_path, reader, content):
    path = tmp_path / "data.arff"
    path.write_bytes(content)
    path.with_suffix(".xml").write_text("<labels><label name='y'/></labels>")
    with pytest.raises(DatasetError, match=r"data.arff: must (have data|be a)"):
        getattr(datasets, reader)(path)


@pytest.mark.parametrize("reader", READERS)
def test_a_folder_and_a_file_that_is_not_there(tmp_path, reader):
    with pytest.raises(DatasetError, match="must be a file, got a directory instead"):
        getattr(datasets, reader)(tmp_path)
    (tmp_path / "none.xml").write_text("<labels><label name='y'/></labels>")
    with pytest.raises(FileNotFoundError):
        getattr(datasets, reader)(tmp_path / "none.arff")


class Trap:
    """Unpickling it makes a folder."""

    def __reduce__(self):
        return os.mkdir, (os.environ["SMTL_TRAP"],)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", [0, 2, 4, 5, "npy", "npz", "zip"])
def test_nothing_is_unpickled(tmp_path, monkeypatch, reader, kind):
    trap = tmp_path / "trap"
    monkeypatch.setenv("SMTL_TRAP", str(trap))
    path = tmp_path / "data.bin"
    if kind == "npy":
        with open(path, "wb") as file:
            np.save(file, np.array([Trap()], dtype=object), allow_pickle=True)
    elif kind == "npz":
        with open(path, "wb") as file:
            np.savez(file, X=np.array([Trap()], dtype=object))
    elif kind == "zip":
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("data.pkl", pickle.dumps(Trap()))
    else:
        path.write_bytes(pickle.dumps(Trap(), protocol=kind))
    (tmp_path / "data.xml").write_text("<labels><label name='y'/></labels>")
    with pytest.raises(DatasetError) as caught:
        getattr(datasets, reader)(path)
    assert not trap.exists()
    if kind != 0:
        assert "got a" in str(caught.value)
        assert "which is not read" in str(caught.value)


def test_the_trap_works(tmp_path, monkeypatch):
    monkeypatch.setenv("SMTL_TRAP", str(tmp_path / "trap"))
    pickle.loads(pickle.dumps(Trap()))
    assert (tmp_path / "trap").exists()


def test_utf_16_is_named_or_read(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,label:b\n1,0\n", encoding="utf-16")
    assert read(path).X.tolist() == [[1]]
    path = path.rename(tmp_path / "data.svm")
    with pytest.raises(DatasetError, match="got UTF-16 text instead, which is not read; save it as UTF-8"):
        read(path)


def test_encodings(tmp_path):
    path = tmp_path / "data.txt"
    path.write_bytes(b"\xef\xbb\xbfone\nna\xefve\n" + "naïve\n".encode())
    assert [text for _, text in text_blocks(path)] == ["one\nnaïve\nnaïve"]


def test_blocks_are_whole_lines_and_know_their_numbers(tmp_path):
    path = tmp_path / "data.txt"
    lines = [b"x" * n for n in (3, 0, 50, 1, 7, 200, 0, 0, 5)]
    for end in (b"", b"\n"):
        path.write_bytes(b"\n".join(lines) + end)
        for size in (1, 2, 10, 64, 10_000):
            found = list(blocks(path, size=size))
            assert b"\n".join(block for _, block in found).split(b"\n") == lines
            assert [line for line, _ in found] == [
                1 + sum(block.count(b"\n") + 1 for _, block in found[:i]) for i in range(len(found))
            ]


@pytest.mark.parametrize("suffix", [".svm", ".svm.gz", ".svm.bz2", ".csv.gz", ".arff.bz2", ".tsv"])
def test_a_written_file_is_whole_or_not_there(tmp_path, suffix):
    data = Dataset(np.eye(3), np.eye(3))
    path = tmp_path / f"data{suffix}"
    write(data, path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    np.testing.assert_array_equal(np.asarray(read(path).X.sum()), 3)
    with pytest.raises(ValueError, match=r"Y must hold 0, 1 and NaN, got .*2"):
        write(Dataset(np.ones((3, 3)), np.full((3, 3), 2)), path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
    write(data, path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_a_writer_that_is_interrupted_leaves_nothing(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("before")

    def interrupted():
        with replacing(path) as file:
            file.write("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [file.name for file in tmp_path.iterdir()] == ["data.csv"]
    assert path.read_text() == "before"


def test_an_error_survives_pickling():
    error = DatasetError("it is wrong.", "a.csv", 3, 4)
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error) == "a.csv, line 3, column 4: it is wrong."
    assert (copy.path, copy.line, copy.column) == ("a.csv", 3, 4)


def test_a_data_set_that_contradicts_itself():
    with pytest.raises(ValueError, match=r"Y must have shape \(2, n_labels\), got \(3, 1\) instead"):
        Dataset(np.eye(2), np.ones((3, 1)))
    with pytest.raises(ValueError, match=r"Y must have shape \(2,\) where tasks is given"):
        Dataset(np.eye(2), np.ones((2, 1)), tasks=np.zeros(2))
    with pytest.raises(ValueError, match="feature_names must have 2 names, one a column, got 1 instead"):
        Dataset(np.eye(2), np.ones((2, 1)), ("a",))
    with pytest.raises(ValueError, match="label_names must have 1 names"):
        Dataset(np.eye(2), np.ones((2, 1)), None, ("a", "b"))
    with pytest.raises(ValueError, match=r"tasks must have shape \(2,\)"):
        Dataset(np.eye(2), np.ones(2), tasks=np.zeros(3))
