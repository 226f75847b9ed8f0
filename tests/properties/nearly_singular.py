"""Small decks of which a part hardly determines its constant, and their solutions to nearly all digits whatever the condition."""

import json
import math
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

Cell = tuple[int, int, int]
WIDTH = 4  # cells along a box
SIDES = ["periodic", "neumann", "dirichlet", "dirichlet/neumann"]


@dataclass(frozen=True)
class WeakProblem:
    """A problem; `present`: the boxes of a list, or none for all."""

    boxes: Cell
    present: tuple[Cell, ...]
    outside: str
    boundary: tuple[str, str, str]
    a: float
    coefficients: str
    contrast: float
    anisotropy: tuple[float, float, float]
    rhs: str
    data: str

    def words(self) -> list[str]:
        words = [
            f"problem.box={WIDTH}",
            f"problem.boxes={json.dumps(self.boxes)}",
            f"problem.boundary={json.dumps(self.boundary)}",
            f"problem.a={self.a!r}",
            f"problem.coefficients={self.coefficients}",
            f"problem.anisotropy={json.dumps(self.anisotropy)}",
            f"problem.rhs={self.rhs}",
            f"problem.data={self.data}",
        ]
        if self.coefficients != "constant":
            words.append(f"problem.contrast={self.contrast!r}")
        if self.present:
            words += [f"problem.shape={json.dumps(self.present)}", f"problem.outside={self.outside}"]
        return words


@st.composite
def weak_problems(draw: st.DrawFn) -> WeakProblem:
    power = st.floats(-20, 0).map(lambda x: 10**x)
    boxes = draw(st.sampled_from([(1, 1, 1), (2, 1, 1), (3, 1, 1), (1, 3, 1), (2, 2, 1), (1, 1, 3)]))
    places = [(i, j, k) for i in range(boxes[0]) for j in range(boxes[1]) for k in range(boxes[2])]
    present = draw(st.sets(st.sampled_from(places)))
    return WeakProblem(
        boxes,
        tuple(sorted(present)) if len(present) < len(places) else (),
        draw(st.sampled_from(["dirichlet", "neumann"])),
        draw(st.tuples(*[st.sampled_from(SIDES)] * 3)),
        draw(st.one_of(power, st.just(1.0))),
        draw(st.sampled_from(["constant", "constant", "ball", "front", "smooth"])),
        draw(st.floats(-18, 18).map(lambda x: 10**x)),
        draw(st.tuples(*[st.one_of(st.just(1.0), power)] * 3)),
        draw(st.sampled_from(["wave", "point", "linear"])),
        draw(st.sampled_from(["zero", "linear"])),
    )


def linear(x: list[float]) -> float:
    return 1 + x[0] - 2 * x[1] + x[2] / 2


def beta(problem: WeakProblem, x: list[float]) -> float:
    K = problem.contrast
    if problem.coefficients == "ball":
        return K if sum((t - 0.5) ** 2 for t in x) < 0.0625 else 1.0
    if problem.coefficients == "front":
        height = 0.5 + math.sin(2 * math.pi * x[0]) * math.cos(2 * math.pi * x[1]) / 8
        return K ** (0.5 * (1 + math.tanh(32 * (x[2] - height))))
    return K ** (0.5 * math.prod(math.sin(2 * math.pi * t) for t in x)) if problem.coefficients == "smooth" else 1.0


def u_l2(problem: WeakProblem) -> float:
    """sqrt(h^3 SUM u^2) by elimination without a subtraction (Grassmann, Taksar, Heyman 1985), which keeps the digits of an
    M-matrix: what a row's diagonal exceeds its neighbours by is carried along in place of the diagonal."""
    n = [WIDTH * count for count in problem.boxes]
    h = 1 / max(n)
    b = 0.9
    boxes = set(problem.present) or None
    cells = [(i, j, k) for k in range(n[2]) for j in range(n[1]) for i in range(n[0])
             if boxes is None or (i // WIDTH, j // WIDTH, k // WIDTH) in boxes]  # fmt: skip
    number = {cell: row for row, cell in enumerate(cells)}
    links = np.zeros((len(cells), len(cells)))
    excess = np.full(len(cells), problem.a)
    f = np.zeros((len(cells), 2))  # its positive and its negative part
    for row, cell in enumerate(cells):
        centre = [(cell[d] + 0.5) / n[d] for d in range(3)]
        q = (cell[0] * n[1] + cell[1]) * n[2] + cell[2]
        value = {"wave": math.sin(2.59 * q) + 0.2 * math.cos(1.3 * q), "point": float(cell == (0, 0, 0)),
                 "linear": problem.a * linear(centre)}[problem.rhs]  # fmt: skip
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
                c = b * problem.anisotropy[d] * beta(problem, place) / h**2
                other = number.get((beside[0], beside[1], beside[2]))
                if not outer and other is not None:
                    links[row, other] += c if other != row else 0
                elif (kind if outer else problem.outside) == "dirichlet":
                    excess[row] += 2 * c
                    value += 2 * c * linear(place) if problem.data == "linear" else 0
        f[row] = max(value, 0), max(-value, 0)
    diagonal = np.zeros(len(cells))
    for row in range(len(cells)):
        rest = slice(row + 1, None)
        diagonal[row] = links[row, rest].sum() + excess[row]
        part = links[rest, row] / diagonal[row]
        links[rest, rest] += np.outer(part, links[row, rest])
        excess[rest] += part * excess[row]
        f[rest] += np.outer(part, f[row])
        links[np.arange(row + 1, len(cells)), np.arange(row + 1, len(cells))] = 0
    u = np.zeros((len(cells), 2))
    for row in reversed(range(len(cells))):
        u[row] = (f[row] + links[row, row + 1 :] @ u[row + 1 :]) / diagonal[row]
    return h**1.5 * float(np.linalg.norm(u[:, 0] - u[:, 1]))
