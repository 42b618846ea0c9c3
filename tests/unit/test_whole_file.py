"""A file is there whole, or as it was."""

import errno
import os
import signal
import stat
import subprocess
import sys

import numpy as np
import pytest

from smtl.datasets import Dataset, write
from smtl.whole_file import _machine, remove_leftovers, whole_file


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


def test_a_link_is_followed_and_who_may_read_it_stays(tmp_path):
    (tmp_path / "deep").mkdir()
    true, link = tmp_path / "deep" / "true.txt", tmp_path / "link.txt"
    true.write_text("old")
    true.chmod(0o600)
    link.symlink_to("deep/true.txt")
    with whole_file(link) as part:
        assert part.parent == true.parent
        part.write_text("new")
    assert link.is_symlink()
    assert true.read_text() == "new"
    assert stat.S_IMODE(true.stat().st_mode) == 0o600
    assert [path.name for path in true.parent.iterdir()] == ["true.txt"]


WRITES = """
import signal, sys, time
from pathlib import Path
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup may have started the tests
from smtl.whole_file import whole_file
with whole_file(Path(sys.argv[1])) as part:
    part.write_text("half")
    print("ready", flush=True)
    time.sleep(60)
"""


def begun(path):
    process = subprocess.Popen([sys.executable, "-c", WRITES, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    assert len(list(path.parent.glob(".smtl-*.part"))) == 1
    return process


@pytest.mark.skipif(os.name != "posix", reason="signals of Unix")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_signal_leaves_nothing(tmp_path, name):
    process = begun(tmp_path / "a.txt")
    process.send_signal(getattr(signal, name))
    process.communicate(timeout=30)
    assert process.returncode == -getattr(signal, name), "it ends as the signal would have ended it"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="signals of Unix")
def test_what_a_kill_leaves_the_next_run_removes_and_nothing_else(tmp_path):
    killed, alive = begun(tmp_path / "a.txt"), None
    killed.kill()
    killed.communicate()
    alone = list(tmp_path.iterdir())
    assert len(alone) == 1
    foreign = tmp_path / ".smtl-00000000-1-0123456789ab.part"
    (other := tmp_path / ".0123456789abcdef.part").touch()
    foreign.touch()
    (tmp_path / "b").mkdir()
    alive = subprocess.Popen([sys.executable, "-c", WRITES, str(tmp_path / "c.txt")], stdout=subprocess.PIPE, text=True)
    assert alive.stdout.readline() == "ready\n"
    try:
        (theirs,) = set(tmp_path.glob(".smtl-*.part")) - {foreign}
        with whole_file(tmp_path / "a.txt") as part:
            part.write_text("yes")
        assert set(tmp_path.glob(".*")) == {foreign, other, theirs}, (
            "of another machine, of nobody known, being written"
        )
    finally:
        alive.kill()
        alive.communicate()
    os.utime(foreign, (0, 0))
    with whole_file(tmp_path / "b.txt") as part:
        part.write_text("yes")
    assert set(tmp_path.glob(".*")) == {other}


def test_an_error_names_the_file_that_the_user_knows(tmp_path):
    with pytest.raises(OSError, match="No space left") as raised, whole_file(tmp_path / "a.txt"):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert raised.value.filename == str(tmp_path / "a.txt")


@pytest.mark.skipif(os.name != "posix", reason="processes of Unix")
def test_a_part_of_a_number_that_another_process_has_got_is_removed_after_a_day(tmp_path):
    alive = tmp_path / f".smtl-{_machine()}-{os.getppid()}-0123456789ab.part"
    alive.touch()
    remove_leftovers(tmp_path)
    assert alive.exists()
    os.utime(alive, (0, 0))
    remove_leftovers(tmp_path)
    assert not alive.exists()


def test_an_error_of_a_library_keeps_its_words(tmp_path):
    with pytest.raises(OSError, match=r"^error closing file$"), whole_file(tmp_path / "a.txt"):
        raise OSError("error closing file")  # as pyarrow does, without a number
