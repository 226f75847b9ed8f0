"""Random problems, small enough for a dense factorisation, and ways to solve and to run them, as words of a command line."""

import dataclasses
import json
from dataclasses import dataclass

from hypothesis import strategies as st

BOUNDARIES = ["periodic", "dirichlet", "neumann"]
Cell = tuple[int, int, int]


@dataclass(frozen=True)
class Problem:
    """A problem to solve; `present`: the boxes of a list, or none for all."""

    box: int
    boxes: Cell
    boundary: tuple[str, str, str]
    a: float
    b: float
    coefficients: str
    contrast: float
    alpha: str
    rhs: str
    present: tuple[Cell, ...] = ()
    outside: str = "dirichlet"
    anisotropy: tuple[float, float, float] = (1.0, 1.0, 1.0)
    data: str = "zero"

    @property
    def cells(self) -> Cell:
        return (self.box * self.boxes[0], self.box * self.boxes[1], self.box * self.boxes[2])

    @property
    def box_count(self) -> int:
        return self.boxes[0] * self.boxes[1] * self.boxes[2]

    @property
    def singular(self) -> bool:
        return self.a == 0 and "dirichlet" not in self.boundary

    def words(self) -> list[str]:
        words = [
            f"problem.box={self.box}",
            f"problem.boxes=[{','.join(map(str, self.boxes))}]",
            f"problem.boundary={json.dumps(self.boundary)}",
            f"problem.a={self.a!r}",
            f"problem.b={self.b!r}",
            f"problem.coefficients={self.coefficients}",
            f"problem.alpha={self.alpha}",
            f"problem.rhs={self.rhs}",
            f"problem.anisotropy={json.dumps(self.anisotropy)}",
            f"problem.data={self.data}",
        ]
        if self.coefficients != "constant":
            words.append(f"problem.contrast={self.contrast!r}")
        if self.present:
            words += [f"problem.shape={json.dumps(self.present)}", f"problem.outside={self.outside}"]
        return words

    def scaled(self, factor: float) -> "Problem":
        return dataclasses.replace(self, a=self.a * factor, b=self.b * factor)

    def permuted(self, axes: tuple[int, ...]) -> "Problem":
        first, second, third = axes
        return dataclasses.replace(
            self,
            boxes=(self.boxes[first], self.boxes[second], self.boxes[third]),
            boundary=(self.boundary[first], self.boundary[second], self.boundary[third]),
        )

    def with_boxes_split_in_eight(self) -> "Problem":
        first, second, third = (2 * n for n in self.boxes)
        return dataclasses.replace(self, box=self.box // 2, boxes=(first, second, third))


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    box = draw(st.sampled_from([4, 4, 8]))
    most = 1024 // box**3
    boxes = draw(
        st.tuples(*[st.integers(1, 4)] * 3).filter(lambda n: n[0] * n[1] * n[2] <= most)
    )
    alpha = draw(st.sampled_from(["constant", "wave"]))
    return Problem(
        box=box,
        boxes=boxes,
        boundary=draw(st.tuples(*[st.sampled_from(BOUNDARIES)] * 3)),
        a=draw(st.sampled_from([0.0, 0.9, 1e-3, 40.0, 1e4])),
        b=draw(st.sampled_from([0.9, 1e-2, 1.0, 25.0])),
        coefficients=draw(st.sampled_from(["constant", "smooth", "ball"])),
        contrast=draw(st.sampled_from([10.0, 0.05, 100.0])),
        alpha=alpha,
        rhs=draw(st.sampled_from(["triangle", "wave", "point"])),
    )


@st.composite
def weak_problems(draw: st.DrawFn) -> Problem:
    """Problems of which a part hardly determines its constant."""
    power = st.floats(-20, 0).map(lambda x: 10**x)
    boxes = draw(st.sampled_from([(1, 1, 1), (2, 1, 1), (3, 1, 1), (1, 3, 1), (2, 2, 1), (1, 1, 3)]))
    places = [(i, j, k) for i in range(boxes[0]) for j in range(boxes[1]) for k in range(boxes[2])]
    present = draw(st.sets(st.sampled_from(places)))
    return Problem(
        box=4,
        boxes=boxes,
        present=tuple(sorted(present)) if len(present) < len(places) else (),
        outside=draw(st.sampled_from(["dirichlet", "neumann"])),
        boundary=draw(st.tuples(*[st.sampled_from([*BOUNDARIES, "dirichlet/neumann"])] * 3)),
        a=draw(st.one_of(power, st.just(1.0))),
        b=0.9,
        coefficients=draw(st.sampled_from(["constant", "constant", "ball", "front", "smooth"])),
        contrast=draw(st.floats(-18, 18).map(lambda x: 10**x)),
        alpha="constant",
        anisotropy=draw(st.tuples(*[st.one_of(st.just(1.0), power)] * 3)),
        rhs=draw(st.sampled_from(["wave", "point", "linear"])),
        data=draw(st.sampled_from(["zero", "linear"])),
    )


@st.composite
def methods(draw: st.DrawFn) -> list[str]:
    """How it is solved; every choice stands on every box of 4^3 cells or more."""
    solver = draw(st.sampled_from(SOLVERS))
    smoother = draw(st.sampled_from(["gsrb", "jacobi", "chebyshev"]))
    return [
        "multigrid.bottom_box=2",
        f"multigrid.cycle={draw(st.sampled_from(['V', 'F']))}",
        f"multigrid.smoother={smoother}",
        "multigrid.max_cycles=200",
        *solver,
    ]


SOLVERS = [
    ["bottom.solver=bicgstab"],
    ["bottom.solver=bicgstab_fused", "bottom.scaling=none"],
    ["bottom.solver=cg"],
    ["bottom.solver=cg", "bottom.scaling=none"],
    ["bottom.solver=ca_bicgstab", "bottom.s=2"],
    ["bottom.solver=ca_cg", "bottom.basis=newton"],
    ["bottom.solver=pipelined_cg"],
    ["bottom.solver=deep_pipelined_cg"],
    ["bottom.solver=pipelined_bicgstab"],
    ["bottom.solver=enlarged_cg", "bottom.splitting=slabs", "bottom.block=2"],
    ["bottom.solver=sre_cg", "bottom.splitting=interleaved", "bottom.block=2"],
    ["bottom.solver=s_step_cg", "bottom.s=3"],
    ["bottom.solver=gmres", "bottom.restart=4"],
    ["bottom.solver=ca_gmres", "bottom.basis=newton"],
    ["bottom.solver=smooth"],
]


@st.composite
def unions(draw: st.DrawFn) -> list[str]:
    """A domain of some boxes of a grid, in two or three dimensions, that a deck may refuse."""
    flat = draw(st.booleans())
    around = [draw(st.integers(1, 4)), draw(st.integers(1, 4)), 1 if flat else draw(st.integers(1, 3))]
    everywhere = [[x, y, z] for x in range(around[0]) for y in range(around[1]) for z in range(around[2])]
    present = draw(st.lists(st.sampled_from(everywhere), min_size=1, unique_by=tuple))
    sides = [draw(st.sampled_from(BOUNDARIES)) for _ in range(2)] + ["periodic" if flat else draw(st.sampled_from(BOUNDARIES))]
    shape = draw(st.sampled_from([
        ["problem.shape=" + json.dumps(present)],
        ["problem.shape=scattered", f"problem.fill={draw(st.sampled_from([0.1, 0.3, 0.6]))}"],
        ["problem.shape=tags", f"problem.fill={draw(st.sampled_from([0.3, 0.6]))}"],
        ["problem.shape=L"], ["problem.shape=shell"],
    ]))  # fmt: skip
    return [
        f"problem.dimensions={2 if flat else 3}",
        f"problem.boxes={json.dumps(around)}",
        "problem.box=4",
        "problem.boundary=" + json.dumps(sides),
        f"problem.outside={draw(st.sampled_from(['dirichlet', 'neumann']))}",
        f"problem.a={draw(st.sampled_from([0.0, 0.9]))!r}",
        *shape,
    ]


# Ways to run that may not change a bit of a deterministic run.
COMMUNICATION = st.sampled_from([
    ["comm.scheme=two_step", "comm.ranks_per_node=2"],
    ["comm.scheme=three_step", "comm.ranks_per_node=2"],
    ["comm.scheme=split", "comm.ranks_per_node=2", "comm.message_cap=64"],
    ["comm.scheme=staged_axes", "comm.neighbours=all"],
    ["comm.neighbours=all", "comm.ghost_depth=2"],
    ["comm.overlap=true"],
    ["comm.transport=persistent", "comm.scheme=three_step", "comm.ranks_per_node=2"],
    ["comm.transport=neighbour", "comm.scheme=two_step", "comm.ranks_per_node=2"],
    ["comm.transport=shared", "comm.overlap=true"],
    ["comm.transport=put", "comm.scheme=three_step", "comm.ranks_per_node=2"],
    ["comm.allreduce=recursive_doubling"],
    ["comm.allreduce=rabenseifner"],
    ["comm.allreduce=node_aware", "comm.ranks_per_node=2"],
    ["multigrid.bottom_grid=gather"],
    ["multigrid.bottom_grid=replicate"],
])  # fmt: skip
PLACEMENTS = st.sampled_from(["lexicographic", "round_robin", "scattered"])
