#!/usr/bin/env python3
"""Checks that each line of code stands in its room: miniapp -> solvers -> comm -> kernels.

Usage: check_rooms.py [ROOT]. Prints every violation as file:line: what; exit status 1 if there is any.
"""

import re
import sys
from pathlib import Path

ROOMS = ["kernels", "comm", "solvers", "miniapp"]  # each may know those before it

# What may stand only in some places: pattern, where it is allowed (path prefixes), what to say.
ONLY: list[tuple[str, tuple[str, ...], str]] = [
    (r"\bMPI_[A-Z]|<mpi\.h>", ("comm/",), "MPI outside comm/"),
    (r"#\s*pragma omp|\bomp_[a-z]|Kokkos::|\b(cuda|hip)[A-Z]", ("kernels/backends/",),
     "a programming model outside kernels/backends/"),
    (r"std::c(out|err)\b|\bf?printf\(|fmt::print", ("miniapp/",), "printing outside miniapp/"),
    (r"MPI_Wtime|\b(steady|system|high_resolution)_clock|\bnow\(\)", ("kernels/ledger", "miniapp/"),
     "a clock in an algorithm"),
    (r"^\s*#\s*(if|ifdef|ifndef|elif)\b", ("kernels/backends/",), "conditional compilation outside kernels/backends/"),
]


def violations(root: Path) -> list[str]:
    found = []
    for path in sorted(p for room in ROOMS for p in (root / room).rglob("*") if p.suffix in {".hpp", ".cpp", ".cu"}):
        name = path.relative_to(root).as_posix()
        rank = ROOMS.index(name.split("/")[0])
        for number, line in enumerate(path.read_text().splitlines(), 1):
            code = line.split("//")[0]
            include = re.match(r'\s*#\s*include "(\w+)/', code)
            if include and include[1] in ROOMS and ROOMS.index(include[1]) > rank:
                found.append(f"{name}:{number}: {ROOMS[rank]}/ includes a header of {include[1]}/")
            for pattern, allowed, message in ONLY:
                if re.search(pattern, code) and not name.startswith(allowed):
                    found.append(f"{name}:{number}: {message}")
    return found


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    if not all((root / room).is_dir() for room in ROOMS):
        print(f"{root}: not the project: it lacks one of the folders {', '.join(ROOMS)}")
        return 2
    found = violations(root)
    print("\n".join(found) if found else "every line stands in its room")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
