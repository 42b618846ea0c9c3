"""`check_penalty` catches penalties that are wrong, each by the property that it breaks."""

import numpy as np
import pytest

import smtl.testing
from smtl.penalties import L11, L21, Elastic, Penalty, Ridge, Trace
from smtl.testing import check_penalty
from tests.seeds import new_rng


class ThresholdTooLarge(L11):
    def prox(self, M, step):
        return super().prox(M, 1.01 * step)


class ThresholdTooSmall(Trace):
    def prox(self, M, step):
        return super().prox(M, 0.99 * step)


class WrongAxis(L21):
    def prox(self, M, step):
        return super().prox(M.T, step).T


class IgnoresStep(L21):
    def prox(self, M, step):
        return super().prox(M, 1.0)


class HardThreshold(L11):
    def prox(self, M, step):
        return np.where(np.abs(M) > step, M, 0.0)


class ElasticWithoutRescaledStep(Elastic):
    def __init__(self):
        super().__init__(L21(), 2.0)

    def prox(self, M, step):
        return self.penalty.prox(M / (1.0 + step * self.ridge), step)


class ProxModifiesInput(L11):
    def prox(self, M, step):
        M -= np.clip(M, -step, step)
        return M.copy()


class ConjugateModifiesInput(Ridge):
    def conjugate(self, Z):
        Z *= 1.0 + 1e-9
        return super().conjugate(Z)


class ProxTransposes(L11):
    def prox(self, M, step):
        return super().prox(M, step).T


class ProxNaN(L21):
    def prox(self, M, step):
        norms = np.linalg.norm(M, axis=0, keepdims=True)
        with np.errstate(all="ignore"):
            return M * np.where(step < norms, 1.0 - step / norms, 0.0 / norms)


class NotZeroAtZero(L11):
    def value(self, W):
        return super().value(W) + 1.0


class Negative(L11):
    prox, conjugate = L11.prox, L11.conjugate

    def value(self, W):
        return float(W.sum())


class NotConvex(L11):
    prox, conjugate = L11.prox, L11.conjugate

    def value(self, W):
        return float(np.sqrt(np.abs(W)).sum())


class NotHomogeneous(L11):
    conjugate = L11.conjugate

    def value(self, W):
        return max(super().value(W) - 1e-3, 0.0)

    def prox(self, M, step):
        return M.copy()


class DualNormTooSmall(L21):
    def dual_norm(self, Z):
        return 0.99 * super().dual_norm(Z)


class DualNormTooLarge(L21):
    def dual_norm(self, Z):
        return 1.01 * super().dual_norm(Z)


class DualNormIsPrimal(L21):
    def dual_norm(self, Z):
        return self.value(Z)


class DualNormOfColumns(L21):
    def dual_norm(self, Z):
        return super().dual_norm(Z.T)


class ConjugateTwice(Ridge):
    def conjugate(self, Z):
        return 2.0 * super().conjugate(Z)


class ConjugateHalf(Elastic):
    def __init__(self):
        super().__init__(Trace(), 0.5)

    def conjugate(self, Z):
        return 0.5 * super().conjugate(Z)


class ConjugateOnTooLargeABall(L11):
    def conjugate(self, Z):
        return 0.0 if self.dual_norm(Z) <= 1.05 else np.inf


class ConjugateInfinite(L11):
    def conjugate(self, Z):
        return np.inf if Z.any() else 0.0


class ConjugateNotZeroAtZero(L11):
    def conjugate(self, Z):
        return super().conjugate(Z) + 1.0


class BoundOverstates(L11):
    def lower_bound(self, Z, d):
        bound, s = super().lower_bound(Z, d)
        return 1.001 * bound, s


class BoundInfeasible(L11):
    def lower_bound(self, Z, d):
        bound, s = super().lower_bound(Z, d)
        return (1.001 * bound, 1.001 * s) if s < 0.99 else (bound, s)


class BoundUnscaled(Trace):
    def lower_bound(self, Z, d):
        return d, 1.0


class BoundNegative(Ridge):
    def lower_bound(self, Z, d):
        return d - self.conjugate(Z), 1.0


class BoundLoose(Ridge):
    def lower_bound(self, Z, d):
        bound, s = super().lower_bound(Z, d)
        return 0.999 * bound, s


class BoundZero(L21):
    def lower_bound(self, Z, d):
        return 0.0, 0.0


class ScaleOutOfRange(Ridge):
    def lower_bound(self, Z, d):
        square = 2.0 * self.conjugate(Z)
        s = max(d / square, 0.0) if square else 1.0
        return s * d - 0.5 * s * s * square, s


class BoundNaN(L11):
    def lower_bound(self, Z, d):
        return np.nan, 0.5


class KernelOfAnother(L11):
    kernel = L21.kernel


class KernelOfAnotherDualNorm(L21):
    kernel = L21.kernel._replace(dual_norm=L11.kernel.dual_norm)


class KernelWithoutRidge(Ridge):
    kernel = Ridge.kernel._replace(ridge=0.0)


class KernelOfWords(L21):
    kernel = ("rows", 0.0)


THREE_POINT = r"prox must satisfy the three-point inequality"
BROKEN = [
    (ThresholdTooLarge, THREE_POINT),
    (ThresholdTooSmall, THREE_POINT),
    (WrongAxis, THREE_POINT),
    (IgnoresStep, THREE_POINT),
    (HardThreshold, THREE_POINT),
    (ElasticWithoutRescaledStep, THREE_POINT),
    (ProxModifiesInput, r"prox must not modify its argument"),
    (ConjugateModifiesInput, r"conjugate must not modify its argument"),
    (ProxTransposes, r"prox must keep the shape \(4, 6\), got \(6, 4\) instead"),
    (ProxNaN, r"prox must be finite"),
    (NotZeroAtZero, r"value must be 0 at W = 0, got 1\.0 instead"),
    (Negative, r"value must be non-negative"),
    (NotConvex, r"value must be convex"),
    (NotHomogeneous, r"value must scale with its argument|three-point"),
    (DualNormTooSmall, r"dual_norm is too small"),
    (DualNormTooLarge, r"dual_norm is too large"),
    (DualNormIsPrimal, r"dual_norm is too large"),
    (DualNormOfColumns, r"dual_norm is too (small|large)|dual_norm must satisfy"),
    (ConjugateTwice, r"conjugate must satisfy Omega\(p\) \+ Omega\*\(Z\) = <Z, p>"),
    (ConjugateHalf, r"conjugate must satisfy Omega\(p\) \+ Omega\*\(Z\) = <Z, p>"),
    (ConjugateOnTooLargeABall, r"conjugate must satisfy <Z, W> <= Omega\(W\) \+ Omega\*\(Z\)"),
    (ConjugateInfinite, r"conjugate must satisfy Omega\(p\) \+ Omega\*\(Z\) = <Z, p>"),
    (ConjugateNotZeroAtZero, r"conjugate must be 0 at Z = 0, got 1\.0 instead"),
    (BoundOverstates, r"lower_bound must not exceed"),
    (BoundInfeasible, r"lower_bound must not exceed"),
    (BoundUnscaled, r"lower_bound must (not exceed|be the largest)"),
    (BoundNegative, r"lower_bound must be the largest"),
    (BoundLoose, r"lower_bound must be the largest"),
    (BoundZero, r"lower_bound must be the largest"),
    (ScaleOutOfRange, r"lower_bound must return s in \[0, 1\]"),
    (BoundNaN, r"lower_bound must not exceed"),
    (KernelOfAnother, r"kernel must have the same prox"),
    (KernelOfAnotherDualNorm, r"kernel must have the same dual norm"),
    (KernelWithoutRidge, r"kernel must be None or a smtl.penalties.Kernel with a dual norm or a positive ridge"),
    (KernelOfWords, r"kernel must be None or a smtl.penalties.Kernel .* got \('rows', 0\.0\) instead"),
]


@pytest.mark.parametrize(("cls", "message"), BROKEN, ids=[cls.__name__ for cls, _ in BROKEN])
def test_a_wrong_penalty_is_caught_whatever_the_seed(cls, message):
    seed = int(new_rng().integers(2**32))
    for random_state in (0, seed):
        with pytest.raises(AssertionError, match=rf"{cls.__name__}\(.*\): {message}"):
            check_penalty(cls(), random_state=random_state)


class Box(Penalty):
    """Zero within the box, infinite outside: the value itself may be infinite."""

    def value(self, W):
        return 0.0 if np.abs(W).max() <= 1.0 else np.inf

    def prox(self, M, step):
        return np.clip(M, -1.0, 1.0)

    def conjugate(self, Z):
        return float(np.abs(Z).sum())


class NonNegative(Penalty):
    """Half the square where it is positive, infinite where it is negative."""

    def value(self, W):
        return 0.5 * float(np.sum(W * W)) if np.all(W >= 0.0) else np.inf

    def prox(self, M, step):
        return np.maximum(M, 0.0) / (1.0 + step)

    def conjugate(self, Z):
        return 0.5 * float(np.sum(np.maximum(Z, 0.0) ** 2))


@pytest.mark.parametrize("penalty", [Box(), NonNegative(), Elastic(Box(), 0.3)], ids=repr)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_right_penalty_of_another_kind_passes(penalty, seed):
    check_penalty(penalty, random_state=seed)


def test_a_generator_draws_the_matrices():
    check_penalty(L11(), n_trials=2, random_state=np.random.default_rng(3))


def test_public_names():
    assert all(isinstance(name, str) and hasattr(smtl.testing, name) for name in smtl.testing.__all__)
