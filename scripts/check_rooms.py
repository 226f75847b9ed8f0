#!/usr/bin/env python3
"""Checks that each line of code stands in its room: peers -> miniapp -> solvers -> comm -> kernels, and so on inside the rooms;
that modules of scripts import each other in no circle; and that the sources which documents name are there.

Usage: check_rooms.py [ROOT]. Prints every violation as file:line: what; exit status 1 if there is any. Otherwise the lines of each
house beside its budget.
"""

import ast
import re
import sys
from pathlib import Path

from studies.ending import ended

ROOMS = ["kernels", "comm", "solvers", "miniapp", "peers"]  # each may know those before it
# Inside a room a step, folders or files, may know the steps before it; what stands on one step does not know each other.
# Files at the top of a room that are not named here come before all folders.
STEPS: dict[str, list[tuple[str, ...]]] = {
    "kernels": [("layout",), ("bodies",), ("operations.hpp",), ("timing",), ("backends",)],
    "comm": [("ranks",), ("patterns",), ("plans",), ("carry",), ("reductions",), ("costs",), ("network",)],
    "solvers": [("systems",), ("orthogonalise",), ("anderson",), ("krylov",), ("amg",), ("multigrid",)],
    "miniapp": [("deck",), ("files",), ("setup",), ("report",), ("schemes",), ("prediction",), ("modes",), ("front",), ("main.cpp",)],
    "miniapp/prediction": [("counting",), ("seconds",)],
}
STRANGERS = ["miniapp/modes"]  # the folders in here know none of each other
SOURCES = {".hpp", ".cpp", ".h", ".cu", ".hip"}

# The lines that a reader must own for a subject: its budget, and where they stand (path prefixes). The first that fits has a file.
HOUSES: dict[str, tuple[int, tuple[str, ...]]] = {
    "network mode": (1300, ("comm/network/", "miniapp/modes/network/")),
    "Anderson, fixed points, orthogonalisation": (2700, (
        "solvers/anderson/", "solvers/orthogonalise/", "solvers/multigrid/nonlinear/", "miniapp/modes/grids/fixed_point/")),
    "GPU and Kokkos": (3150, (
        "kernels/backends/cuda/", "kernels/backends/gpu", "kernels/backends/hip/", "kernels/backends/kokkos/",
        "solvers/krylov/single_launch/")),
    "matrices and AMG": (8300, (
        "kernels/bodies/sparse", "comm/ranks/sparse_", "comm/patterns/row_partition", "comm/plans/negotiation", "comm/carry/item_",
        "comm/carry/reverse_", "solvers/systems/sparse/", "solvers/krylov/sparse_", "solvers/amg/", "solvers/multigrid/algebraic/",
        "miniapp/report/amg/", "miniapp/schemes/amg_", "miniapp/modes/spmv/")),
    "prediction, dry runs, simulation": (4400, (
        "kernels/backends/counting/", "kernels/timing/clock_of_simulation", "comm/reductions/tape", "comm/costs/",
        "miniapp/files/machine_file", "miniapp/setup/machine/dry_run", "miniapp/setup/machine/memory",
        "miniapp/setup/machine/simulation", "miniapp/schemes/", "miniapp/prediction/", "miniapp/modes/grids/prediction/",
        "miniapp/modes/grids/grid_dry_run")),
    "grids": (28300, ("kernels/", "comm/", "solvers/", "miniapp/")),
    "tests": (30000, ("tests/",)),
}  # fmt: skip

# Code that may stand only in some places: pattern, where it is allowed (path prefixes), the message.
ONLY: list[tuple[str, tuple[str, ...], str]] = [
    (r"\bMPI_[A-Z]|#\s*include\s*[<\"](\w+/)*mpi\.h(pp)?[>\"]", ("comm/", "peers/"), "MPI outside comm/"),
    # The launch of a whole Krylov solve: it includes a device's block of threads, and beside it the loops of the methods.
    (r"#\s*pragma\s+omp|\bomp_[a-z]|\bKokkos\b|\bKOKKOS_|\b(cuda|hip)[A-Z]|__(global|device|host|shared)__"
     r"|#\s*include\s*(<(omp|cuda|hip|Kokkos_)|\"kernels/backends/gpu/)",
     ("kernels/backends/", "solvers/krylov/single_launch/launch.hpp"),
     "a programming model outside kernels/backends/"),
    (r"\bstd::(cout|cerr|clog)\b|\b(f|v|vf)?printf\s*\(|\b(fmt|std)::print|\b(puts|fputs|perror)\s*\(", ("miniapp/", "peers/"),
     "printing outside miniapp/"),
    (r"\bMPI_Wtime\b|\b(steady|system|high_resolution)_clock\b|\bnow\s*\(\s*\)|\bclock_gettime\b|\bomp_get_wtime\b",
     ("kernels/timing/", "kernels/backends/", "miniapp/", "peers/"), "a clock in an algorithm"),
    (r"#\s*include\s*[<\"](\w+/)*_?HYPRE\w*\.h[>\"]|\bHYPRE_\w", ("peers/structured_solver.cpp", "peers/matrix_solver.cpp"),
     "hypre outside peers/structured_solver.cpp and peers/matrix_solver.cpp"),
    (r"#\s*include\s*[<\"](kinsol|nvector|sundials)/|\bN_V[A-Z]|\bKIN[A-Z][a-z]\w*\(", ("peers/kinsol_solver.cpp",),
     "KINSOL outside peers/kinsol_solver.cpp"),
    (r"#\s*include\s*[<\"](simgrid|smpi)/|\bsimgrid::|\bsmpi_[a-z]", ("kernels/timing/clock_of_simulation.cpp",),
     "SimGrid outside kernels/timing/clock_of_simulation.cpp"),
    (r"#\s*include\s*<caliper/|\bcali_[a-z]", ("kernels/timing/regions_of_caliper.cpp",),
     "Caliper outside kernels/timing/regions_of_caliper.cpp"),
    (r"#\s*include\s*<(nvtx3|roctracer)/|\b(nvtx|roctx)[A-Z]", ("kernels/backends/gpu/runtime.hpp",),
     "ranges of a device outside kernels/backends/gpu/runtime.hpp"),
    (r"^\s*#\s*(if|ifdef|ifndef|elif|else|endif)\b", ("kernels/backends/",),
     "conditional compilation outside kernels/backends/"),
]

# Comments, raw strings, strings, single characters: what is not code.
NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<tag>\w*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.DOTALL)
INCLUDE = re.compile(r"\s*#\s*include\s*\"([^\"]+)\"")


def code_lines(text: str) -> list[str]:
    """The lines without comments and, but for the file names of includes, without what stands in quotes."""

    def blank(match: re.Match[str]) -> str:
        start = text.rfind("\n", 0, match.start()) + 1
        is_include = match[0].startswith('"') and re.match(r"\s*#\s*include", text[start:match.start()])
        return match[0] if is_include else " " + "\n" * match[0].count("\n")

    return NOT_CODE.sub(blank, text).split("\n")


def step(name: str, room: str) -> int:
    """The number of the step, in a room or a folder of one, that a file stands on; -1 at the top of the room. ValueError if on none."""
    place, *rest = name.removeprefix(room + "/").split("/")
    for number, places in enumerate(STEPS.get(room, [])):
        if place in places:
            return number
    if rest and room in STEPS:
        raise ValueError(f"{place}/ has no place in the order of {room}/")
    return -1


def wrong_include(name: str, header: str) -> str | None:
    """Why a file must not include a header, or nothing; both by their paths from the top."""
    room, header_room = name.split("/")[0], header.split("/")[0]
    if header_room not in ROOMS:
        return None
    if header_room != room:
        above = ROOMS.index(header_room) > ROOMS.index(room)
        return f"{room}/ includes a header of {header_room}/" if above else None
    for top in [room for room in STEPS if all(file.startswith(room + "/") for file in (name, header))]:
        place, header_place = (file.removeprefix(top + "/").split("/")[0] for file in (name, header))
        try:
            forbidden = step(header, top) >= max(step(name, top), 0) and place != header_place
        except ValueError:
            return None  # reported of the file that stands there
        if forbidden:
            return f"{top}/{place} includes a header of {top}/{header_place}"
    for top in STRANGERS:
        folders = [Path(file).relative_to(top).parts for file in (name, header) if file.startswith(top + "/")]
        if len(folders) == 2 and all(len(parts) > 1 for parts in folders) and folders[0][0] != folders[1][0]:
            return f"{top}/{folders[0][0]} includes a header of {top}/{folders[1][0]}"
    return None


def missing_sources(root: Path) -> list[str]:
    """Paths in documents, from the top or from a room, that lead to no source; NAME and FAMILY stand for any."""
    found = []
    for document in [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md"))]:
        lines = document.read_text(encoding="utf-8").split("\n") if document.exists() else []
        for number, line in enumerate(lines, 1):
            for path in re.findall(r"`((?:\w+/)+[\w.]+\.(?:hpp|cpp|cu|hip|py))`", line):
                places = [root / path, *(root / room / path for room in ROOMS)]
                if not re.search("NAME|FAMILY", path) and not any(place.exists() for place in places):
                    found.append(f"{document.relative_to(root)}:{number}: there is no {path}")
    return found


def imports(module: str, path: Path, modules: dict[str, Path]) -> dict[str, int]:
    """The modules that a module of scripts/ imports anywhere, each with the first line that does so."""
    found: dict[str, int] = {}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        if isinstance(node, ast.ImportFrom):
            package = module.split(".")[: module.count(".") + (path.stem == "__init__")]
            above = package[: len(package) + 1 - node.level] if node.level else []
            start = ".".join([*above, *filter(None, [node.module])])
            names = [f"{start}.{name}" if f"{start}.{name}" in modules else start for name in names]  # or a name of its own
        for name in names:
            if name in modules and name != module:
                found.setdefault(name, node.lineno)
    return found


def circles(root: Path) -> list[str]:
    """Imports of scripts/ from which a module leads back to itself."""
    top = root / "scripts"
    modules = {".".join(path.relative_to(top).with_suffix("").parts).removesuffix(".__init__"): path for path in top.rglob("*.py")}
    known = {module: imports(module, path, modules) for module, path in modules.items()}

    def leads(start: str, end: str) -> bool:
        seen, left = {start}, [start]
        while left:
            fresh = known[left.pop()].keys() - seen
            seen |= fresh
            left += fresh
        return end in seen

    return [f"{modules[module].relative_to(root)}:{line}: imports {name}, which leads back here"
            for module in sorted(modules) for name, line in known[module].items() if leads(name, module)]


def lines_by_house(root: Path) -> dict[str, int]:
    """The lines of sources, and of the Python of tests."""
    lines = dict.fromkeys(HOUSES, 0)
    for path in sorted(path for room in [*ROOMS, "tests"] for path in (root / room).rglob("*")):
        name = path.relative_to(root).as_posix()
        house = next((house for house, (_, places) in HOUSES.items() if name.startswith(places)), None)
        if house and (path.suffix in SOURCES or (house == "tests" and path.suffix == ".py")):
            lines[house] += path.read_text(encoding="utf-8").count("\n")
    return lines


def violations(root: Path) -> list[str]:
    found = missing_sources(root) + circles(root)
    for path in sorted(p for room in ROOMS for p in (root / room).rglob("*") if p.suffix in SOURCES):
        name = path.relative_to(root).as_posix()
        try:
            for room in STEPS:
                if name.startswith(room + "/"):
                    step(name, room)
        except ValueError as wrong:
            found.append(f"{name}:1: {wrong}")
        for number, line in enumerate(code_lines(path.read_text(encoding="utf-8")), 1):
            if include := INCLUDE.match(line):
                # Relative to the folder of the file or, as everywhere in Keel, to the top.
                base = path.parent if include[1].startswith(".") else root
                header = (base / include[1]).resolve()
                if header.is_relative_to(root) and (wrong := wrong_include(name, header.relative_to(root).as_posix())):
                    found.append(f"{name}:{number}: {wrong}")
            for pattern, allowed, message in ONLY:
                if re.search(pattern, line) and not name.startswith(allowed):
                    found.append(f"{name}:{number}: {message}")
    return found


def main() -> int:
    root = (Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    if not all((root / room).is_dir() for room in ROOMS):
        print(f"{root}: not the project: it lacks one of the folders {', '.join(ROOMS)}")
        return 2
    found = violations(root)
    if found:
        print("\n".join(found))
        return 1
    print("every line stands in its room")
    for house, lines in lines_by_house(root).items():
        print(f"{lines:7,} lines of {HOUSES[house][0]:6,}: {house}")
    return 0


if __name__ == "__main__":
    sys.exit(ended(main))
