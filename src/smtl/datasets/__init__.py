"""Data: named sets, made-up ones, and readers and writers of the formats of this field, one file each."""

from __future__ import annotations

from smtl.datasets.dataset import Dataset
from smtl.datasets.errors import DatasetError
from smtl.datasets.formats import Format, format_of, read, write
from smtl.datasets.formats.csv import read_csv, write_csv
from smtl.datasets.formats.extreme import read_extreme
from smtl.datasets.formats.matlab import read_matlab
from smtl.datasets.formats.meka import read_meka
from smtl.datasets.formats.mulan import read_mulan, write_mulan
from smtl.datasets.formats.parquet import read_parquet
from smtl.datasets.formats.svmlight import read_svmlight, write_svmlight
from smtl.datasets.generators import Multitask, make_multitask
from smtl.datasets.named import dataset_names, load_dataset

__all__ = [
    "Dataset",
    "DatasetError",
    "Format",
    "Multitask",
    "dataset_names",
    "format_of",
    "load_dataset",
    "make_multitask",
    "read",
    "read_csv",
    "read_extreme",
    "read_matlab",
    "read_meka",
    "read_mulan",
    "read_parquet",
    "read_svmlight",
    "write",
    "write_csv",
    "write_mulan",
    "write_svmlight",
]
