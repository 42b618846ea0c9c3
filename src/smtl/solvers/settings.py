"""The constants of the solvers' machinery. None of them can make a bound false: they cost time only."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SETTINGS", "Settings"]


@dataclass(frozen=True)
class Settings:
    """The constants of planes, ADMM and the proposers, and those of the solver for smooth losses.

    The first were chosen on the problems of ``benchmarks/ablation.py``, which shows what another value costs: ``python
    benchmarks/ablation.py --set NAME=VALUE``; the others by ``python benchmarks/speed.py log``. A cost is counted in
    multiplications.

    Examples
    --------
    >>> from dataclasses import replace
    >>> replace(SETTINGS, level=0.5).level
    0.5
    """

    # How exactly inner problems are solved.
    inner_tol: float = 3e-2  # the part of the gap to which they are solved, where the gap is 1e-2 or more
    least_inner_tol: float = 1e-3  # the least such part; it falls with the gap
    # The planes.
    keep: int = 20  # passes for which a plane without weight is kept, at least
    keep_part: float = 1 / 3  # the part of all passes for which it is: a run goes in circles if it forgets too soon
    rebuild: int = 25  # planes after which the factors of the W-steps are set up anew, before rounding errors add up
    # The bound.
    mixing_steps: int = 6  # of the search for the best part of the newest combination, for a compiled dual norm
    spectral_steps: int = 3  # the same where each takes singular values
    # ADMM on the planes.
    first_mu: float = 0.8  # the first mu, as a part of C times the mean squared slope
    unadapted: int = 3  # passes; a run with no more has not brought a raised mu down again, and hands on the old one
    # The level method.
    first_passes: int = 8  # passes before it begins, unless there are planes to start with
    bound_steps: int = 10  # iterations for the bound after each pass
    next_steps: int = 25  # iterations for the next point, at most; one more for each pass so far
    next_rounds: int = 20  # of these, at most, until the planes promise a gain at the next point
    next_tol: float = 0.1  # they end where one moves S by no more than this part of its distance from the centre
    next_tol_from: int = 30  # the pass from which on that part falls, as one over the number of passes
    level: float = 0.75  # the part of the gap that the planes are to leave at the next point
    most_change: float = 3.0  # the factor by which rho changes for that, at most
    least_rho: float = 1e-2  # the least rho, as a part of mu: below it the centre no longer counts
    # When the level method is worth its iterations.
    steps_a_pass: float = 6.0  # a pass costs at least so many iterations on the planes
    around_a_pass: float = 6e5  # cost of a pass beside its multiplications
    around_a_step: float = 1.5e5  # cost of an iteration that is not compiled, beside its quadratic programs
    around_values: float = 4e4  # cost of singular values, beside ``cube`` times the cube of the smaller side
    cube: float = 10.0  # see ``around_values``
    # Smooth losses, all penalties.
    pairs: int = 10  # steps that a model of the curvature remembers
    smooth_inner_tol: float = 1e-2  # the part of the gap that is left to which the intercepts are found
    # Smooth losses: L-BFGS, for ridge.
    enough_descent: float = 1e-4  # the part of what the gradient promises that a step must gain
    halving: float = 0.5  # the factor of a step that has gained too little
    # Smooth losses: proximal Newton, for other penalties.
    dearest: float = 150.0  # cost of second derivatives, at most, in passes
    renew: int = 3  # steps after which those of each task are computed anew,
    fast: float = 0.1  # unless the last has gained no more than this part of the gain of the one before
    enough: float = 0.3  # the part of what the slope promises that a step must gain
    shortest: float = 0.1  # the least part of a step that is gone instead of one that has gained too little
    longest: float = 0.5  # the greatest such part
    least_length: float = 1e-6  # the part of the way to a model's minimum below which there is nothing to gain
    slow: int = 60  # passes within which the gap has to be halved; otherwise planes go on
    last_pass: int = 1000  # passes after which they do: several times what any problem that got there took
    # The minima of its models.
    relaxation: float = 1.6  # of ADMM's steps
    combined: int = 6  # differences of steps that Anderson acceleration combines
    exact: float = 0.03  # a model is solved when a step moves the weights by this part of the way from the last place,
    exact_dual: float = 0.3  # and leaves of the gradient, relative to the multipliers, this part of the relative gap
    most_steps: int = 100  # steps on one model
    balance_every: int = 10  # steps between looks at mu
    balance: float = 3.0  # the factor by which mu is wrong where it changes
    most_balance: float = 10.0  # the factor by which it changes, at most


SETTINGS = Settings()
