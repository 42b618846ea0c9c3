"""Tables without names: features go by their positions, in all commands."""

import shlex

import numpy as np
import pytest

from tests.seeds import new_rng


@pytest.fixture
def plain(command, tmp_path):
    """Train on a table of four features, a label, and neither names nor commas; return the table."""
    rng = new_rng()
    X = rng.standard_normal((80, 4))
    table = np.column_stack([X, (X[:, 0] + 0.3 * rng.standard_normal(80) > 0)])
    table[:2, 4] = 0, 1
    np.savetxt(tmp_path / "plain.csv", table, fmt="%.3f", delimiter=";", header="made up", comments="")
    lines = (tmp_path / "plain.csv").read_text().replace(";0.000\n", ";0\n").replace(";1.000\n", ";1\n")
    (tmp_path / "plain.csv").write_text(lines)
    layout = ("--no-header", "--separator", ";", "--skip", "1", "--last", "1")
    code, output, error = command("fit", "plain.csv", *layout, "--model", "linear", "--C", "auto", "-o", "plain.skops")
    assert (code, error) == (0, "")
    (tmp_path / "fit.txt").write_text(output)
    return table


def test_the_commands_that_fit_tells_of_work(command, plain, tmp_path):
    told = (tmp_path / "fit.txt").read_text().partition("Next:\n")[2].splitlines()
    for line in told:
        code, _, error = command(*shlex.split(line)[1:])
        assert (code, error) == (0, ""), line
    assert (tmp_path / "answers.csv").read_text().count("\n") == 21


def test_features_alone_and_with_a_label_that_is_passed_over(command, plain, tmp_path):
    np.savetxt(tmp_path / "features.csv", plain[:, :4], fmt="%.3f", delimiter=",")
    layout = ("--no-header", "--separator", ";", "--skip", "1")
    _, expected, _ = command("predict", "plain.skops", "plain.csv", *layout, "--last", "1")
    assert command("predict", "plain.skops", "features.csv", "--no-header") == (0, expected, "")
    assert command("predict", "plain.skops", "plain.csv", *layout, "--labels", "4") == (0, expected, "")
    assert command("predict", "plain.skops", "plain.csv", *layout, "--ignore", "4") == (0, expected, "")
    assert command("predict", "plain.skops", "plain.csv", *layout) == (0, expected, "")
