"""Solutions of small decks by dense matrices: independent of everything in Keel but the formulas of the problem."""

import math
from dataclasses import dataclass

import numpy as np

from problems import Problem

Array = np.ndarray


def linear(x: list[float]) -> float:
    return 1 + x[0] - 2 * x[1] + x[2] / 2


def beta(problem: Problem, x: list[float]) -> float:
    K = problem.contrast
    if problem.coefficients == "ball":
        return K if sum((t - 0.5) ** 2 for t in x) < 0.0625 else 1.0
    if problem.coefficients == "front":
        height = 0.5 + math.sin(2 * math.pi * x[0]) * math.cos(2 * math.pi * x[1]) / 8
        return K ** (0.5 * (1 + math.tanh(32 * (x[2] - height))))
    return K ** (0.5 * math.prod(math.sin(2 * math.pi * t) for t in x)) if problem.coefficients == "smooth" else 1.0


def right_side(problem: Problem, cell: tuple[int, int, int], centre: list[float]) -> float:
    n = problem.cells
    q = (cell[0] * n[1] + cell[1]) * n[2] + cell[2]
    return {"wave": math.sin(2.59 * q) + 0.2 * math.cos(1.3 * q), "point": float(cell == (0, 0, 0)), "linear": problem.a * linear(centre),
            "triangle": math.prod(4 * abs(t - math.floor(t) - 0.5) - 1 for t in centre)}[problem.rhs]  # fmt: skip


def system(problem: Problem) -> tuple[Array, Array, Array]:
    """a alpha u - b div(beta grad u) = f by finite volumes, cells of width h = 1 / the most cells in any direction: what couples each two
    cells, what a row's diagonal exceeds the sum of these by, and f."""
    n = problem.cells
    h = 1 / max(n)
    boxes = set(problem.present) or None
    cells = [cell for cell in np.ndindex(*n) if boxes is None or tuple(i // problem.box for i in cell) in boxes]
    number = {cell: row for row, cell in enumerate(cells)}
    links = np.zeros((len(cells), len(cells)))
    excess, f = np.zeros(len(cells)), np.zeros(len(cells))
    for row, cell in enumerate(cells):
        centre = [(cell[d] + 0.5) / n[d] for d in range(3)]
        f[row] = right_side(problem, cell, centre)
        wave = math.prod(math.cos(2 * math.pi * t) for t in centre) if problem.alpha == "wave" else 0
        excess[row] = problem.a * (1 + 0.5 * wave)
        for d in range(3):
            for high in (0, 1):
                kind = problem.boundary[d].split("/")[-1 if high else 0]
                beside = list(cell)
                beside[d] += 1 if high else -1
                place = list(centre)
                place[d] = (cell[d] + high) / n[d]
                outer = not 0 <= beside[d] < n[d]
                if outer and kind == "periodic":
                    beside[d] %= n[d]
                    place[d] %= 1
                    outer = False
                c = problem.b * problem.anisotropy[d] * beta(problem, place) / h**2
                other = number.get((beside[0], beside[1], beside[2]))
                if not outer and other is not None:
                    links[row, other] += c if other != row else 0
                elif (kind if outer else problem.outside) == "dirichlet":
                    excess[row] += 2 * c
                    f[row] += 2 * c * linear(place) if problem.data == "linear" else 0
    return links, excess, f


@dataclass(frozen=True)
class Exact:
    """The solution's norm as Keel prints it, sqrt(h^3 sum u^2), and how far a residual of 1 (2-norm) may lie from it."""

    u_l2: float
    error_of_residual: float
    f_max: float
    unknowns: int


def solve(problem: Problem) -> Exact:
    links, excess, f = system(problem)
    values, vectors = np.linalg.eigh(np.diag(links.sum(axis=1) + excess) - links)
    if problem.singular:  # neither f nor u has a part in the constants
        f = f - f.mean()
        values, vectors = values[1:], vectors[:, 1:]
    u = vectors @ ((vectors.T @ f) / values)
    scale = max(problem.cells) ** -1.5
    return Exact(scale * float(np.linalg.norm(u)), scale / float(values[0]), float(np.abs(f).max()), len(f))


def u_l2(problem: Problem) -> float:
    """The norm to nearly all digits whatever the condition, by elimination without a subtraction (Grassmann, Taksar, Heyman 1985), which
    keeps the digits of an M-matrix: the excess of a row is carried along in place of its diagonal."""
    links, excess, right = system(problem)
    f = np.stack([right.clip(min=0), (-right).clip(min=0)], axis=1)
    size = len(right)
    diagonal = np.zeros(size)
    for row in range(size):
        rest = slice(row + 1, None)
        diagonal[row] = links[row, rest].sum() + excess[row]
        part = links[rest, row] / diagonal[row]
        links[rest, rest] += np.outer(part, links[row, rest])
        excess[rest] += part * excess[row]
        f[rest] += np.outer(part, f[row])
        links[np.arange(row + 1, size), np.arange(row + 1, size)] = 0
    u = np.zeros((size, 2))
    for row in reversed(range(size)):
        u[row] = (f[row] + links[row, row + 1 :] @ u[row + 1 :]) / diagonal[row]
    return float(max(problem.cells) ** -1.5 * np.linalg.norm(u[:, 0] - u[:, 1]))
