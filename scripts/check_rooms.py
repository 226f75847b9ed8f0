#!/usr/bin/env python3
"""Checks that each line of code stands in its room: miniapp -> solvers -> comm -> kernels.

Usage: check_rooms.py [ROOT]. Prints every violation as file:line: what; exit status 1 if there is any.
"""

import re
import sys
from pathlib import Path

ROOMS = ["kernels", "comm", "solvers", "miniapp"]  # each may know those before it
SOURCES = {".hpp", ".cpp", ".h", ".cu", ".hip"}

# What may stand only in some places: pattern, where it is allowed (path prefixes), what to say.
ONLY: list[tuple[str, tuple[str, ...], str]] = [
    (r"\bMPI_[A-Z]|#\s*include\s*[<\"](\w+/)*mpi\.h(pp)?[>\"]", ("comm/",), "MPI outside comm/"),
    (r"#\s*pragma\s+omp|\bomp_[a-z]|\bKokkos\b|\bKOKKOS_|\b(cuda|hip)[A-Z]|__global__"
     r"|#\s*include\s*<(omp|cuda|hip|Kokkos_)", ("kernels/backends/",),
     "a programming model outside kernels/backends/"),
    (r"\bstd::(cout|cerr|clog)\b|\b(f|v|vf)?printf\s*\(|\b(fmt|std)::print|\b(puts|fputs|perror)\s*\(", ("miniapp/",),
     "printing outside miniapp/"),
    (r"\bMPI_Wtime\b|\b(steady|system|high_resolution)_clock\b|\bnow\s*\(\s*\)|\bclock_gettime\b|\bomp_get_wtime\b",
     ("kernels/ledger", "kernels/backends/", "miniapp/"), "a clock in an algorithm"),
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


def violations(root: Path) -> list[str]:
    found = []
    for path in sorted(p for room in ROOMS for p in (root / room).rglob("*") if p.suffix in SOURCES):
        name = path.relative_to(root).as_posix()
        rank = ROOMS.index(name.split("/")[0])
        for number, line in enumerate(code_lines(path.read_text(encoding="utf-8")), 1):
            if include := INCLUDE.match(line):
                # Relative to the folder of the file or, as everywhere in Keel, to the top.
                base = path.parent if include[1].startswith(".") else root
                header = (base / include[1]).resolve()
                room = header.relative_to(root).parts[0] if header.is_relative_to(root) else ""
                if room in ROOMS and ROOMS.index(room) > rank:
                    found.append(f"{name}:{number}: {ROOMS[rank]}/ includes a header of {room}/")
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
    print("\n".join(found) if found else "every line stands in its room")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
