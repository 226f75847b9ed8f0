"""Cycles to 1e-10 whose coefficients have 16 bits: python3 results/mixed/sixteen_bits.py > results/mixed/sixteen_bits.json.

-div beta grad u = f on 64^3 cells, Dirichlet faces, random f; V(2,2), red-black Gauss-Seidel, constant interpolation. Residuals
are in double precision, cycles in single. Face coefficients c and 1/D are rounded alone, or 1/D is computed of rounded c.
"""

import json

import numpy as np

KINDS = ("double", "single", "fp16", "bfloat16")


def rounded(x, kind):
    if kind == "fp16":  # scaled by a power of two on each level
        scale = 2.0 ** np.floor(np.log2(16384 / np.abs(x).max()))
        return ((x * scale).astype(np.float16).astype(float) / scale).astype(np.float32)
    if kind == "bfloat16":
        bits = x.astype(np.float32).view(np.uint32)
        return ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).view(np.float32)
    return x.astype(float if kind == "double" else np.float32)


def ends(x, axis):
    n = x.shape[axis]
    return np.take(x, range(n - 1), axis), np.take(x, range(1, n), axis)


class Level:
    def __init__(self, beta, kind, together):
        c = []
        for d in range(3):
            face = beta[d] * (beta[d].shape[d] - 1) ** 2
            np.moveaxis(face, d, 0)[[0, -1]] *= 2
            c.append(face)
        self.c = [rounded(face, kind) for face in c]
        D = sum(sum(ends((self.c if together else c)[d].astype(float), d)) for d in range(3))
        self.inverse = (1 / D).astype(self.c[0].dtype) if together else rounded(1 / D, kind)
        self.red = np.indices(D.shape).sum(0) % 2 == 0

    def neighbours(self, u):
        total = np.zeros_like(u)
        for d in range(3):
            low, high = ends(self.c[d], d)
            padded = np.pad(u, [(1, 1) if e == d else (0, 0) for e in range(3)])
            total += low * np.take(padded, range(u.shape[d]), d) + high * np.take(padded, range(2, u.shape[d] + 2), d)
        return total

    def residual(self, u, f):
        return f + self.neighbours(u) - u / self.inverse

    def smooth(self, u, f, sweeps):
        for colour in (self.red, ~self.red) * sweeps:
            u = np.where(colour, (f + self.neighbours(u)) * self.inverse, u)
        return u


def mean(x, axes):
    for axis in axes:
        x = x.reshape(*x.shape[:axis], -1, 2, *x.shape[axis + 1 :]).mean(axis + 1, dtype=x.dtype)
    return x


def cycle(levels, f):
    level, *below = levels
    if not below:
        return level.smooth(np.zeros_like(f), f, 40)
    u = level.smooth(np.zeros_like(f), f, 2)
    e = cycle(below, mean(level.residual(u, f), (0, 1, 2)))
    return level.smooth(u + e.repeat(2, 0).repeat(2, 1).repeat(2, 2), f, 2)


def faces(coefficients, contrast, n):
    beta = []
    for d in range(3):
        x = np.meshgrid(*(np.arange(n + 1) / n if e == d else (np.arange(n) + 0.5) / n for e in range(3)), indexing="ij")
        if coefficients == "smooth":
            beta.append(contrast ** (0.5 * np.prod([np.sin(2 * np.pi * y) for y in x], axis=0)))
        else:
            beta.append(np.where(sum((y - 0.5) ** 2 for y in x) < 0.09, contrast, 1.0))
    return beta


def cycles(beta, kind, together, f):
    fine, levels = Level(beta, "double", True), []
    while True:
        levels.append(Level(beta, kind, together))
        if beta[0].shape[1] == 4:
            break
        beta = [mean(np.take(face, range(0, face.shape[d], 2), d), [e for e in range(3) if e != d]) for d, face in enumerate(beta)]
    u, r, count = np.zeros_like(f), f, 0
    while np.abs(r).max() > 1e-10 * np.abs(f).max() and count < 100:
        norm = np.abs(r).max()
        u = u + norm * cycle(levels, (r / norm).astype(levels[0].inverse.dtype)).astype(float)
        r, count = fine.residual(u, f), count + 1
    return count


if __name__ == "__main__":
    f = np.random.default_rng(1).uniform(-1, 1, (64, 64, 64))
    for coefficients, contrast in (("smooth", 10), ("smooth", 1000), ("ball", 10), ("ball", 100)):
        beta = faces(coefficients, contrast, 64)
        for kind in KINDS:
            for together in (False, True) if "16" in kind else (True,):
                print(json.dumps({"record": "sixteen_bits", "coefficients": coefficients, "contrast": contrast, "of": kind,
                                  "together": together, "cycles": cycles(beta, kind, together, f)}), flush=True)  # fmt: skip
