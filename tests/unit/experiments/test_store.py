"""The store: atomic, shared, and not deceived by the dead."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

from smtl.experiments.store import Run, Store, StudyError

RUNS = [Run("yeast", "br", k) for k in range(3)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study" / "runs.sqlite"


def test_rows_come_back_as_they_were_written(path):
    result = {"auc": 0.1 + 0.2, "C": [0.5, 1e-30], "gap": None, "warnings": ["naïve"]}
    with Store(path, {"cv": 5}) as store:
        store.finish(RUNS[1], result)
        store.finish(RUNS[0], {"error": "ValueError: no"}, failed=True)
    with Store(path) as store:
        assert store.rows() == [
            {"dataset": "yeast", "method": "br", "split": 0, "status": "failed", "error": "ValueError: no"},
            {"dataset": "yeast", "method": "br", "split": 1, "status": "done", **result},
        ]
        assert store.settings == {"cv": 5}
        assert store.done() == set(RUNS[:2])
        assert store.forget_failures(RUNS[1:]) == 0  # another run's failure stays
        assert store.forget_failures(RUNS) == 1
        assert store.done() == {RUNS[1]}


def test_the_first_result_stays(path):
    with Store(path, {}) as store:
        store.finish(RUNS[0], {"auc": 0.5})
        store.finish(RUNS[0], {"auc": 0.6})
        assert store.rows()[0]["auc"] == 0.5


def test_other_settings_are_refused(path):
    Store(path, {"cv": 5, "protocol": "paper"}).close()
    with pytest.raises(StudyError, match="cv=5, got cv=3 instead"):
        Store(path, {"cv": 3})
    Store(path, {"protocol": "paper"}).close()


def test_what_is_kept_first_stays_among_the_settings(path):
    with Store(path, {"cv": 5}) as store:
        assert store.keep("blake2b of own.csv", "ab") == "ab"
        assert store.keep("blake2b of own.csv", "cd") == "ab"
    with Store(path, {"cv": 5}) as store:
        assert store.settings == {"cv": 5, "blake2b of own.csv": "ab"}


def test_another_file_is_refused(path, tmp_path):
    (tmp_path / "notes.txt").write_text("not a data base, but long enough to be mistaken for one" * 50)
    with pytest.raises(ValueError, match="must be a store of runs"):
        Store(tmp_path / "notes.txt", {})
    with pytest.raises(FileNotFoundError, match="is not there"):
        Store(path)


def test_a_run_is_claimed_once(path):
    with Store(path, {}) as one, Store(path, {}) as two:
        assert one.claim(RUNS) == RUNS[0]
        assert two.claim(RUNS) == RUNS[1]
        one.finish(RUNS[0], {})
        assert one.claim(RUNS) == RUNS[2]
        assert two.claim(RUNS) is None
        one.release(RUNS[2])
        assert two.claim(RUNS) == RUNS[2]


def test_closing_gives_claims_back(path):
    with Store(path, {}) as one:
        one.claim(RUNS)
    with Store(path, {}) as two:
        assert two.claim(RUNS) == RUNS[0]


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is of POSIX")
def test_claims_of_the_dead_are_void(path):
    code = """
        import sys, time
        from smtl.experiments.store import Run, Store
        store = Store(sys.argv[1], {})
        store.claim([Run("yeast", "br", 0)])
        print("claimed", flush=True)
        time.sleep(60)
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"claimed\n"
        with Store(path, {}) as store:
            assert store.claim(RUNS) == RUNS[1]  # it lives
            process.send_signal(signal.SIGKILL)
            process.wait()
            assert store.claim(RUNS) == RUNS[0]
