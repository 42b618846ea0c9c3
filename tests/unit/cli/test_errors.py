"""What goes wrong, command by command, as users see it: a process, its exit code, and one line on standard error."""

import os
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="folders that refuse files are made in another way")


@pytest.fixture
def read_only(tmp_path):
    """Return a folder that takes no files, from root neither."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        if not Path("/proc/self").exists():
            pytest.skip("root may write everywhere here")
        return Path("/proc")
    folder = tmp_path / "read-only"
    folder.mkdir()
    folder.chmod(0o500)
    return folder


@pytest.fixture
def files(tmp_path, songs):
    """Write files that are wrong, each in its way."""
    for name, text in {
        "text.csv": "just some words\nand more\n",
        "columns.csv": "beat,year,calm,sad\n1,1990,0,1\n",
        "others.csv": "beta,yaer,calm,sad\n1,1990,0,1\n",
        "unlabelled.csv": "beat,key,year\n1,major,1990\n2,minor,1991\n",
        "one.csv": "beat,key,year,calm,sad\n" + "".join(f"{i},major,1990,1,1\n" for i in range(9)),
        "nan.csv": "beat,key,year,calm,sad\n1,major,1990,,\n2,minor,1991,,\n",
        "inf.csv": "beat,key,year,calm,sad\ninf,major,1990,0,1\n1,minor,1990,1,0\n",
    }.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "other.skops").write_bytes(b"PK\x03\x04 another program's")
    (tmp_path / "data.pickle").write_bytes(b"\x80\x04]\x94.")
    return songs / "songs.skops", songs / "songs.csv"


def wrong(command, model, source, read_only):
    """Return what is wrong, as arguments and what must be in the line."""
    labels = ("--labels", "calm,sad")
    data = {
        "missing.csv": "must be a file or a named set, got neither",
        "text.csv": "",
        "data.pickle": "got a pickle instead",
        ".": "got a directory instead",
        "inf.csv": "'beat'",
    }
    models = {
        "missing.skops": "got no such file; smtl fit makes one",
        "other.skops": "a zip archive",
        source: "",
        ".": "got a directory instead",
    }
    out = {
        ".": "it is a directory",
        "/dev/null": "it is a device",
        f"{read_only}/smtl-out": "no permission to write there",
    }
    if command == "fit":
        data |= {
            "unlabelled.csv": "calm",
            "one.csv": "both classes",
            "nan.csv": "the label column 'calm' must have values",
        }
        yield from ((("fit", name, *labels), words) for name, words in data.items())
        yield from ((("fit", source, *labels, "-o", name), words) for name, words in out.items())
    elif command in ("predict", "evaluate", "report"):
        yield from (((command, name, source), words) for name, words in models.items())
        strictly = "columns.csv: the columns must be those of the training data, but column 'key' is missing"
        yield (command, model, "columns.csv", "--strict"), strictly
        data |= {"others.csv": "columns 'beat', 'key', 'year' are missing; columns 'beta', 'yaer' are not in the"}
        if command != "predict":
            data |= {"unlabelled.csv": "'calm'", "nan.csv": "label"}
        yield from (((command, model, name), words) for name, words in data.items())
        if command != "evaluate":
            suffix = {"predict": ".csv", "report": ".html"}[command]
            folder = (f"{read_only}/smtl-out{suffix}", "no permission to write there")
            yield from (((command, model, source, "-o", name), words) for name, words in [folder])
    else:
        more = ("--to", "json") if command == "export" else ()
        yield from (((command, name, *more), words) for name, words in models.items())
        if command == "export":
            yield from (((command, model, *more, "-o", name), words) for name, words in out.items())


@pytest.mark.parametrize("command", ["fit", "predict", "evaluate", "inspect", "export", "report"])
def test_errors_are_one_line_of_a_process(command, forked, files, read_only, tmp_path):
    before = sorted(tmp_path.rglob("*"))
    for arguments, words in wrong(command, *files, read_only):
        done = forked(*arguments)
        assert done.returncode == 1, (arguments, done.stdout, done.stderr)
        assert done.stderr.startswith("Error: "), (arguments, done.stderr)
        assert done.stderr.count("\n") == 1, (arguments, done.stderr)
        assert words in done.stderr, (arguments, done.stderr)
        assert "unexpected" not in done.stderr, (arguments, done.stderr)
        assert done.stdout == "", arguments
    assert [path for path in sorted(tmp_path.rglob("*")) if "cache" not in path.parts] == before


@pytest.mark.parametrize("command", ["predict", "evaluate", "inspect", "report"])
@pytest.mark.parametrize("form", ["csv", "arff"])
def test_a_missing_column_is_one_line_of_a_process(command, form, forked, songs, tmp_path):
    rows = [line.split(",") for line in (songs / "songs.csv").read_text().replace("none, at all", "none").splitlines()]
    names, rows = [rows[0][0], *rows[0][2:]], [[row[0], *row[2:]] for row in rows[1:]]
    if form == "csv":
        lines = [",".join(row) for row in (names, *rows)]
    else:
        kinds = [f"@attribute {name} {'{0,1}' if name in ('calm', 'sad') else 'numeric'}" for name in names]
        cells = [",".join(cell or "?" for cell in row) for row in rows]
        lines = ["@relation 'songs: -C -2'", *kinds, "@data", *cells]
    (tmp_path / f"fewer.{form}").write_text("\n".join(lines) + "\n")
    done = forked(command, songs / "songs.skops", f"fewer.{form}")
    assert (done.returncode, done.stderr) == (0, "Warning: column 'key' is missing, and taken as missing values.\n")
