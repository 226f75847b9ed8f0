"""Right-hand sides and boundary values from files of arrays: the same solves as by formulas that the files hold, and refusals."""

import itertools
import math
import os
import struct
import sys
from array import array
from collections.abc import Callable, Sequence

from keel_runner import ONCE, KeelTest, strict_json

Value = Callable[..., float]
QUICK = ["--benchmark", "--quick"]
# All values are exact in binary: 32 x 16 x 16 cells, and factors that are powers of two.
SMALL = ["problem.box=8", "problem.boxes=[4,2,2]", "problem.a=1", "multigrid.bottom_box=4", "run.deterministic=true", *ONCE]
CELLS = (32, 16, 16)


def linear(x: float, y: float, z: float) -> float:
    return 1 + x - 2 * y + z / 2


def triangle(x: float) -> float:
    return 4 * abs(x - math.floor(x) - 0.5) - 1


def numpy_file(shape: Sequence[int], value: Value, order: str = "C", type_: str = "<f8", version: int = 1) -> bytes:
    """The bytes that numpy.save writes of an array with these values by their indices."""
    axes = [range(n) for n in shape]
    places = itertools.product(*axes) if order == "C" else (place[::-1] for place in itertools.product(*axes[::-1]))
    values = array("d" if type_ == "<f8" else "f", [value(*place) for place in places])
    if sys.byteorder == "big":
        values.byteswap()
    tuple_ = f"({shape[0]},)" if len(shape) == 1 else "(" + ", ".join(map(str, shape)) + ")"
    text = f"{{'descr': '{type_}', 'fortran_order': {order == 'F'}, 'shape': {tuple_}, }}"
    head = 10 if version == 1 else 12
    text += " " * (-(head + len(text) + 1) % 64) + "\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(text)) + text.encode() + values.tobytes()


def at_cells(formula: Value, cells: Sequence[int]) -> Value:
    return lambda *place: formula(*((i + 0.5) / n for i, n in zip(place, cells, strict=True)))


def on_side(formula: Value, cells: Sequence[int], direction: int, end: float) -> Value:
    def value(*place: int) -> float:
        others = iter(zip(place, (n for d, n in enumerate(cells) if d != direction), strict=True))
        return formula(*(end if d == direction else (lambda i, n: (i + 0.5) / n)(*next(others)) for d in range(len(cells))))

    return value


class Arrays(KeelTest):
    def sides(self, formula: Value, cells: Sequence[int], names: Sequence[str], order: str = "C") -> str:
        for name in names:
            axis, _, end = name.partition("_")
            direction = "xyz".index(axis)
            shape = [n for d, n in enumerate(cells) if d != direction]
            self.file(f"u_{name}.npy", numpy_file(shape, on_side(formula, cells, direction, 1.0 * (end == "high")), order))
        return f"problem.data={self.folder}/u_{{side}}.npy"

    def same_solves(self, by_formula: Sequence[str], by_files: Sequence[str], ranks: Sequence[int] = (1, 2, 3)) -> None:
        wanted = self.valid(1, *by_formula).record("solve")
        self.assertGreater(len(wanted["residuals"]), 3)
        for n in ranks:
            with self.subTest(files=by_files, ranks=n):
                solve = self.valid(n, *by_files).record("solve")
                self.assertEqual((solve["residuals"], solve["u_l2"]), (wanted["residuals"], wanted["u_l2"]))

    def test_files_that_hold_the_values_of_formulas_give_the_same_iterates_to_the_last_bit(self) -> None:
        boundary = 'problem.boundary=["dirichlet","neumann/dirichlet","periodic"]'
        for order, version in (("C", 1), ("F", 2)):
            f = self.file(f"f_{order}.npy", numpy_file(CELLS, at_cells(linear, CELLS), order, version=version))
            u = self.sides(linear, CELLS, ("x_low", "x_high", "y_high"), order)
            words = [*SMALL, boundary]
            self.same_solves([*words, "problem.rhs=linear", "problem.data=linear"], [*words, f"problem.rhs={f}", u])

    def test_a_singular_problem_and_a_plane(self) -> None:
        def value(x: float, y: float, z: float = 0) -> float:
            return triangle(x) * triangle(y) * triangle(z)

        f = self.file("f.npy", numpy_file(CELLS, at_cells(value, CELLS), "F"))
        singular = [*SMALL, "problem.a=0", "problem.placement=round_robin"]
        singular.remove("problem.a=1")
        self.same_solves([*singular, "problem.rhs=triangle"], [*singular, f"problem.rhs={f}"], (3,))
        plane = ["problem.dimensions=2", "problem.box=16", "problem.boxes=[2,4,1]", "problem.a=1", "problem.boundary=dirichlet",
                 "multigrid.bottom_box=4", "run.deterministic=true", *ONCE]  # fmt: skip
        cells = (32, 64)
        f = self.file("g.npy", numpy_file(cells, at_cells(lambda x, y: linear(x, y, 0), cells)))
        u = self.sides(lambda x, y: linear(x, y, 0), cells, ("x_low", "x_high", "y_low", "y_high"))
        self.same_solves([*plane, "problem.rhs=linear", "problem.data=linear"], [*plane, f"problem.rhs={f}", u], (1, 3))

    def test_missing_boxes_have_no_values(self) -> None:
        boxes = [[0, 0, 0], [1, 0, 0], [2, 0, 0], [2, 1, 0], [2, 1, 1]]
        words = ["problem.box=8", f"problem.shape={boxes}", "problem.boxes=[4,2,2]", "problem.outside=neumann", "problem.a=1",
                 'problem.boundary=["dirichlet","neumann","neumann"]', "run.deterministic=true", *ONCE]  # fmt: skip

        def value(i: int, j: int, k: int) -> float:
            return at_cells(linear, CELLS)(i, j, k) if [i // 8, j // 8, k // 8] in boxes else math.nan

        f = self.file("f.npy", numpy_file(CELLS, value))
        self.file("u_x_high.npy", numpy_file(CELLS[1:], lambda j, k: math.nan))  # no box is there
        u = self.sides(linear, CELLS, ("x_low",))
        self.same_solves([*words, "problem.rhs=linear", "problem.data=linear"], [*words, f"problem.rhs={f}", u], (2,))
        # Inside the domain a missing box has six sides, and no file.
        words[3] = "problem.outside=dirichlet"
        self.refused(1, *words, u, expected=["files have the sides of the box around the domain"])

    def test_other_modes_read_them(self) -> None:
        f = f"problem.rhs={self.file('f.npy', numpy_file(CELLS, lambda i, j, k: (7 * i + 5 * j + 3 * k) % 11 - 5.0))}"
        krylov = [word for word in SMALL if not word.startswith("multigrid")]
        self.valid(2, "run.mode=krylov", *krylov, f)
        self.valid(2, "run.mode=survey", *SMALL, f)
        # Proxy solves take another right-hand side, since theirs are other grids.
        prediction = ["problem.box=8", "problem.boxes=[4,2,2]", "multigrid.bottom_box=4", f, "comm.machine=hopper",
                      "problem.ranks=8", "comm.ranks_per_node=4"]  # fmt: skip
        self.assertIn("seconds", str(self.run_keel(1, "--dry-run", *prediction, quick=False).all_records))

    def test_values_of_other_types_are_converted(self) -> None:
        # Exact in float32, so that the solves are the same.
        def value(i: int, j: int, k: int) -> float:
            return float((7 * i + 5 * j + 3 * k) % 11 - 5)

        f = self.file("f.npy", numpy_file(CELLS, value))
        wanted = self.valid(1, *SMALL, f"problem.rhs={f}").record("solve")
        values = [value(*place) for place in itertools.product(*(range(n) for n in CELLS))]
        for type_, code in ((">f8", ">d"), ("<f4", "<f"), (">f4", ">f")):
            text = f"{{'shape':(32,16,16),'fortran_order':False,'descr':'{type_}'}}".encode()
            head = b"\x93NUMPY\3\0" + struct.pack("<I", len(text)) + text
            g = self.file("g.npy", head + struct.pack(f"{code[0]}{len(values)}{code[1]}", *values))
            remark = f'problem.rhs = "{g}": its values are float32 and are converted to float64'
            for ranks in (1, 2):
                run = self.valid(ranks, *SMALL, f"problem.rhs={g}")
                solve = run.record("solve")
                self.assertEqual((solve["residuals"], solve["u_l2"]), (wanted["residuals"], wanted["u_l2"]))
                self.assertEqual(run.record("run")["remarks"].count(remark), type_[1:] == "f4")

    def test_names_of_files_are_bytes_and_labels_are_text(self) -> None:
        f = self.file(os.fsdecode(b"f\xe9.npy"), numpy_file(CELLS, lambda i, j, k: float(i + j + k)))
        records = self.folder / os.fsdecode(b"r\xe9.json")
        for action in ([], ["--dry-run"]):
            words = [*action, *SMALL, f"problem.rhs={f}", f"output.json={records}"]
            run = self.run_keel(2, *words, records=False)
            self.assertEqual(run.status, 0, run)
            (head,) = (r for r in map(strict_json, records.read_text(encoding="utf-8").split("\n")[:-1]) if r["record"] in ("run", "plan"))
            self.assertTrue(head["deck"]["problem"]["rhs"].endswith("f\ufffd.npy"))
            records.unlink()
        self.refused(1, "--print-deck", *SMALL, f"problem.rhs={f}", expected=["f\ufffd.npy\": a deck is UTF-8, which this name is not"],
                     records=False)  # fmt: skip
        self.refused(2, *SMALL, "problem.rhs=" + os.fsdecode(b"n\xe9.npy"), expected=['problem.rhs = "n\ufffd.npy": cannot be read'])
        self.refused(2, self.folder / os.fsdecode(b"d\xe9.toml"), expected=["/d\\xe9.toml: cannot be read"])
        for label in (b"caf\xe9", b"\xed\xa0\x80", b"\xc0\x80", b"\xf5\x80\x80\x80", b"\xe2\x82"):
            self.refused(2, *SMALL, "run.label=" + os.fsdecode(label), expected=["run.label = ", "must be UTF-8; write it in ASCII"])
        label = "caf\xe9 \u20ac \U0001f600"
        self.assertEqual(self.valid(1, *SMALL, f"run.label={label}").record("run")["label"], label)

    def test_a_file_beside_the_deck_is_found(self) -> None:
        self.file("f.npy", numpy_file(CELLS, at_cells(linear, CELLS)))
        deck = self.file("deck.toml", b'[problem]\nrhs = "f.npy"\n')
        run = self.valid(2, deck, *SMALL)
        self.assertEqual(run.record("run")["deck"]["problem"]["rhs"], str(self.folder / "f.npy"))

    def test_what_does_not_fit_is_refused_with_the_remedy(self) -> None:
        good = numpy_file(CELLS, lambda i, j, k: 1.0)
        f = self.folder / "f.npy"
        for content, complaint in (
            (good[:-8], "has 65528 bytes of values, not 65536; write it anew"),
            (good + b"more", "has 65540 bytes of values, not 65536; write it anew"),
            (numpy_file((16, 16, 32), lambda i, j, k: 1.0), "has the shape (16, 16, 32), not (32, 16, 16), an axis for each direction"),
            (good.replace(b"<f8", b"<i8"), 'has "<i8" for the type of its values, not \'f8\' or \'f4\'; write array.astype(\'f8\')'),
            (good[:6] + b"\4" + good[7:], "has version 4.0 of NumPy's format, not 1.0, 2.0 or 3.0"),
            (b"1.0 2.0 3.0\n" * 100, 'is no array of NumPy; write it by numpy.save("FILE.npy", array)'),
            (numpy_file(CELLS, lambda i, j, k: math.nan if (i, j, k) == (27, 3, 12) else 1.0), "has nan at [27, 3, 12]; give finite numbers alone"),
            (numpy_file(CELLS, lambda i, j, k: math.inf if (i, j, k) == (27, 3, 12) else 1.0, "F"), "has inf at [27, 3, 12]"),
        ):
            f.write_bytes(content)
            for action in ([], ["--dry-run"]):
                self.refused(2, *action, *SMALL, f"problem.rhs={f}", expected=[f'problem.rhs = "{f}": {complaint}'], records=not action)
        u = self.sides(linear, CELLS, ("x_low", "x_high"))
        bad = self.file("u_x_high.npy", numpy_file(CELLS[1:], lambda j, k: math.nan if (j, k) == (9, 2) else 0.0))
        boundary = 'problem.boundary=["dirichlet","neumann","neumann"]'
        self.refused(2, *SMALL, boundary, u, expected=[f"u_{{side}}.npy\": {bad}: has nan at [9, 2, 0]"])
        bad.unlink()
        self.refused(2, *SMALL, boundary, u, expected=[f"{bad}: cannot be read: No such file"])
        os.mkfifo(self.folder / "pipe.npy")
        self.refused(1, *SMALL, f"problem.rhs={self.folder}/pipe.npy", expected=["cannot be read: "])
        self.refused(2, *SMALL, "problem.rhs=none.npy", expected=["none.npy\": cannot be read: No such file or directory; give the path"])
        self.refused(1, "problem.rhs=none.txt", expected=["unknown rhs; choose triangle, wave"])

    def test_where_a_file_has_no_part(self) -> None:
        f = f"problem.rhs={self.file('f.npy', numpy_file(CELLS, lambda i, j, k: 1.0))}"
        self.refused(1, *QUICK, f, expected=["command line: problem.rhs: the rules of the benchmark fix it"])
        deck = self.file("deck.toml", f'[problem]\nrhs = "{self.folder}/f.npy"\n'.encode())
        self.assertIn("problem.rhs (", " ".join(self.planned(1, *QUICK, deck)["remarks"]))
        self.refused(1, *SMALL, f, "run.steps=2", expected=['run.steps = 2: problem.rhs = "file" is the same at all times'])
        self.refused(1, *SMALL, f"output.json={f.partition('=')[2]}", f, expected=["is read by this run; choose another"], records=False)
