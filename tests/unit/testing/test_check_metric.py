"""`check_metric` catches metrics that are wrong, each by the property that it breaks."""

import math

import numpy as np
import pytest

from smtl import metrics
from smtl.metrics import AUC, F1, ContingencyMetric, FBeta, GMean, Jaccard, Log, Metric, PointwiseMetric
from smtl.testing import check_metric
from tests.seeds import new_rng

Hinge = metrics.Error  # a base called Error looks like an exception

# ---- formulas of the contingency table


class FalseClaim(GMean):
    concave_in_fp = True


class FalseClaimOnLargeTablesOnly(ContingencyMetric):
    """Linear up to eight false positives, convex from there: no task that can be enumerated shows it."""

    concave_in_fp = True

    def delta(self, tp, fp, fn, tn):
        return 0.01 * (fn + fp + max(0.0, fp - 8.0))


class NotZeroAtTruth(ContingencyMetric):
    def delta(self, tp, fp, fn, tn):
        return (fp + fn + 0.001) / (tp + fp + fn)


class NegativeDelta(ContingencyMetric):
    """Non-negative at the four corners, where `check_task` looks."""

    def delta(self, tp, fp, fn, tn):
        return fn / (tp + fn) + fp / (fp + tn) - 3.0 * tp * fn / (tp + fn) ** 2


class NaNWithoutTruePositives(ContingencyMetric):
    def delta(self, tp, fp, fn, tn):
        return 1.0 - 2.0 / ((tp + fp) / tp + (tp + fn) / tp)


class NaNInside(ContingencyMetric):
    def delta(self, tp, fp, fn, tn):
        return (fp + fn) / (tp + fp + fn) + 0.0 * (tp - 1.0 + fp - 1.0) / (abs(tp - 1.0) + abs(fp - 1.0))


class RefusesEverything(Jaccard):
    def check_task(self, n_pos, n_neg):
        raise ValueError("not today")


# ---- losses of a margin


class WrongSlope(PointwiseMetric):
    @staticmethod
    def loss(margin):
        short = max(0.0, 1.0 - margin)
        return short * short, -2.02 * short

    score = Hinge.score


class HalfSlope(Hinge):
    @staticmethod
    def loss(margin):
        return (2.0 - 2.0 * margin, -1.0) if margin < 1.0 else (0.0, 0.0)


class NotConvexLoss(Hinge):
    """The ramp loss."""

    @staticmethod
    def loss(margin):
        if margin < -1.0:
            return 2.0, 0.0
        return (1.0 - margin, -1.0) if margin < 1.0 else (0.0, 0.0)


class IncreasingLoss(Hinge):
    @staticmethod
    def loss(margin):
        return (1.0 - margin) ** 2, -2.0 * (1.0 - margin)


class NegativeLoss(Hinge):
    @staticmethod
    def loss(margin):
        return -margin, -1.0


class OverflowingLoss(Log):
    @staticmethod
    def loss(margin):
        return math.log(1.0 + math.exp(-margin)), -1.0 / (1.0 + math.exp(margin))


# ---- oracles


def one_way_sweep(metric, scores, y):
    """The sweep that never goes back: right for beta >= 1 only."""
    pos, neg = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    pos, neg = pos[np.argsort(-scores[pos])], neg[np.argsort(-scores[neg])]
    P, N, b, best = len(pos), len(neg), 0, (-np.inf, 0.0, np.zeros(len(y)))

    def value(a, b):
        return metric.delta(a, b, P - a, N - b) - 2 * scores[pos[a:]].sum() + 2 * scores[neg[:b]].sum()

    for a in range(P + 1):
        while b < N and value(a, b + 1) > value(a, b):
            b += 1
        if value(a, b) > best[0]:
            c = np.zeros(len(y))
            c[pos[a:]], c[neg[:b]] = 2.0, -2.0
            best = value(a, b), float(metric.delta(a, b, P - a, N - b)), c
    return best[1:]


class OneWaySweep(FBeta):
    """Wrong in one random case of a hundred."""

    def __init__(self):
        super().__init__(beta=0.1)

    def oracle(self, scores, y):
        return one_way_sweep(self, scores, y)


class GreedyOracle(Jaccard):
    """Flips what raises the value on its own, one row at a time: the rows' effects are not independent."""

    def oracle(self, scores, y):
        answer = y.astype(float)

        def delta(answer):
            tp, fp = np.sum((y > 0) & (answer > 0)), np.sum((y < 0) & (answer > 0))
            return float(self.delta(tp, fp, np.sum(y > 0) - tp, np.sum(y < 0) - fp))

        for k in range(len(y)):
            flipped = answer.copy()
            flipped[k] *= -1.0
            if delta(flipped) - scores @ (y - flipped) > delta(answer) - scores @ (y - answer):
                answer = flipped
        return delta(answer), y - answer


class WrongSign(Jaccard):
    def oracle(self, scores, y):
        delta, c = super().oracle(scores, y)
        return delta, -c


class PairwiseWrongSign(AUC):
    def oracle(self, scores, y):
        delta, c = super().oracle(scores, y)
        return delta, -c


class FractionalLabelling(Jaccard):
    def oracle(self, scores, y):
        delta, c = super().oracle(scores, y)
        return 0.5 * delta, 0.5 * c


class DeltaOff(Jaccard):
    def oracle(self, scores, y):
        delta, c = super().oracle(scores, y)
        return delta + 1e-6, c


class PairwiseDeltaOff(AUC):
    def oracle(self, scores, y):
        delta, c = super().oracle(scores, y)
        return delta - 1e-6, c


class LossOff(Log):
    def oracle(self, scores, y):
        delta, c = super().oracle(scores, y)
        return 1.001 * delta, c


class SortsItsScores(AUC):
    def oracle(self, scores, y):
        result = super().oracle(scores, y)
        scores.sort()
        return result


class MarksItsLabels(AUC):
    def oracle(self, scores, y):
        result = super().oracle(scores, y)
        y[0] = 0
        return result


class SinglePrecision(AUC):
    def oracle(self, scores, y):
        delta, c = super().oracle(scores, y)
        return delta, c.astype(np.float32)


class WrongShape(AUC):
    def oracle(self, scores, y):
        delta, c = super().oracle(scores, y)
        return delta, c[:, None]


class NotAnArray(AUC):
    def oracle(self, scores, y):
        delta, c = super().oracle(scores, y)
        return delta, c.tolist()


class NaNOracle(AUC):
    def oracle(self, scores, y):
        delta, c = super().oracle(scores, y)
        return (delta if scores.any() else np.nan), c


class FirstRowCountsTwice(Metric):
    def score(self, y, s):
        return float(np.mean(y * s > 0))

    def oracle(self, scores, y):
        c = np.where(y * scores < 1, y, 0.0)
        c[0] *= 2.0
        return float(np.abs(c).sum()), c


class NotConvex(Metric):
    """Counts errors: no convex function of the scores."""

    def score(self, y, s):
        return float(np.mean(y * s > 0))

    def oracle(self, scores, y):
        return float(np.sum(y * scores < 0)), np.zeros(len(y))


class NegativeLossOracle(Metric):
    def score(self, y, s):
        return float(np.mean(y * s))

    def oracle(self, scores, y):
        return 0.0, y / len(y)


class FalseNoIntercept(F1):
    uses_intercept = False

    def __repr__(self):
        return "FalseNoIntercept()"


# ---- planes


class Planes(Jaccard):
    def planes(self, scores, y, ptr, *, shift, with_intercept, eps):
        arguments = {"shift": shift, "with_intercept": with_intercept, "eps": eps}
        # The oracle goes through `planes` as well, for one task with all its labels: that is not to be broken.
        if len(ptr) == 2:
            return super().planes(scores, y, ptr, **arguments)
        return self.broken(super().planes, scores, y, ptr, **arguments)


class UnlabelledRowsCount(Planes):
    def broken(self, planes, scores, y, ptr, **arguments):
        delta, c, value = planes(scores, y, ptr, **arguments)
        c[y == 0] = 1.0
        return delta, c, value


class UnlabelledRowsAreNegatives(Planes):
    def broken(self, planes, scores, y, ptr, **arguments):
        delta, c, value = planes(scores, np.where(y == 0, -1, y).astype(np.int8), ptr, **arguments)
        c[y == 0] = 0.0
        return delta, c, value


class TasksMixedUp(Planes):
    def broken(self, planes, scores, y, ptr, **arguments):
        delta, c, value = planes(scores, y, ptr, **arguments)
        return delta, c, value[::-1]


class PlaneNotOfTheValue(Planes):
    def broken(self, planes, scores, y, ptr, **arguments):
        delta, c, value = planes(scores, y, ptr, **arguments)
        return (delta if arguments["with_intercept"] else delta - 1e-6), c, value


class PlanesModifyScores(Planes):
    def broken(self, planes, scores, y, ptr, **arguments):
        result = planes(scores, y, ptr, **arguments)
        scores += 1.0
        return result


class PlanesNaN(Planes):
    def broken(self, planes, scores, y, ptr, **arguments):
        delta, c, value = planes(scores, y, ptr, **arguments)
        return delta, c, value + np.nan


class PlanesWrongShape(Planes):
    def broken(self, planes, scores, y, ptr, **arguments):
        delta, c, value = planes(scores, y, ptr, **arguments)
        return delta, c, value.sum(keepdims=True)


class InterceptIgnored(Planes):
    def broken(self, planes, scores, y, ptr, *, with_intercept, **arguments):
        return planes(scores, y, ptr, with_intercept=False, **arguments)


class InterceptTooGood(Planes):
    def broken(self, planes, scores, y, ptr, *, with_intercept, **arguments):
        delta, c, value = planes(scores, y, ptr, with_intercept=with_intercept, **arguments)
        return delta, c, value - (0.01 + 1e-5 if with_intercept else 0.0)


class InterceptNotReported(Planes):
    def broken(self, planes, scores, y, ptr, *, shift, **arguments):
        return planes(scores, y, ptr, shift=shift.copy(), **arguments)


class InterceptOneSided(Planes):
    """The plane at the best intercept, not mixed: it holds for that intercept only."""

    def broken(self, planes, scores, y, ptr, *, shift, with_intercept, eps):
        delta, c, value = planes(scores, y, ptr, shift=shift, with_intercept=with_intercept, eps=eps)
        if with_intercept:
            shifted = scores + np.repeat(shift, np.diff(ptr))
            delta, c, _ = planes(shifted, y, ptr, shift=np.zeros_like(shift), with_intercept=False, eps=eps)
        return delta, c, value


class InterceptPlaneTooLow(Planes):
    def broken(self, planes, scores, y, ptr, **arguments):
        delta, c, value = planes(scores, y, ptr, **arguments)
        return (0.0 * delta, 0.0 * c, value) if arguments["with_intercept"] else (delta, c, value)


class InterceptPlaneTooHigh(Planes):
    def broken(self, planes, scores, y, ptr, **arguments):
        delta, c, value = planes(scores, y, ptr, **arguments)
        return (delta + 0.01 + 1e-5 if arguments["with_intercept"] else delta), c, value


class PlanesOfAnotherMetric(Jaccard):
    def planes(self, scores, y, ptr, **arguments):
        return (super() if len(ptr) == 2 else F1()).planes(scores, y, ptr, **arguments)


# ---- scores and copies


class ScoreReversed(Hinge):
    def score(self, y, s):
        return 1.0 - super().score(y, s)


class ScoreNaN(AUC):
    def score(self, y, s):
        return float("nan")


class WeightsForgotten(AUC):
    def planes(self, scores, y, ptr, *, weights=None, **options):
        return AUC.planes(self, scores, y, ptr, **options)


class WeightsSquared(F1):
    def planes(self, scores, y, ptr, *, weights=None, **options):
        return F1.planes(self, scores, y, ptr, weights=None if weights is None else weights**2, **options)


class WeightsRounded(F1):
    def planes(self, scores, y, ptr, *, weights=None, **options):
        return F1.planes(self, scores, y, ptr, weights=None if weights is None else np.ceil(weights), **options)


class WeightlessScore(Jaccard):
    def score(self, y, s, weights=None):
        return Jaccard().score(y, s)


class ScoreNotAFloat(AUC):
    def score(self, y, s):
        return np.array([super().score(y, s)])


class ScoreSorts(AUC):
    def score(self, y, s):
        result = super().score(y, s)
        s.sort()
        return result


class CopyForgets(Jaccard):
    """What the oracle needs is not kept where a copy finds it."""

    def __init__(self):
        self.__dict__["ready"] = 1.0

    def __reduce__(self):
        return (CopyForgets.unready, ())

    @staticmethod
    def unready():
        metric = CopyForgets()
        metric.__dict__["ready"] = 0.0
        return metric

    def oracle(self, scores, y):
        delta, c = super().oracle(scores, y)
        return self.ready * delta, self.ready * c


ATTAIN = r"the plane of oracle must attain the largest Delta - s'c over all labellings"
BELOW = r"the plane of oracle must bound the loss from below"
BROKEN = [
    (FalseClaim, r"delta must be concave in fp, or concave_in_fp be False"),
    (FalseClaimOnLargeTablesOnly, r"delta must be concave in fp.* for fp = 7, 8, 9 at tp = 0 of 1 positives and 12"),
    (NotZeroAtTruth, r"delta must be 0 at the true answer, got delta\(tp=1, fp=0, fn=0, tn=1\) = 0\.001 instead"),
    (NegativeDelta, r"delta must be non-negative, got delta\(tp=1, fp=0, fn=1, tn=1\) = -0\.25 instead"),
    (NaNWithoutTruePositives, r"delta must be finite, got delta\(tp=0, fp=0, fn=1, tn=1\) = nan instead"),
    (NaNInside, r"delta must be finite, got delta\(tp=1, fp=1, fn=0, tn=1\) = nan instead"),
    (RefusesEverything, r"check_task must accept some task of at most 8 rows, got ValueError\('not today'\) instead"),
    (WrongSlope, r"slope of loss must satisfy loss\(t\) \+ slope\(t\) \(u - t\) <= loss\(u\)"),
    (HalfSlope, r"slope of loss must satisfy"),
    (NotConvexLoss, r"loss must be convex"),
    (IncreasingLoss, r"loss must not increase"),
    (NegativeLoss, r"loss must be non-negative"),
    (OverflowingLoss, r"loss must be finite, got \(nan, nan\) at a margin of -?\d+\.0 instead"),
    (OneWaySweep, ATTAIN),
    (GreedyOracle, ATTAIN),
    (WrongSign, r"oracle must return c = y - y' of a labelling y'"),
    (PairwiseWrongSign, BELOW + "|the loss must be at least 0"),
    (FractionalLabelling, r"oracle must return c = y - y' of a labelling y'"),
    (DeltaOff, r"Delta of oracle must be delta of its labelling"),
    (PairwiseDeltaOff, BELOW + "|the loss must be at least 0"),
    (LossOff, r"the plane of oracle must attain the sum of the losses"),
    (SortsItsScores, r"oracle must not modify its scores"),
    (MarksItsLabels, r"oracle must not modify its y"),
    (SinglePrecision, r"oracle must return c as float64 of shape \(\d,\), got float32 of shape \(\d,\) instead"),
    (WrongShape, r"oracle must return c as float64 of shape \(\d,\), got float64 of shape \(\d, 1\) instead"),
    (NotAnArray, r"oracle must return c as float64 of shape \(\d,\), got \[.*\] instead"),
    (NaNOracle, r"oracle must be finite"),
    (FirstRowCountsTwice, r"the loss must not depend on the order of the rows"),
    (NotConvex, BELOW),
    (NegativeLossOracle, r"the loss must be at least 0"),
    (FalseNoIntercept, r"c must sum to zero, or uses_intercept be True"),
    (UnlabelledRowsCount, r"planes must return c = 0 on rows with y = 0, got 1\.0 at row \d+"),
    (UnlabelledRowsAreNegatives, r"value of planes must be that of oracle"),
    (TasksMixedUp, r"value of planes must be that of oracle"),
    (PlaneNotOfTheValue, r"delta - s'c of planes must be the value"),
    (PlanesModifyScores, r"planes must not modify its scores"),
    (PlanesNaN, r"planes must be finite, got value = array\(\[nan"),
    (PlanesWrongShape, r"planes must return value of shape \(3,\), got \(1,\) instead"),
    (PlanesOfAnotherMetric, r"value of planes must be that of oracle"),
    (
        InterceptIgnored,
        r"with an intercept, (value of planes must be at most eps above the least|c of planes must sum to zero)"
        r"|G\(s \+ shift\)",
    ),
    (InterceptTooGood, r"with an intercept, value of planes must be at least the least G\(s \+ b\) over b"),
    (InterceptNotReported, r"G\(s \+ shift\) must be the value of planes"),
    (InterceptOneSided, r"with an intercept, c of planes must sum to zero over each task"),
    (InterceptPlaneTooLow, r"with an intercept, delta - s'c must be at most eps below the value"),
    (InterceptPlaneTooHigh, r"with an intercept, delta - s'c must not exceed the value"),
    (ScoreReversed, r"score must be greatest for perfect scores"),
    (ScoreNaN, r"score must be a finite float, got nan"),
    (ScoreNotAFloat, r"score must be a finite float, got array\("),
    (ScoreSorts, r"score must not modify its s"),
    (WeightsForgotten, r"planes of weighted rows must have the value of repeated rows"),
    (WeightsSquared, r"planes of weighted rows must have the value of repeated rows"),
    (WeightsRounded, r"a row must count as two equal rows whose weights add up to its own"),
    (WeightlessScore, r"score of weighted rows must be that of repeated rows"),
    (CopyForgets, r"oracle must survive (copy\.deepcopy|pickle)"),
]


@pytest.mark.parametrize(("cls", "message"), BROKEN, ids=[cls.__name__ for cls, _ in BROKEN])
def test_a_wrong_metric_is_caught_whatever_the_seed(cls, message):
    # A fresh seed at each run.
    with pytest.raises(AssertionError, match=rf"{cls.__name__}\(.*\): ({message})"):
        check_metric(cls(), random_state=new_rng())


def test_the_one_way_sweep_is_right_where_it_ought_to_be():
    """So that `OneWaySweep` above is caught for the way it goes, not for a slip in the test."""

    class Sweep(FBeta):
        def oracle(self, scores, y):
            return one_way_sweep(self, scores, y)

    check_metric(Sweep(beta=2.0))


# ---- right metrics of other kinds


class WorstRow(Metric):
    """Nothing but an oracle."""

    def score(self, y, s):
        return float(np.min(y * s))

    def oracle(self, scores, y):
        k = np.argmin(y * scores)
        c = np.zeros(len(y))
        if y[k] * scores[k] >= 1:
            return 0.0, c
        c[k] = y[k]
        return 1.0, c


class SlowPairs(Metric):
    """The pairwise AUC loss once more, without compiled code."""

    uses_intercept = False

    score = AUC.score

    def oracle(self, scores, y):
        pos, neg = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
        inverted = (scores[pos][:, None] - scores[neg] < 1.0) / (len(pos) * len(neg))
        c = np.zeros(len(y))
        c[pos], c[neg] = inverted.sum(axis=1), -inverted.sum(axis=0)
        return float(inverted.sum()), c


class Costs(ContingencyMetric):
    """Parameters in attributes, one of them an integer."""

    concave_in_fp = True

    def __init__(self, miss=3, alarm=0.5):
        self.miss = miss
        self.alarm = alarm

    def delta(self, tp, fp, fn, tn):
        return self.miss * fn + self.alarm * fp


class AtLeastTwoPositives(Costs):
    def check_task(self, n_pos, n_neg):
        if n_pos < 2:
            raise ValueError("two positives are needed")
        super().check_task(n_pos, n_neg)

    def oracle(self, scores, y):
        assert np.sum(y > 0) >= 2
        return super().oracle(scores, y)


class SquaredHinge(PointwiseMetric):
    @staticmethod
    def loss(margin):
        short = max(0.0, 1.0 - margin)
        return short * short, -2.0 * short

    score = Hinge.score


RIGHT = [WorstRow(), SlowPairs(), Costs(), Costs(miss=0.25, alarm=7), AtLeastTwoPositives(), SquaredHinge()]


@pytest.mark.parametrize("metric", RIGHT, ids=repr)
def test_a_right_metric_of_another_kind_passes(metric):
    check_metric(metric, random_state=new_rng())


def test_a_class_that_cannot_be_pickled_passes():
    class Local(Jaccard):
        pass

    check_metric(Local(), n_trials=3)


def test_a_generator_draws_the_tasks():
    check_metric(AUC(), n_trials=2, random_state=np.random.default_rng(3))
