r"""The fast solver: planes that are kept across iterations, and ADMM on them.

A plane :math:`\Delta_j - w'g_j` of a task's loss does not depend on where it was found: it bounds the loss from below
ever after. One pass over the data gives the objective at some weights and a new plane for each task; all else is done
on the planes (`smtl.solvers.master`).

Plain ADMM does one iteration on the planes and passes at its S. It gets near the optimum soon, and then swings around
it; every third pass is therefore at the mean of where S has been, which is several times nearer.

Where passes are dear, more is done on the planes to save some of them. After the first passes the method is a *level
bundle method*, with two master problems on the same planes:

- the one without a centre gives the bound, by some iterations a pass;
- the other says where to pass next: at the point nearest to the last one where the planes promise a part, but not
  all, of what there is left to gain. Its :math:`\rho` is raised or lowered until that is so. Planes are to be
  trusted only near where they were found; to trust them too far is what the swinging comes from.

The level method saves from a tenth to nine tenths of the passes, the trace norm's least. When so many planes have come
together that iterations on them cost more than that saves, it is plain ADMM again; where that takes too many passes,
the level method is tried once more.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.solvers.admm import first_mu
from smtl.solvers.base import History, Solution, Start, solver
from smtl.solvers.certificate import Certificate
from smtl.solvers.compiled import compiled_penalty
from smtl.solvers.master import CAUTION, Master
from smtl.solvers.planes import Bundle
from smtl.solvers.problem import Problem

__all__ = ["solve_bundle"]

Float: TypeAlias = npt.NDArray[np.float64]

# The W-step and the intercept are solved to this fraction of the gap: to more of it while the gap is large, where
# precision would be wasted, than near the end, where the lack of it would stall the outer iterations.
INNER_TOL_FIRST, INNER_TOL_LAST = 3e-2, 1e-3
# So many passes are those of plain ADMM, unless there are planes to start with.
FIRST_PASSES = 8
# The level method's iterations for the bound, before it is looked at.
BOUND_STEPS = 10
# Its iterations for the next point are at most this many, and one more for each pass so far. The point is near enough
# when the last one has moved it by this part of its distance from the centre; the longer it takes, the more exactly.
NEXT_STEPS = 25
NEXT_TOL = 0.1
NEXT_TOL_FROM = 30  # passes from which on that part falls, as one over their number
# As many again, up to so often, while the planes promise a bound that is high enough: each time saves a pass if it is.
# But beyond the first few times no more than cost this part of a pass.
FEW_ROUNDS, ROUNDS, PART_OF_A_PASS = 3, 10, 0.6
# The part of the gap that the planes are to leave at the next point, and the most that rho changes by for it.
LEVEL, MOST = 0.75, 3.0
# The least rho, as a part of mu. Below it the centre no longer counts, and what the planes still leave there is not its
# doing: the few iterations were not enough. Without a least one, rho would fall on and on and not come back in time.
LEAST = 1e-2
# mu may be raised at the start; where there were no more passes than this, they have not brought it down again.
UNADAPTED = 3
# A pass must cost at least so many iterations on the planes for the level method to be worth it. Where it was left, but
# plain ADMM has not got there after so many passes, it is tried again, with iterations that may cost twice as much.
STEPS_A_PASS, PLAIN_PASSES = 6.0, 1000
LONG = 50.0  # passes; the longer it takes beyond that, the more the iterations between passes may cost
# What is not multiplications costs as much as so many: around a pass, around an iteration that is not compiled, and for
# singular values, of which the rest is the cube of the smaller side.
AROUND_A_PASS, AROUND_A_STEP, AROUND_VALUES, CUBE = 6e5, 1.5e5, 4e4, 10.0
# Without it, from this pass on every third is at the mean of S, which forgets at this rate, at first faster (3 / n).
MEAN_FROM, MEAN_EVERY, MEAN_RATE = 15, 3, 0.015


@solver("bundle")
def solve_bundle(problem: Problem, *, tol: float, max_iter: int, start: Start, verbose: int = 0) -> Solution:
    """Solve a problem by planes, ADMM on them, and a level bundle method.

    Parameters
    ----------
    problem : Problem
        What to solve.
    tol : float
        The relative gap to reach.
    max_iter : int
        The most passes over the data.
    start : Start
        Where to start from; changed.
    verbose : int, default=0
        Log every so many passes.

    Returns
    -------
    Solution
        Weights, bound and history.
    """
    C, (d, m) = problem.C, problem.shape
    first_passes = FIRST_PASSES if start.bundle is None or start.mu is None else 1
    bundle, certificate, history = start.bundle or Bundle(d, m), Certificate(), History(verbose)
    bundle.keep_active()
    if start.certificate is not None:
        certificate.see_planes(problem, start.certificate.delta, start.certificate.G)
    shift, here, mean, rho = start.shift, start.S, start.S, start.rho
    a_pass, beside = problem.work() + AROUND_A_PASS, _beside_a_step(problem)
    most_work = a_pass / STEPS_A_PASS - beside
    inner_tol = INNER_TOL_FIRST  # on the scale of a task's loss
    bound, ahead = Master(problem, bundle, 0, start.S, start.Z, start.mu or 1.0), None
    if first_passes == 1 and bundle.work() > most_work:
        # The weights are nearly right, and plain steps with planes of another C would lead far away from them.
        bound.set_mu(CAUTION * bound.mu)
    for n_iter in range(1, max_iter + 1):
        delta, G, value = problem.planes(here, shift, inner_tol)
        objective = problem.objective(here, value)
        certificate.see_weights(objective, here, shift)
        bundle.add(G, delta)
        if n_iter == 1 and start.mu is None:
            bound.set_mu(first_mu(C, G))
            certificate.see_planes(problem, delta, G)  # at the critical C, where paths begin, that is all of the bound
        inner_tol = _inner_tol(certificate) * (certificate.objective - certificate.bound) / (C * m)
        rounds = int(np.clip(PART_OF_A_PASS * a_pass / (BOUND_STEPS * (bundle.work() + beside)), FEW_ROUNDS, ROUNDS))
        if ahead:
            _raise_bound(bound, certificate, tol, C * inner_tol, rounds)
        else:
            certificate.see_planes(problem, *bound.steps(1, C * inner_tol))
        if certificate.gap > tol:
            if n_iter >= first_passes and bundle.work() > most_work * max(n_iter / LONG, 1.0):
                if ahead:
                    mean = certificate.W
                    bound.start_again(mean)
                    bundle.take_second_weights()
                ahead, first_passes, most_work = None, n_iter + PLAIN_PASSES, 2.0 * most_work
            elif n_iter >= first_passes and not ahead:
                bundle.give_second_weights()
                ahead = Ahead(Master(problem, bundle, 1, bound.S, bound.Z, bound.mu), certificate.W, rho)
            mean = mean + max(MEAN_RATE, 3.0 / (n_iter + 3)) * (bound.S - mean)
            if ahead:
                here = ahead.look(certificate, C * inner_tol, n_iter)
                rho = ahead.rho
            elif n_iter >= MEAN_FROM and (n_iter + 1) % MEAN_EVERY == 0:
                here = problem.like(mean, bound.S)
            else:
                here = bound.S
        history.add(objective, certificate, *bound.residuals, n_iter)
        if certificate.gap <= tol:
            break
    mu = start.mu if n_iter <= UNADAPTED and start.mu is not None else bound.mu
    end = Start(bound.S, bound.Z, shift, mu, rho, problem.losses, bundle, certificate)
    return Solution(certificate, history.as_dict(), n_iter, certificate.gap <= tol, end)


class Ahead:
    """Where to pass next: the master problem with a centre, which is where the last pass was.

    Parameters
    ----------
    master : Master
        The problem.
    centre : ndarray of shape (n_features, n_tasks)
        The first centre.
    rho : float, optional
        To begin with; mu if not given.
    """

    def __init__(self, master: Master, centre: Float, rho: float | None = None) -> None:
        self.master = master
        self.centre = centre
        self.rho = rho or master.mu
        self.searching = rho is None  # and then it may be far too large, and is lowered faster

    def look(self, certificate: Certificate, tol: float, n_iter: int) -> Float:
        """Return the next point, after so many passes; the certificate takes in what was found on the way."""
        master, problem = self.master, self.master.problem
        near = NEXT_TOL * min(NEXT_TOL_FROM / n_iter, 1.0)
        mixed = master.steps(NEXT_STEPS + n_iter, tol, self.centre, self.rho, near)
        certificate.see_planes(problem, *mixed)
        self.centre = master.S
        gap = certificate.objective - certificate.bound
        left = (master.promised() - certificate.bound) / gap if gap > 0.0 else LEVEL
        self.searching = self.searching and left > LEVEL
        factor = (1.0 - left) / (1.0 - LEVEL) if self.searching else LEVEL / max(left, 1e-300)
        self.rho = max(self.rho * float(np.clip(factor, 1.0 / MOST, MOST)), LEAST * master.mu)
        return self.centre


def _raise_bound(master: Master, certificate: Certificate, tol: float, inner_tol: float, rounds: int) -> None:
    """Do some iterations for the bound, and more of them while it may yet become as high as it must."""
    enough = (1.0 - tol) * certificate.objective
    for _ in range(rounds):
        certificate.see_planes(master.problem, *master.steps(BOUND_STEPS, inner_tol))
        if certificate.bound >= enough or master.promised() < enough:
            break


def _beside_a_step(problem: Problem) -> float:
    """Return what an iteration on the planes costs beside its W-step."""
    from smtl.kernels import norms

    compiled = compiled_penalty(problem.penalty)
    if compiled is None:
        return AROUND_A_STEP
    return AROUND_VALUES + CUBE * min(problem.shape) ** 3 if compiled[0] == norms.VALUES else 0.0


def _inner_tol(certificate: Certificate) -> float:
    """Return the fraction of the gap to solve the inner problems to."""
    return float(np.clip(INNER_TOL_FIRST * certificate.gap / 1e-2, INNER_TOL_LAST, INNER_TOL_FIRST))
