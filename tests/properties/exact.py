"""The solution of a small deck by a dense factorisation: independent of everything in Keel but the formulas of the problem."""

from dataclasses import dataclass

import numpy as np

from problems import Problem

Array = np.ndarray


def beta(problem: Problem, x: Array, y: Array, z: Array) -> Array:
    if problem.coefficients == "smooth":
        waves = np.sin(2 * np.pi * x) * np.sin(2 * np.pi * y) * np.sin(2 * np.pi * z)
        return problem.contrast ** (0.5 * waves)
    if problem.coefficients == "ball":
        inside = (x - 0.5) ** 2 + (y - 0.5) ** 2 + (z - 0.5) ** 2 < 0.0625
        return np.where(inside, problem.contrast, 1.0)
    return np.ones(np.broadcast_shapes(x.shape, y.shape, z.shape))


def right_side(problem: Problem) -> Array:
    cells = problem.cells
    index = np.indices(cells)
    if problem.rhs == "triangle":
        waves = [(index[d] + 0.5) / cells[d] for d in range(3)]
        return np.prod([4 * np.abs(w - np.floor(w) - 0.5) - 1 for w in waves], axis=0)
    if problem.rhs == "wave":
        number = (index[0] * cells[1] + index[1]) * cells[2] + index[2]
        return np.sin(2.59 * number) + 0.2 * np.cos(1.3 * number)
    f = np.zeros(cells)
    f[0, 0, 0] = 1.0
    return f


@dataclass(frozen=True)
class Exact:
    """The solution's norm as Keel prints it, sqrt(h^3 sum u^2), and how far a residual of 1 (2-norm) may lie from it."""

    u_l2: float
    error_of_residual: float
    f_max: float
    unknowns: int


def solve(problem: Problem) -> Exact:
    """a alpha u - b div(beta grad u) = f by finite volumes; cells of width h = 1 / the most cells in any direction."""
    cells = problem.cells
    unknowns = int(np.prod(cells))
    h = 1 / max(cells)
    row = np.arange(unknowns).reshape(cells)
    centres = [(np.arange(n) + 0.5) / n for n in cells]
    matrix = np.zeros((unknowns, unknowns))
    for d in range(3):
        places = list(centres)
        places[d] = np.arange(cells[d] + 1) / cells[d]
        face = beta(problem, *np.ix_(*places)) / h**2
        near, far = face.take(range(cells[d]), axis=d), face.take(range(1, cells[d] + 1), axis=d)
        if problem.boundary[d] == "periodic":
            far = np.where(np.indices(cells)[d] == cells[d] - 1, face.take([0], axis=d), far)
        for weights, shift, edge in ((near, 1, 0), (far, -1, cells[d] - 1)):
            outer = np.indices(cells)[d] == edge
            if problem.boundary[d] != "periodic":
                weights = np.where(outer, 2 * weights if problem.boundary[d] == "dirichlet" else 0.0, weights)
            neighbours = np.roll(row, shift, axis=d)
            inner = np.ones(cells, bool) if problem.boundary[d] == "periodic" else ~outer
            np.add.at(matrix, (row.ravel(), row.ravel()), weights.ravel())
            np.add.at(matrix, (row[inner], neighbours[inner]), -weights[inner])
    matrix *= problem.b
    if problem.alpha == "wave":
        x, y, z = np.ix_(*centres)
        waves = np.cos(2 * np.pi * x) * np.cos(2 * np.pi * y) * np.cos(2 * np.pi * z)
        matrix[np.diag_indices(unknowns)] += problem.a * (1 + 0.5 * waves).ravel()
    else:
        matrix[np.diag_indices(unknowns)] += problem.a
    f = right_side(problem).ravel()
    values, vectors = np.linalg.eigh(matrix)
    if problem.singular:  # neither f nor u has a part in the constants
        f = f - f.mean()
        values, vectors = values[1:], vectors[:, 1:]
    u = vectors @ ((vectors.T @ f) / values)
    scale = h**1.5
    return Exact(scale * float(np.linalg.norm(u)), scale / float(values[0]), float(np.abs(f).max()), unknowns)
