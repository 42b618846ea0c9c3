"""HOMER: a tree of clusters of labels, with a multi-label learner at each node."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils.parallel import Parallel, delayed

from smtl.baselines._multilabel import Labels, MultiLabelClassifier, Real, check_choice, check_positive
from smtl.baselines.binary_relevance import as_multilabel

__all__ = ["HOMER", "balanced_kmeans"]

# As in Mulan.
MAX_ITER = 20


class HOMER(MultiLabelClassifier):
    """A hierarchy of multi-label learners: which groups of labels, then which groups of these, then which labels.

    The labels of a node are split into balanced clusters of labels that go together, until each is by itself. A node
    learns which of its clusters have a label of the row at all, from the rows that have one of its own labels.

    Parameters
    ----------
    estimator : classifier, default=None
        The learner at the nodes: a multi-label method of `smtl.baselines`, or a classifier, with which
        `BinaryRelevance` is the learner; ``LogisticRegression(max_iter=1000)`` by default. The paper has binary
        relevance with naive Bayes, Mulan with C4.5 trees.
    n_clusters : int, default=3
        Children of a node. The paper tries 2 to 8; 3 is Mulan's default. With 1, or as many as there are labels,
        the tree has one level, and the method is that of its node.
    clustering : {"balanced", "random"}, default="balanced"
        How the labels of a node are split: by balanced k-means on the columns of Y, or evenly at random, the
        paper's control.
    n_jobs : int, default=None
        Nodes to fit at the same time; -1 for all cores.
    random_state : int, RandomState instance or None, default=None
        For the clusters, and for bases whose own ``random_state`` is None.

    Attributes
    ----------
    label_tree_ : tuple
        The tree: a label, or a tuple of subtrees.
    estimators_ : list
        The fitted learners of the inner nodes, parents before children.
    classes_ : ndarray
        The classes; for multi-label targets 0 to n_labels - 1.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has them.

    Notes
    -----
    There are fewer than m inner nodes, each with ``n_clusters`` labels to learn. A row takes part in the nodes on the
    way to its labels, so that training costs O(c log m) fits of the base on all rows if rows have c labels. Balanced
    k-means takes O(n m k) an iteration, at most 20 of them.

    ``predict`` goes down the tree: a label is a yes if the learners say yes all the way to it. ``predict_proba`` is the
    product of the probabilities on the way, each given that the node before is a yes; it is there where the learners
    have it. Mulan gives the probability at which the descent ended instead.

    References
    ----------
    G. Tsoumakas, I. Katakis, I. Vlahavas, Effective and efficient multilabel classification in domains with large
    number of labels, ECML PKDD workshop on mining multidimensional data, 2008.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from smtl.baselines import HOMER
    >>> X, Y = make_multilabel_classification(n_samples=300, n_classes=7, random_state=0)
    >>> model = HOMER(random_state=0).fit(X, Y)
    >>> model.label_tree_
    ((3, 4, 6), (0, 2, 5), 1)
    >>> model.predict_proba(X).shape
    (300, 7)
    """

    name = "homer"

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_clusters: int = 3,
        clustering: str = "balanced",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_clusters = n_clusters
        self.clustering = clustering
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _lacks(self, method: str) -> str:
        if method == "decision_function":
            return "predict_proba has products of probabilities"
        return self._base_lacks(method)

    def _fit_labels(self, X: Any, Y: Labels, weights: Real | None) -> None:
        check_choice("clustering", self.clustering, ("balanced", "random"))
        check_positive("n_clusters", self.n_clusters)
        rng = self._rng()
        self._nodes: list[_Node] = self._grow(Y if weights is None else np.sqrt(weights)[:, None] * Y, rng)
        self.label_tree_ = _as_tuples(self._nodes, 0)
        learners = [as_multilabel(self._base(), rng) for _ in self._nodes]
        self.estimators_: list[Any] = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_node)(learner, (X, Y, weights), self._nodes, i) for i, learner in enumerate(learners)
        )

    def _grow(self, Y: Any, rng: np.random.RandomState) -> list[_Node]:
        """Return the inner nodes of the tree, parents before children."""
        nodes = [_Node(np.arange(Y.shape[1]))]
        for node in nodes:  # grows meanwhile
            for labels in self._split(Y, node.labels, rng):
                node.parts.append(labels)
                node.children.append(len(nodes) if len(labels) > 1 else None)
                if len(labels) > 1:
                    nodes.append(_Node(labels))
        return nodes

    def _split(self, Y: Any, labels: Labels, rng: np.random.RandomState) -> list[Labels]:
        if len(labels) <= self.n_clusters or self.n_clusters == 1:
            return [labels[i : i + 1] for i in range(len(labels))]
        if self.clustering == "random":
            cluster = rng.permutation(len(labels)) % self.n_clusters
        else:
            cluster = balanced_kmeans(Y[:, labels].T, int(self.n_clusters), rng)
        return [labels[cluster == c] for c in range(self.n_clusters) if (cluster == c).any()]

    def _answers(self, X: Any) -> Labels:
        answers = np.zeros((X.shape[0], len(self._nodes[0].labels)), dtype=np.int64)
        reached = {0: np.arange(X.shape[0])}
        for i, (node, learner) in enumerate(zip(self._nodes, self.estimators_, strict=True)):
            rows = reached.pop(i)
            if learner is None or not len(rows):
                said = np.zeros((len(rows), len(node.parts)), dtype=np.int64)
            else:
                said = learner._answers(X[rows])
            for part, child, column in zip(node.parts, node.children, said.T, strict=True):
                if child is None:
                    answers[rows, part[0]] = column
                else:
                    reached[child] = rows[column > 0]
        return answers

    def _probabilities(self, X: Any) -> Real:
        probabilities = np.zeros((X.shape[0], len(self._nodes[0].labels)))
        reached = {0: np.ones(X.shape[0])}
        for i, (node, learner) in enumerate(zip(self._nodes, self.estimators_, strict=True)):
            before = reached.pop(i)
            parts = np.zeros((X.shape[0], len(node.parts))) if learner is None else learner._probabilities(X)
            for part, child, column in zip(node.parts, node.children, parts.T, strict=True):
                if child is None:
                    probabilities[:, part[0]] = before * column
                else:
                    reached[child] = before * column
        return probabilities


class _Node:
    """An inner node: its labels, their clusters, and the number of the node of each cluster of several labels."""

    def __init__(self, labels: Labels) -> None:
        self.labels = labels
        self.parts: list[Labels] = []
        self.children: list[int | None] = []


def _as_tuples(nodes: list[_Node], i: int) -> tuple[Any, ...]:
    parts = zip(nodes[i].parts, nodes[i].children, strict=True)
    return tuple(int(part[0]) if child is None else _as_tuples(nodes, child) for part, child in parts)


def _fit_node(learner: Any, data: tuple[Any, Labels, Real | None], nodes: list[_Node], i: int) -> Any:
    """Fit the learner of a node to the rows that have one of its labels; None if there are none. The root has all."""
    X, Y, weights = data
    meta = np.column_stack([Y[:, part].any(axis=1) for part in nodes[i].parts]).astype(np.int64)
    if i == 0:
        return learner._fit_part(X, meta, weights)
    rows = np.flatnonzero(meta.any(axis=1))
    return learner._fit_part(X[rows], meta[rows], None if weights is None else weights[rows]) if len(rows) else None


def balanced_kmeans(points: Any, k: int, rng: np.random.RandomState) -> Labels:
    """Return a cluster for each point, such that no cluster has more than its share, rounded up.

    Each point asks the nearest cluster to take it; one that is over full sends its farthest point away, to the next
    nearest. That is how hospitals and residents are matched: the result does not depend on who asks first. Then the
    centres move to the means, at most 20 times.

    Parameters
    ----------
    points : array-like of shape (n_points, n_dimensions)
        Points; for HOMER, the columns of Y.
    k : int
        Number of clusters, at most that of the points.
    rng : RandomState
        For the points at which the centres start.

    Returns
    -------
    ndarray of int64 of shape (n_points,)
        Cluster numbers.

    Examples
    --------
    >>> points = [[0.0], [0.1], [0.2], [9.0], [9.1], [0.3]]
    >>> cluster = balanced_kmeans(points, 2, np.random.RandomState(0))
    >>> np.bincount(cluster).tolist(), bool(cluster[3] == cluster[4])
    ([3, 3], True)
    """
    points = np.asarray(points, dtype=np.float64)
    capacity = -(-len(points) // k)
    centres = points[rng.choice(len(points), k, replace=False)]
    cluster = np.full(len(points), -1)
    for _ in range(MAX_ITER):
        before, cluster = cluster, _assign(euclidean_distances(points, centres, squared=True), capacity)
        if np.array_equal(before, cluster):
            break
        for c in np.unique(cluster):
            centres[c] = points[cluster == c].mean(axis=0)
    return cluster


def _assign(distances: Real, capacity: int) -> Labels:
    """Return the stable matching of points to clusters that take ``capacity`` points each."""
    wishes = np.argsort(distances, axis=1, kind="stable")
    asked = np.zeros(len(distances), dtype=np.int64)
    members: list[list[int]] = [[] for _ in range(distances.shape[1])]
    homeless = list(range(len(distances)))
    while homeless:
        point = homeless.pop()
        c = int(wishes[point, asked[point]])
        asked[point] += 1
        members[c].append(point)
        if len(members[c]) > capacity:
            farthest = max(members[c], key=lambda p: (distances[p, c], p))
            members[c].remove(farthest)
            homeless.append(farthest)
    cluster = np.empty(len(distances), dtype=np.int64)
    for c, own in enumerate(members):
        cluster[own] = c
    return cluster
