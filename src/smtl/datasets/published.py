"""The named sets as they are published: which reader, with which options, for which files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from smtl.datasets.dataset import Dataset
from smtl.datasets.formats.csv import read_csv
from smtl.datasets.formats.matlab import read_matlab
from smtl.datasets.formats.mulan import read_mulan
from smtl.datasets.formats.svmlight import read_svmlight
from smtl.datasets.nominal import Nominal
from smtl.datasets.parts import joined

__all__ = ["read_landmine", "read_mediamill", "read_mulan_parts", "read_optdigits", "read_segmentation"]


def read_mulan_parts(paths: Sequence[Path], nominal: Nominal) -> Dataset:
    """Read ARFF files; the last path is the XML file that they share."""
    *files, xml = paths
    return joined([read_mulan(file, xml, nominal=nominal) for file in files], files)


def read_mediamill(paths: Sequence[Path], nominal: Nominal) -> Dataset:
    """Read svmlight files that have 120 features, numbered from 1, none of which is 0: X is dense."""
    parts = [read_svmlight(path, n_features=120, labels=101, zero_based=False) for path in paths]
    return joined([Dataset(part.X.toarray(), part.Y) for part in parts], paths)


def read_segmentation(paths: Sequence[Path], nominal: Nominal) -> Dataset:
    """Read UCI's files: five lines of comments and names, which name no class column, then the class first."""
    return joined([read_csv(path, skip=5, header=False, class_column=0) for path in paths], paths)


def read_optdigits(paths: Sequence[Path], nominal: Nominal) -> Dataset:
    """Read UCI's files: the class last."""
    return joined([read_csv(path, header=False, class_column=-1) for path in paths], paths)


def read_landmine(paths: Sequence[Path], nominal: Nominal) -> Dataset:
    """Read the MATLAB file; its tasks are numbered from 0."""
    return read_matlab(paths[0], features="feature", labels="label")
