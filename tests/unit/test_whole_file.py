"""A file is there whole, or as it was."""

import os
import stat

import numpy as np
import pytest

from smtl.datasets import Dataset, write
from smtl.whole_file import whole_file


def test_an_error_leaves_what_was_there_and_nothing_else(tmp_path):
    out = tmp_path / "a.txt"
    out.write_text("old")

    def fails():
        with whole_file(out) as part:
            part.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fails()
    assert out.read_text() == "old"
    assert list(tmp_path.iterdir()) == [out]


def test_a_directory_is_refused(tmp_path):
    with pytest.raises(IsADirectoryError, match="it is a directory"), whole_file(tmp_path):
        pass
    assert tmp_path.is_dir()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of Unix")
def test_what_is_no_file_keeps_its_place(tmp_path):
    pipe = tmp_path / "data.csv"
    os.mkfifo(pipe)
    with pytest.raises(FileExistsError, match="a file would take its place"):
        write(Dataset(np.eye(3), np.eye(3)), pipe)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert list(tmp_path.iterdir()) == [pipe]
