#!/usr/bin/env python3
"""Why pipelined predict-and-recompute CG ends above CG where coefficients jump, in numpy, apart from Keel.

contrast_16's operator with a contrast of 10, 100 and 1000 and eight random right-hand sides, to a recursive residual of 1e-15:
CG, the pipelined method as specified (s = w + beta s with the predicted w), and the same with w = A r in place of the
prediction, which could not be overlapped. Printed: true residuals over CG's.

    results/attainable/gap.py
"""

import numpy as np

N = 16
BITS = (1 << 64) - 1


def scrambled(x: int) -> int:
    x = (x + 0x9E3779B97F4A7C15) & BITS
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & BITS
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & BITS
    return x ^ (x >> 31)


def random_side(seed: int) -> np.ndarray:
    return np.array([(scrambled((scrambled(seed) + n) & BITS) >> 11) * 2.0**-52 - 1 for n in range(N**3)]).reshape(N, N, N)


class Operator:
    """0.9 u - 0.9 div beta grad u, seven points, Dirichlet faces, beta smooth between contrast^-1/2 and contrast^1/2."""

    def __init__(self, contrast: float) -> None:
        centres, faces = (np.arange(N) + 0.5) / N, np.arange(N + 1) / N
        self.coefficients = []
        for axis in range(3):
            at = np.meshgrid(*(faces if d == axis else centres for d in range(3)), indexing="ij")
            waves = np.prod([np.sin(2 * np.pi * x) for x in at], axis=0)
            c = np.moveaxis(0.9 * N**2 * contrast ** (0.5 * waves), axis, 0)
            c[0] *= 2
            c[-1] *= 2
            self.coefficients.append(c)

    def __call__(self, u: np.ndarray) -> np.ndarray:
        total = 0.9 * u
        for axis, c in enumerate(self.coefficients):
            ends = [(1, 1) if d == axis else (0, 0) for d in range(3)]
            flux = c.astype(u.dtype) * np.diff(np.moveaxis(np.pad(u, ends), axis, 0), axis=0)
            total = total - np.moveaxis(np.diff(flux, axis=0), 0, axis)
        return total


def dot(x: np.ndarray, y: np.ndarray) -> float:
    return float(x.ravel() @ y.ravel())


def cg(A: Operator, b: np.ndarray) -> np.ndarray:
    x, r, p = 0 * b, b, b
    first = rr = dot(r, r)
    while rr > 1e-30 * first:
        s = A(p)
        alpha = rr / dot(p, s)
        x, r = x + alpha * p, r - alpha * s
        before, rr = rr, dot(r, r)
        p = r + rr / before * p
    return x


def pipelined(A: Operator, b: np.ndarray, predicted: bool) -> np.ndarray:
    x, r, p = 0 * b, b, b
    s = w = A(p)
    u = A(s)
    first = nu = dot(r, r)
    while nu > 1e-30 * first:
        mu, delta, gamma = dot(p, s), dot(r, s), dot(s, s)
        alpha = nu / mu
        x, r = x + alpha * p, r - alpha * s
        w = w - alpha * u if predicted else A(r)
        beta = max(0.0, (nu - 2 * alpha * delta + alpha**2 * gamma) / nu)
        p, s = r + beta * p, w + beta * s
        nu, u, w = dot(r, r), A(s), A(r)
    return x


for contrast in (10, 100, 1000):
    A = Operator(contrast)
    rows = []
    for seed in range(1, 9):
        b = random_side(seed)
        solutions = (cg(A, b), pipelined(A, b, True), pipelined(A, b, False))
        gaps = [np.linalg.norm((b - A(x.astype(np.longdouble))).astype(float)) for x in solutions]
        rows.append([gap / gaps[0] for gap in gaps[1:]])
    for name, found in zip(("as specified", "w = A r"), np.array(rows).T, strict=True):
        print(f"contrast {contrast:4}: {name:12} median {np.median(found):.1f}, {found.min():.1f} to {found.max():.1f}; seed 1: {found[0]:.1f}")
