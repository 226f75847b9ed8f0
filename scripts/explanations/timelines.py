"""Timelines of Krylov methods: their steps are those of solvers/krylov, durations are predictions of dry runs."""

from explanations.picture import BLUE, GREY, RED, YELLOW, Picture

# Microseconds a call at the bottom of inputs/papers/seed_weak.toml on 4096 ranks of hopper.toml, 16 a node, predicted: an
# exchange of one vector, of two and of four layers of two, all-reduces of 1, 2 or 3 and 45 words; each operation takes a launch.
EXCHANGE, EXCHANGE_2, EXCHANGE_DEEP, SUM, SUM_FUSED, SUM_45 = 12.88, 14.47, 198.8, 21.7, 21.9, 31.5
KINDS = {"E": BLUE, "A": YELLOW, "V": GREY, "R": RED}

Pieces = list[tuple[str, float]]  # a key of KINDS, or "wait", and microseconds


def lane(p: Picture, y: float, h: float, scale: float, x: float, pieces: Pieces) -> float:
    for kind, us in pieces:
        if kind == "wait":
            p.rect(x + 0.5, y + 0.5, us * scale - 1, h - 1, "none", RED, width=1, dash="3 2")
        else:
            p.add(
                f'<rect x="{x:g}" y="{y:g}" width="{us * scale:g}" height="{h}" fill="{KINDS[kind]}" shape-rendering="crispEdges"/>'
            )
        x += us * scale
    return x


def legend(p: Picture, y: float, words: list[tuple[str, str, float]]) -> None:
    x = 4.0
    for colour, word, width in words:
        p.rect(x, y - 10, 12, 12, colour)
        p.text(x + 16, y, word, size=11.5)
        x += width


def time_axis(p: Picture, y: float, scale: float, last: int, step: int, x: float = 4) -> None:
    p.path(f"M{x} {y}H{x + last * scale:.1f}", "currentColor", 1)
    for t in range(0, last + 1, step):
        p.path(f"M{x + t * scale:.1f} {y}v4", "currentColor", 1)
        anchor = "start" if t == 0 else "end" if x + t * scale > 388 else "middle"
        p.text(x + t * scale, y + 16, "0" if t == 0 else f"{t} µs", anchor, 11)


def s_step() -> Picture:
    p = Picture(
        "Four iterations: cg needs eight all-reduces, ca_cg one; with matrix powers one deep exchange takes as long as all of cg",
        330,
    )
    legend(p, 16, [(RED, "all-reduce", 96), (BLUE, "exchange", 90), (YELLOW, "operator", 86), (GREY, "vectors, dots", 0)])
    scale = 390 / 260
    iteration = [("V", 1), ("E", EXCHANGE), ("A", 1), ("V", 1), ("V", 1), ("R", SUM), ("V", 3), ("R", SUM), ("V", 1)]

    def bracket(y: float, start: float, end: float, words: str) -> None:
        p.path(f"M{start + 1:.1f} {y}v4H{end - 1:.1f}v-4", "currentColor", 1)
        p.text((start + end) / 2, y + 17, words, "middle", 11)

    y = 44
    p.text(4, y, "cg: 4 exchanges, 8 all-reduces", bold=True, size=12)
    end = 4.0
    for n in range(4):
        start = end
        end = lane(p, y + 8, 26, scale, start, iteration)
        bracket(y + 37, start, end, f"iteration {n + 1}")
    y = 126
    p.text(4, y, "ca_cg, s = 4: 4 exchanges, 1 all-reduce", bold=True, size=12)
    powers = [
        piece
        for n in range(4)
        for k in [2 if n < 3 else 1]
        for piece in (("V", k), ("E", EXCHANGE_2 if k == 2 else EXCHANGE), ("A", k), ("V", k))
    ]
    rest = [("V", 1), ("R", SUM_45), ("V", 1)]
    end = lane(p, y + 8, 26, scale, 4, powers + rest)
    bracket(y + 37, 4, end, "iterations 1 to 4")
    p.text(end + 8, y + 18, "7 products first, then all their inner", size=11)
    p.text(end + 8, y + 32, "products in one all-reduce", size=11)
    y = 208
    p.text(4, y, "ca_cg, s = 4, matrix_powers: 1 exchange, 1 all-reduce", bold=True, size=12)
    end = lane(p, y + 8, 26, scale, 4, [("V", 2), ("E", EXCHANGE_DEEP), ("A", 9.7), ("V", 12.6)] + rest)
    bracket(y + 37, 4, end, "iterations 1 to 4")
    p.text(4 + EXCHANGE_DEEP * scale / 2, y + 25.5, "4 layers, 26 neighbours", "middle", 11.5, True, fill="#ffffff")
    time_axis(p, y + 68, scale, 250, 50)
    p.height = y + 92
    return p


def pipelining() -> Picture:
    p = Picture(
        "An all-reduce of 42 microseconds: cg waits twice an iteration, pipelined_cg partly, deep_pipelined_cg hardly", 420
    )
    scale, last = 390 / 210, 210
    late = 20
    legend(p, 16, [(RED, "all-reduce", 96), (BLUE, "exchange", 90), (YELLOW, "operator", 86), (GREY, "vectors, dots", 0)])
    p.rect(4.5, 24.5, 11, 11, "none", RED, width=1, dash="3 2")
    p.text(20, 34, "the rank waits", size=11.5)
    product = [("V", 1), ("E", EXCHANGE), ("A", 1), ("V", 1)]

    class Run:
        def __init__(self, y: float) -> None:
            self.y, self.t = y, 0.0
            self.done: list[float] = []
            self.sums: list[tuple[float, float]] = []

        def do(self, *pieces: tuple[str, float]) -> None:
            for kind, us in pieces:
                self.piece(kind, us)

        def piece(self, kind: str, us: float) -> None:
            shown = min(us, last - self.t)
            if shown > 0:
                lane(p, self.y, 20, scale, 4 + self.t * scale, [(kind, shown)])
            self.t += us

        def begin(self, us: float) -> float:
            self.sums.append((self.t, self.t + us))
            return self.t + us

        def wait(self, end: float) -> None:
            if end > self.t:
                self.piece("wait", end - self.t)

        def iteration(self) -> None:
            self.done.append(self.t)

        def close(self, lanes: int) -> None:
            for n, (start, end) in enumerate(self.sums):
                if start < last:
                    p.rect(4 + start * scale, self.y + 23 + 9 * (n % lanes), (min(end, last) - start) * scale - 1, 7, RED)
            y = self.y + 23 + 9 * lanes
            before = 0.0
            for n, t in enumerate(self.done):
                if t <= last:
                    p.path(f"M{4 + t * scale:.1f} {y + 1}v5", "currentColor", 1.2)
                    p.text(4 + t * scale, y + 17, str(n + 1), "end" if t * scale > 380 else "middle", 11)
                    before = t
            p.path(f"M4 {y + 3.5}H{4 + min(before, last) * scale:.1f}", "currentColor", 1)

    y = 60
    p.text(4, y, "cg: 2 all-reduces an iteration, none hidden", bold=True, size=12)
    cg = Run(y + 8)
    while cg.t < last:
        cg.do(*product, ("V", 1))
        cg.wait(cg.begin(SUM + late))
        cg.do(("V", 3))
        cg.wait(cg.begin(SUM + late))
        cg.do(("V", 1))
        cg.iteration()
    cg.close(1)
    y = 146
    p.text(4, y, "pipelined_cg: 1, behind one product", bold=True, size=12)
    one = Run(y + 8)
    one.do(*product)
    while one.t < last:
        one.do(("V", 1))
        end = one.begin(SUM_FUSED + late)
        one.do(*product)
        one.wait(end)
        one.do(("V", 6))
        one.iteration()
    one.close(1)
    y = 232
    p.text(4, y, "deep_pipelined_cg, depth l = 2: 1, behind two products", bold=True, size=12)
    two = Run(y + 8)
    ends = []
    for i in range(20):
        two.do(*product)
        if i < 2:
            two.do(("V", 2 - i), ("V", 1))
            ends.append(two.begin(SUM_FUSED + late))
            continue
        two.wait(ends[i - 2])
        two.do(("V", 3), ("V", 1))
        ends.append(two.begin(SUM_FUSED + late))
        two.do(("V", 2))
        two.iteration()
    two.close(2)
    time_axis(p, 322, scale, 200, 50)
    p.text(4, 356, "Numbers: iterations completed. Each all-reduce takes 42 µs.", size=11)
    p.height = 364
    return p
