"""Operation counts of Jain & Rodriguez 1992, Sec. VII (Fig. 2): composite against articulated body.

For a chain of N bodies with n free-free modes each and one-axis rotary hinges; a count is
multiplications plus additions. The articulated-body count leaves out the velocity sweep, which
the composite count contains (inside C), as in the paper.
"""

from __future__ import annotations

WOODBURY_FROM = 8  # modes from which the second form of D_f^-1 is cheaper


def composite_count(n_bodies: int, n_modes: int) -> float:
    """Count forward dynamics by mass matrix, bias and solution of S equations."""
    n, N = n_modes, n_bodies
    S = N * (n + 1)
    gather = N * ((48 * n + 90) + (n**2 + 97 * n / 2 + 116))  # composite inertia R(k)
    per_pair = (12 * n**2 + 34 * n + 13) + (11 * n**2 + 24 * n + 13)
    rest = per_pair * N * (N + 1) / 2  # rest of M, body k: k times this
    bias = N * ((2 * n**2 + 54 * n + 206) + (2 * n**2 + 50 * n + 143))
    solve = (S**3 / 6 + 3 * S**2 / 2 - 2 * S / 3) + (S**3 / 6 + S**2 - 7 * S / 6)
    return gather + rest + bias + S + solve


def articulated_count(n_bodies: int, n_modes: int) -> float:
    """Count forward dynamics by the articulated-body sweeps, with the cheaper form of D_f^-1."""
    n = n_modes
    if n < WOODBURY_FROM:
        gather = 5 * n**3 / 6 + 25 * n**2 / 2 + 764 * n / 3 + 180
        gather += 5 * n**3 / 6 + 21 * n**2 / 2 + 548 * n / 3 + 164
    else:
        gather = (12 * n**2 + 255 * n + 572) + (13 * n**2 + 182 * n + 445)
    inward = (n**2 + 25 * n + 49) + (n**2 + 24 * n + 50)
    outward = (18 * n + 52) + (19 * n + 42)
    return n_bodies * (gather + inward + outward)


def count_ratio(n_bodies: int, n_modes: int) -> float:
    """Return composite over articulated: how many times dearer the composite path is."""
    return composite_count(n_bodies, n_modes) / articulated_count(n_bodies, n_modes)
