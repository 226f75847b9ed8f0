"""Pictures of structures: levels and their ranks, messages, passes over memory, storage. They follow comm/plans/schemes and
kernels/backends/openmp/wavefront."""

from collections.abc import Callable, Sequence

from explanations.picture import BLUE, GREEN, GREY, PINK, RED, SKY, YELLOW, Picture

Messages = Sequence[tuple[int, int, tuple[int, ...]]]  # source, target and the values between nodes
Bends = list[tuple[int, int, float]]  # source and target within a node, and how far the arrow bends


def v_cycle() -> Picture:
    p = Picture("A V-cycle on 4096 ranks: every level has 4096 boxes, and nearly all all-reduces are at its bottom", 394)
    levels = [("1024³", "64³", 10), ("512³", "32³", 0), ("256³", "16³", 0), ("128³", "8³", 0), ("64³", "4³", 707)]
    top, step = 58, 40
    p.text(104, 16, "one V-cycle", "middle", bold=True)
    p.text(232, 16, "cells", "middle")
    p.text(283, 16, "boxes", "middle")
    p.text(362, 16, "all-reduces", "middle")
    p.text(258, 32, "4096 on every level", "middle", 10.5)
    p.text(362, 32, "of a solve", "middle", 10.5)
    for n, (cells, box, sums) in enumerate(levels):
        y = top + n * step
        x = 16 + 18 * n
        p.path(f"M{202 - 18 * n if n < 4 else 160} {y}H396", GREY, 1, dash="2 4", opacity=0.7)
        p.text(232, y - 4, cells, "middle")
        p.text(283, y - 4, f"of {box}", "middle")
        if sums:
            p.rect(320, y - 15, max(2, sums * 44 / 707), 12, RED)
        p.text(320 + max(2, sums * 44 / 707) + 4 if sums else 320, y - 4, str(sums))
        if n < 4:
            down = (16, step - 14) if n == 3 else (15.5, step - 6)
            p.path(f"M{x + 3} {y + 6}l{down[0] - 4:g} {down[1] - 6}", arrow=True)
            p.path(f"M{192 - 18 * n - down[0] + 1:g} {y + down[1]}l{down[0] - 4:g} {6 - down[1]}", arrow=True)
            p.circle(x, y, 5, GREEN)
            p.circle(192 - 18 * n, y, 5, GREEN)
    y = top + 4 * step
    p.rect(54, y - 13, 100, 26, RED, r=5)
    p.text(104, y + 4.5, "Krylov solve", "middle", 11.5, True, fill="#ffffff")
    p.text(104, 64, "smooth", "middle")
    p.text(104, 80, "at every", "middle")
    p.text(104, 96, "circle", "middle")
    p.text(6, 172, "restrict", size=11.5)
    p.text(6, 186, "residual", size=11.5)
    p.text(150, 191, "interpolate", size=11.5)
    p.text(150, 205, "correction", size=11.5)

    y = 272
    p.path(f"M4 {y - 22}H396", GREY, 1, opacity=0.5)
    p.text(4, y, "Who solves a bottom grid of 16 boxes? A colour: a rank", bold=True, size=11.5)
    y += 16
    quadrant = [BLUE, YELLOW, GREEN, PINK]

    def grid(x: float, y: float, n: int, size: float, colour: Callable[[int, int], str]) -> None:
        for j in range(n):
            for i in range(n):
                p.rect(x + i * size, y + j * size, size, size, colour(i, j), "currentColor", 0.75, width=0.8)

    centres = [42, 121, 200, 279, 358]
    grid(centres[0] - 24, y, 4, 12, lambda i, j: quadrant[i // 2 + 2 * (j // 2)])
    grid(centres[1] - 24, y, 4, 12, lambda i, j: quadrant[2 * (j // 2)])
    grid(centres[2] - 24, y, 4, 12, lambda i, j: quadrant[0])
    for n, colour in enumerate(quadrant):
        grid(centres[3] - 28 + 34 * (n % 2) - 1, y + 26 * (n // 2) - 1, 4, 5.6, lambda i, j: colour)
    grid(centres[4] - 32, y + 6, 2, 18, lambda i, j: quadrant[i + 2 * j])
    p.path(f"M{centres[4] + 6} {y + 24}h10", arrow=True)
    grid(centres[4] + 18, y + 15, 1, 18, lambda i, j: quadrant[0])
    names = [
        ("distributed", "the default", "4 ranks solve"),
        ("2", "a number, or", "consolidate"),
        ("gather", "1 rank solves", "no all-reduce"),
        ("replicate", "each rank all", "no all-reduce"),
        ("agglomerate", "boxes merge,", "coarser grid"),
    ]
    for centre, lines in zip(centres, names):
        for n, line in enumerate(lines):
            p.text(centre, y + 67 + 15 * n, line, "middle", 11 if n == 0 else 10.5, n == 0)
    return p


def node_aware() -> Picture:
    p = Picture(
        "Values of four ranks of a node for four ranks of another: 8 messages cross by standard, 4 by two_step, 1 by three_step, 2 by split",
        452,
    )
    colours = [BLUE, RED, GREEN, PINK]
    need = {4: (0, 1), 5: (1, 2), 6: (2, 3), 7: (3, 0)}
    p.text(4, 15, "How four values reach the ranks of another node", bold=True)
    p.text(4, 31, "Dots at the right: the values that a rank needs.", size=11)
    p.text(4, 45, "Bold arrows: messages between nodes; thin: within one.", size=11)

    def panel(x0: float, y0: float, title: str, across: Messages, gather: Bends, spread: Bends, count: str) -> None:
        p.text(x0 + 95, y0 + 12, title, "middle", 12.5, True)
        xa, xb = x0 + 44, x0 + 146
        where = {r: (xa if r < 4 else xb, y0 + 40 + 34 * (r % 4)) for r in range(8)}
        for x, left in ((xa, True), (xb, False)):
            p.rect(x - (40 if left else 15), y0 + 22, 55, 139, GREY, GREY, 0.12, 6)
        for side, within in ((-1, gather), (1, spread)):
            for a, b, bend in within:
                (x, y), (_, z) = where[a], where[b]
                s = 1 if z > y else -1
                p.path(
                    f"M{x + side * 7} {y + s * 7}C{x + side * bend} {y + s * 14} {x + side * bend} {z - s * 14} {x + side * 9} {z - s * 6}",
                    "currentColor",
                    1.3,
                    True,
                    opacity=0.65,
                )
        for a, b, values in across:
            (x, y), (u, v) = where[a], where[b]
            length = ((u - x) ** 2 + (v - y) ** 2) ** 0.5
            cx, cy = (u - x) / length, (v - y) / length
            p.path(
                f"M{x + 11 * cx:.1f} {y + 11 * cy:.1f}L{u - 11.5 * cx:.1f} {v - 11.5 * cy:.1f}",
                "currentColor",
                2.2 if len(values) < 3 else 3,
                True,
            )
            middle = {(0, 7): 0.6, (3, 4): 0.74 if len(values) == 2 else 0.5, (2, 5): 0.3}.get(
                (a, b), 0.32 if len(across) == 8 else 0.5
            )
            for n, value in enumerate(values):
                t = middle + (n - (len(values) - 1) / 2) * 9.5 / length
                p.circle(x + t * (u - x), y + t * (v - y), 4.4, colours[value], stroke="currentColor")
        for r, (x, y) in where.items():
            if r < 4:
                p.circle(x, y, 10, colours[r], stroke="currentColor")
            else:
                p.add(f'<circle class="ground" cx="{x:g}" cy="{y:g}" r="10" stroke="currentColor" stroke-width="1.2"/>')
            p.text(x, y + 4.3, str(r), "middle", 12, True, fill="#ffffff" if r < 4 else "currentColor")
        for r, values in need.items():
            for n, value in enumerate(values):
                p.circle(where[r][0] + 35 + 9 * (n - 1), where[r][1], 3.6, colours[value])
        p.text(x0 + 95, y0 + 178, count, "middle", 12)

    standard = [(v, r, (v,)) for r, values in need.items() for v in values]
    panel(4, 62, "standard", standard, [], [], "8 messages cross, 8 values")
    panel(
        206,
        62,
        "two_step",
        [(v, v + 4, (v,)) for v in range(4)],
        [],
        [(5, 4, 17), (6, 5, 17), (7, 6, 17), (4, 7, 26)],
        "4 messages cross, 4 values",
    )
    panel(
        4,
        258,
        "three_step",
        [(3, 4, (0, 1, 2, 3))],
        [(0, 3, 36), (1, 3, 28), (2, 3, 19)],
        [(4, 5, 17), (4, 6, 22), (4, 7, 26)],
        "1 message crosses, 4 values",
    )
    panel(
        206,
        258,
        "split",
        [(3, 4, (0, 1)), (2, 5, (2, 3))],
        [(0, 3, 36), (1, 3, 28), (3, 2, 17)],
        [(4, 5, 17), (4, 7, 26), (5, 6, 17), (5, 7, 21)],
        "2 messages cross, 4 values",
    )
    return p


def wavefront() -> Picture:
    p = Picture(
        "Four half sweeps and the residual: five exchanges and five passes over memory by the reference path, one of each when fused",
        440,
    )
    names = [("red", RED), ("black", GREY), ("red", YELLOW), ("black", SKY), ("residual", GREEN)]
    x = 4
    for n, (name, colour) in enumerate(names):
        p.rect(x, 6, 12, 12, colour)
        p.text(x + 16, 16, ("1st ", "1st ", "2nd ", "2nd ", "")[n] + name, size=11.5)
        x += (70, 81, 75, 84, 0)[n]
    N, G, w = 12, 5, 12.6
    x0 = 96 + G * w

    def plane_row(y: float, h: float, colours: dict[int, str], ghosts: int) -> None:
        for k in range(-ghosts, N + ghosts):
            inside = 0 <= k < N
            p.rect(
                x0 + k * w + 0.6,
                y,
                w - 1.2,
                h,
                colours.get(k, GREY),
                "none",
                1 if k in colours else (0.3 if inside else 0.16),
            )
            if k in colours and not inside:
                p.rect(x0 + k * w + 0.6, y, w - 1.2, h, "none", "currentColor", 1, width=0.8, dash="2 1.5")

    y = 44
    p.text(4, y, "multigrid.reference_path: a row is a pass over memory", bold=True, size=11.5)
    y += 10
    for n, (name, colour) in enumerate(names):
        plane_row(y, 12, {k: colour for k in range(N)}, 1)
        p.text(4, y + 10, "exchange", size=11, fill=BLUE, bold=True)
        p.path(f"M64 {y + 6}H{x0 - w - 3:g}", BLUE, 1.5, True)
        p.path(f"M{x0 + N * w + 34:g} {y + 6}H{x0 + N * w + w + 3:g}", BLUE, 1.5, True)
        y += 16
    p.text(4, y + 13, "5 exchanges of 1 layer; each plane comes from memory 5 times", size=11)
    y += 45
    p.text(4, y, "Fused: a row is a step, one more plane from memory", bold=True, size=11.5)
    y += 8
    steps = range(-4, N + 4)
    p.text(4, y + 12, "exchange", size=11, fill=BLUE, bold=True)
    p.text(4, y + 26, "once", size=11, fill=BLUE, bold=True)
    p.path(f"M64 {y + 8}H{x0 - G * w - 3:g}", BLUE, 1.5, True)
    p.path(f"M{x0 + (N + G) * w + 28:g} {y + 8}H{x0 + (N + G) * w + 3:g}", BLUE, 1.5, True)
    for t in steps:
        colours = {}
        for n, (name, colour) in enumerate(names):
            k, layers = t - n, 4 - n
            if -layers <= k < N + layers:
                colours[k] = colour
        plane_row(y, 9, colours, G)
        y += 11
    yl = y - 11 * len(steps)
    p.text(4, yl + 70, "the planes", size=11)
    p.text(4, yl + 84, "at work stay", size=11)
    p.text(4, yl + 98, "in the cache", size=11)
    p.text(x0 - G * w / 2, y + 12, "ghosts", "middle", 11)
    p.text(x0 + N * w / 2, y + 12, "planes of a box", "middle", 11)
    p.text(x0 + N * w + G * w / 2, y + 12, "ghosts", "middle", 11)
    p.text(4, y + 31, "1 exchange of 5 layers; each plane comes from memory once.", size=11)
    p.text(4, y + 46, "Dashed: ghosts, relaxed here and by the neighbour alike.", size=11)
    p.height = int(y + 54)
    return p


def storage() -> Picture:
    p = Picture("Boxes and blocks, half colours, and mixed precision", 452)

    def title(x: float, y: float, words: str, more: str) -> None:
        p.text(x + 96, y, words, "middle", 12, True)
        p.text(x + 96, y + 15, more, "middle", 10.5)

    # boxes and a block
    colours = [BLUE, YELLOW, GREEN, PINK]
    title(2, 14, 'storage = "boxes"', "4 boxes: 144 cells stored for 64")
    c = 10.6
    for n, colour in enumerate(colours):
        x, y = 26 + (n % 2) * 78, 42 + (n // 2) * 78
        for j in range(6):
            for i in range(6):
                own = 0 < i < 5 and 0 < j < 5
                p.rect(x + i * c, y + j * c, c, c, colour if own else GREY, "currentColor", 0.8 if own else 0.18, width=0.5)
    for x, y, dx, dy in (
        (89, 66, 14, 0),
        (103, 82, -14, 0),
        (89, 144, 14, 0),
        (103, 160, -14, 0),
        (50, 105, 0, 14),
        (66, 119, 0, -14),
        (128, 105, 0, 14),
        (144, 119, 0, -14),
    ):
        p.path(f"M{x} {y}l{dx} {dy}", "currentColor", 1.6, True)
    p.text(98, 198, "copies between boxes", "middle", 11)
    title(206, 14, 'storage = "blocks"', "1 block: 100 cells stored for 64")
    for j in range(10):
        for i in range(10):
            own = 0 < i < 9 and 0 < j < 9
            colour = colours[(i - 1) // 4 + 2 * ((j - 1) // 4)] if own else GREY
            p.rect(249 + i * c, 62 + j * c, c, c, colour, "currentColor", 0.8 if own else 0.18, width=0.5)
    p.text(302, 198, "no copies; longer rows", "middle", 11)

    # half colours
    p.path("M4 214H396", GREY, 1, opacity=0.5)
    title(2, 232, "one colour in messages", "a face of 8³ cells: 34 of 64 values")
    x, y, c = 12, 262, 13
    for j in range(8):
        for i in range(8):
            red = (i + j) % 2 == 0
            p.rect(x + i * c, y + j * c, c, c, RED if red else GREY, "none", 1 if red else 0.25)
    for a in (0, 1, 7, 8):
        p.path(f"M{x + a * c} {y}v{8 * c}M{x} {y + a * c}h{8 * c}", "currentColor", 1.6 if a in (0, 8) else 1.4)
    p.path(f"M{x + 8 * c + 5} {y + 52}h18", "currentColor", 1.6, True)
    # places: 18 in the middle, 3 an edge, 1 a corner; a corner of the other colour travels with an idle place
    for n in range(34):
        idle = n >= 32
        p.rect(
            146 + (n % 3) * 13 + 0.4,
            256 + (n // 3) * 10,
            11.2,
            8.2,
            "none" if idle else RED,
            RED,
            width=0.9,
            dash="2 1.5" if idle else "",
        )
    p.text(98, 386, "9 pieces, each rounded up:", "middle", 10.5)
    p.text(98, 400, "18 + 4 × 3 + 4 × 1 = 34", "middle", 10.5)

    # precision
    title(206, 232, 'precision = "mixed"', "single inside, double outside")
    p.rect(212, 258, 180, 52, BLUE, BLUE, 0.18, 6, 1.3)
    p.text(302, 275, "double: 8 bytes", "middle", 11, True)
    p.text(302, 290, "r = f − L u;  max|r|", "middle", 11)
    p.text(302, 304, "u = u + max|r| e", "middle", 11)
    p.rect(212, 340, 180, 38, YELLOW, YELLOW, 0.25, 6, 1.3)
    p.text(302, 356, "single: 4 bytes", "middle", 11, True)
    p.text(302, 371, "1–5 cycles, L e = r / max|r|", "middle", 11)
    p.path("M250 311v27", "currentColor", 1.8, True)
    p.path("M354 339v-27", "currentColor", 1.8, True)
    p.text(258, 329, "r / max|r|", size=10.5)
    p.text(347, 329, "e", "end", size=11)
    p.rect(252, 392, 100, 24, RED, RED, 0.25, 6, 1.3)
    p.path("M302 379v12", "currentColor", 1.8)
    p.text(302, 408, "bottom: double", "middle", 11)
    p.height = 424
    return p
