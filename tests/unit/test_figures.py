"""The tables of README and docs are those of the committed results."""

import pytest

import figures


def test_no_page_is_behind_the_results(capsys):
    assert figures.main(["check"]) == 0, capsys.readouterr().out


def test_a_page_that_is_behind_is_told_and_written(monkeypatch, tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("Before\n<!-- figures: readme -->\n\n| old |\n\n<!-- end -->\nafter\n")
    monkeypatch.setattr(figures, "ROOT", tmp_path)
    monkeypatch.setattr(figures, "PAGES", ("page.md",))
    assert figures.main(["check"]) == 1
    assert "page.md" in capsys.readouterr().out
    assert figures.main(["write"]) == 0
    text = page.read_text()
    assert text.startswith("Before\n")
    assert text.endswith("\n<!-- end -->\nafter\n")
    assert "| old |" not in text
    assert "| SMTLEnsemble |" in text
    assert figures.main(["check"]) == 0


def test_a_page_without_a_mark_is_refused(monkeypatch, tmp_path, capsys):
    (tmp_path / "page.md").write_text("no table\n")
    monkeypatch.setattr(figures, "ROOT", tmp_path)
    monkeypatch.setattr(figures, "PAGES", ("page.md",))
    with pytest.raises(SystemExit):
        figures.main(["check"])
    assert "got none" in capsys.readouterr().err
