"""What holds for all commands: help, exit codes, one line for an error, no colour where none is wanted, Ctrl-C."""

import os
import pkgutil
import re
import signal
import subprocess
import sys

import pytest

import smtl.cli

SEARCH = ("--model", "linear", "--values", "5", "--cv", "3")
NAMES = [module.name for module in pkgutil.iter_modules(smtl.cli.__path__) if not module.name.startswith("_")]


def test_help_fits_a_screen_and_groups_all_commands(command):
    code, output, _ = command("--help")
    assert code == 0
    lines = output.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    listed = re.findall(r"^  (\w*) +(\w+) {2,}[A-Z]", output.partition("Commands:")[2], re.M)
    assert sorted(name for _, name in listed) == sorted(NAMES)
    assert [group for group, _ in listed if group] == ["Start", "Models", "Data", "Studies"]
    assert command()[1] == output


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_an_example(command, name):
    code, output, _ = command(name, "--help")
    assert code == 0
    assert re.search(rf"Examples?: smtl {name}|smtl {name} \w+", output.partition("Usage:")[2].partition("\n")[2])


def test_help_waits_for_nothing_heavy():
    code = (
        "import sys\n"
        "sys.argv = ['smtl', '--help']\n"
        "from smtl.cli import main\n"
        "try:\n"
        "    main()\n"
        "except SystemExit:\n"
        "    pass\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"sklearn", "scipy", "numba", "pandas", "skops", "matplotlib"} & set(done.stdout.split()) == set()


def test_exit_codes(fails, command):
    assert command("--version")[0] == 0
    assert fails("inspect", "missing.skops", code=1)
    assert "(see smtl inspect --help)" in fails("inspect", code=2)
    assert "nonsense" in fails("nonsense", code=2)
    assert "--nonsense" in fails("fit", "digits", "--nonsense", code=2)


def test_debug_shows_the_trace_wherever_it_stands(command):
    for arguments in (("--debug", "inspect", "missing.skops"), ("inspect", "missing.skops", "--debug")):
        code, _, error = command(*arguments)
        assert code == 1
        assert error.startswith("Traceback (most recent call last)")
        assert error.splitlines()[-1].startswith("Error: 'missing.skops' must be a model's file")
    # Behind --, it is an argument like any other.
    assert "Traceback" not in command("inspect", "--", "--debug")[2]


def test_what_was_not_foreseen_is_one_line(command, monkeypatch):
    import smtl.cli.inspect as module

    def broken(path):
        raise RuntimeError("a bug")

    monkeypatch.setattr(module, "read_saved", broken)
    code, _, error = command("inspect", "m.skops")
    assert (code, error) == (1, "Error: RuntimeError: a bug (unexpected; --debug shows where it comes from)\n")


def test_completion(process):
    words = {"_SMTL_COMPLETE": "complete_bash", "COMP_WORDS": "smtl predict --w", "COMP_CWORD": "2"}
    assert process(environment=words).stdout.split() == ["--what"]


def terminal(arguments, folder, environment):
    """Return what a command writes to a terminal."""
    import pty

    main, other = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "smtl.cli", *map(str, arguments)],
        stdout=other,
        stderr=other,
        stdin=other,
        cwd=folder,
        env={**os.environ, "TERM": "xterm-256color", **environment},
    ) as running:
        os.close(other)
        text = b""
        while True:
            try:
                piece = os.read(main, 65536)
            except OSError:  # Linux's way to say that the other end is closed
                piece = b""
            if not piece:
                break
            text += piece
        assert running.wait() == 0, text
    os.close(main)
    return text.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of Unix")
def test_progress_on_a_terminal_and_colour_if_wanted(songs, tmp_path):
    arguments = ("fit", songs / "songs.csv", "--labels", "calm,sad", "--model", "linear", "--C", "auto")
    colour = re.compile(r"\x1b\[(?:\d+;)*[34]\d(?:;\d+)*m")
    shown = terminal(arguments, tmp_path, {})
    assert "certified gap" in shown
    assert colour.search(shown)
    assert not colour.search(terminal(arguments, tmp_path, {"NO_COLOR": "1"}))


@pytest.mark.parametrize("moment", ["searching", "saving", "writing answers"])
def test_an_interrupt_leaves_what_was_there(command, monkeypatch, songs, tmp_path, moment):
    import smtl.estimators.candidates
    import smtl.model.predicting
    import smtl.whole_file

    out = tmp_path / "out.csv"
    out.write_bytes(b"what was there")
    arguments = ("fit", songs / "songs.csv", "--labels", "calm,sad", *SEARCH, "-o", out)
    if moment == "searching":
        whole = smtl.estimators.candidates.search

        def interrupted(*data, **options):
            yield next(whole(*data, **options))
            signal.raise_signal(signal.SIGINT)

        monkeypatch.setattr(smtl.estimators.candidates, "search", interrupted)
    elif moment == "saving":
        monkeypatch.setattr(smtl.whole_file.os, "fsync", lambda _: signal.raise_signal(signal.SIGINT))
    else:
        arguments = ("predict", songs / "songs.skops", songs / "songs.csv", "-o", out)
        whole_table = smtl.model.predicting.predict_table

        def interrupted_table(*data, **options):
            yield from whole_table(*data, **options)
            signal.raise_signal(signal.SIGINT)

        monkeypatch.setattr(smtl.model.predicting, "predict_table", interrupted_table)
    code, output, error = command(*arguments)
    assert (code, output) == (130, "")
    assert error.splitlines()[-1] == "Error: interrupted."
    assert out.read_bytes() == b"what was there"
    assert list(tmp_path.iterdir()) == [out]
