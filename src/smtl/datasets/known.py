"""The named data sets: what each holds, in which files it is published, and where else it can be had."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from smtl.datasets.dataset import Dataset
from smtl.datasets.elsewhere import read_digits, read_river_segmentation, read_river_yeast
from smtl.datasets.nominal import Nominal
from smtl.datasets.published import (
    read_landmine,
    read_mediamill,
    read_mulan_parts,
    read_optdigits,
    read_segmentation,
)

__all__ = ["SETS", "Carried", "Content", "NamedSet"]

Reader: TypeAlias = Callable[[Sequence[Path], Nominal], Dataset]


@dataclass(frozen=True)
class Content:
    """What a set holds, or one of its variants.

    Attributes
    ----------
    rows, features, tasks : int
        Its shape.
    positives : int
        How many labels are 1.
    imbalance, worst : float
        Negatives for each positive: the median over the tasks, and the largest.
    checksum : str
        As `smtl.datasets.checksum.checksum` returns it.
    """

    rows: int
    features: int
    tasks: int
    positives: int
    imbalance: float
    worst: float
    checksum: str
    own_rows: bool = False

    @property
    def density(self) -> float:
        """The share of labels that are 1."""
        return self.positives / (self.rows * (1 if self.own_rows else self.tasks))


@dataclass(frozen=True)
class Carried:
    """A copy that an installed package has: in one of its files, or, without a file, through its code."""

    package: str
    read: Reader
    file: str | None = None


@dataclass(frozen=True)
class NamedSet:
    """One data set.

    Attributes
    ----------
    name : str
        What it is called here.
    content : Content
        What it holds, nominal features as one column each.
    one_hot : Content, optional
        What it holds with a column for each nominal value, if it has nominal features.
    variants : mapping of str to Content
        Its fixed parts by name.
    files : tuple of tuple of str
        The files that it is published in; alternatives, the first preferred.
    folders : tuple of str
        The folders that they may lie in, besides none.
    read : callable, optional
        Reads such files.
    origin : str
        Who publishes it.
    labels, features : tuple of str, optional
        Names of the columns, where sources differ or have none.
    carried : Carried, optional
        An installed package's copy.
    openml : int, optional
        OpenML's number.
    """

    name: str
    content: Content
    origin: str
    files: tuple[tuple[str, ...], ...] = ()
    folders: tuple[str, ...] = ()
    read: Reader | None = None
    one_hot: Content | None = None
    variants: Mapping[str, Content] = field(default_factory=dict)
    labels: tuple[str, ...] | None = None
    features: tuple[str, ...] | None = None
    carried: Carried | None = None
    openml: int | None = None

    def holds(self, nominal: Nominal) -> Content:
        """Return what it holds with nominal features in one form or the other."""
        return self.one_hot if nominal == "one-hot" and self.one_hot is not None else self.content


_MULAN = "Mulan, mulan.sourceforge.net"
_UCI = "UCI, archive.ics.uci.edu"
_DIGITS = tuple("0123456789")

_ALL = [
    NamedSet(
        "emotions",
        Content(593, 72, 6, 1108, 2.48, 3.01, "b19bcfb862ba6ebd"),
        _MULAN,
        files=(("emotions.arff", "emotions.xml"),),
        folders=("emotions",),
        read=read_mulan_parts,
        labels=("amazed-suprised", "happy-pleased", "relaxing-calm", "quiet-still", "sad-lonely", "angry-aggresive"),
        openml=41465,
    ),
    NamedSet(
        "yeast",
        Content(2417, 103, 14, 10241, 2.70, 70.09, "e85cb3b71a5278f7"),
        _MULAN,
        files=(("yeast.arff", "yeast.xml"),),
        folders=("yeast",),
        read=read_mulan_parts,
        # The order of the XML file, which is not that of the columns.
        labels=tuple(f"Class{k}" for k in (1, 2, 3, 6, 4, 10, 11, 5, 7, 8, 9, 12, 13, 14)),
        carried=Carried("river", read_river_yeast, "datasets/yeast.csv.gz"),
        openml=41473,
    ),
    NamedSet(
        "flags",
        Content(194, 19, 7, 658, 1.13, 6.46, "4ed2ed752e1a24d8"),
        _MULAN,
        files=(("flags.arff", "flags.xml"),),
        folders=("flags",),
        read=read_mulan_parts,
        one_hot=Content(194, 43, 7, 658, 1.13, 6.46, "174488719682e368"),
    ),
    NamedSet(
        "cal500",
        Content(502, 68, 174, 13074, 11.71, 99.40, "deaa0eaaaab0f3f0"),
        _MULAN,
        files=(("cal500.arff", "cal500.xml"), ("CAL500.arff", "CAL500.xml")),
        folders=("cal500", "CAL500"),
        read=read_mulan_parts,
    ),
    NamedSet(
        "segmentation",
        Content(2310, 19, 7, 2310, 6.00, 6.00, "2edff93b9ab5ae2b"),
        _UCI,
        files=(("segmentation.data", "segmentation.test"),),
        folders=("segment", "segmentation"),
        read=read_segmentation,
        labels=("BRICKFACE", "CEMENT", "FOLIAGE", "GRASS", "PATH", "SKY", "WINDOW"),
        features=(
            "region-centroid-col",
            "region-centroid-row",
            "region-pixel-count",
            "short-line-density-5",
            "short-line-density-2",
            "vedge-mean",
            "vedge-sd",
            "hedge-mean",
            "hedge-sd",
            "intensity-mean",
            "rawred-mean",
            "rawblue-mean",
            "rawgreen-mean",
            "exred-mean",
            "exblue-mean",
            "exgreen-mean",
            "value-mean",
            "saturation-mean",
            "hue-mean",
        ),
        carried=Carried("river", read_river_segmentation, "datasets/segment.csv.zip"),
        openml=36,
    ),
    NamedSet(
        "optdigits",
        Content(5620, 64, 10, 5620, 9.04, 9.14, "ec91f782244a274e"),
        _UCI,
        files=(("optdigits.tra", "optdigits.tes"),),
        folders=("optdigits",),
        read=read_optdigits,
        labels=_DIGITS,
        openml=28,
    ),
    NamedSet(
        "mediamill",
        Content(43907, 120, 101, 192118, 139.73, 1415.35, "af57761f4fd90a09"),
        "LIBSVM, www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets",
        files=(("mediamill-train.svm.bz2", "mediamill-test.svm.bz2"),),
        folders=("mediamill",),
        read=read_mediamill,
        variants={"paper": Content(10000, 120, 12, 32121, 5.30, 9.78, "af6fa5c0b9b85ec2")},
    ),
    NamedSet(
        "tmc2007",
        Content(28596, 500, 22, 61708, 18.42, 63.84, "33e405e55126d41a"),
        _MULAN,
        files=(("tmc2007-500.arff", "tmc2007-500.xml"),),
        folders=("tmc2007-500", "tmc2007"),
        read=read_mulan_parts,
        variants={"paper": Content(10000, 500, 6, 15298, 4.19, 8.88, "a2d10206a4b6abdd")},
    ),
    NamedSet(
        "scene",
        Content(2407, 294, 6, 2585, 4.61, 5.61, "5304b309beb5e24c"),
        _MULAN,
        files=(("scene-train.arff", "scene-test.arff", "scene.xml"), ("scene.arff", "scene.xml")),
        folders=("scene",),
        read=read_mulan_parts,
        labels=("Beach", "Sunset", "FallFoliage", "Field", "Mountain", "Urban"),
        openml=41471,
    ),
    NamedSet(
        "landmine",
        Content(14820, 9, 29, 904, 15.63, 32.93, "585d790cceb36c4f", own_rows=True),
        "its authors, Xue, Liao, Carin and Krishnapuram",
        files=(("LandmineData.mat",),),
        folders=("landmine",),
        read=read_landmine,
    ),
    NamedSet(
        "digits",
        Content(1797, 64, 10, 1797, 8.96, 9.33, "994acbb92dfdfa62"),
        "scikit-learn, which carries it",
        labels=_DIGITS,
        carried=Carried("sklearn", read_digits),
    ),
]

SETS = {known.name: known for known in _ALL}
