"""scripts/setup: which packages it installs, on distributions that stand in for Debian 12 and Ubuntu 24.04."""

import os
import subprocess
from pathlib import Path

from support import InFolder

ROOT = Path(__file__).resolve().parents[2]
LISTS = [ROOT / "scripts" / name for name in ("packages.txt", "packages_backends.txt")]
LISTED = {line.split()[0] for path in LISTS for line in path.read_text().splitlines() if line and line[0] != "#"}


class Setup(InFolder):
    def setUp(self) -> None:
        super().setUp()
        (self.folder / "kokkos-4.7.0").mkdir()  # built before

    def installed(self, known: set[str], *options: str, **environment: str) -> list[str]:
        """The packages that are installed where nothing is, and these are to be had."""
        (self.folder / "known").write_text("\n".join(sorted(known)) + "\n")
        (self.folder / "there").write_text("")
        for name, text in {
            "id": "echo 0", "python3": "exit 1",
            "dpkg-query": f'grep -qx -- "${{@: -1}}" {self.folder}/there && echo installed',
            "apt-cache": f'grep -qx -- "$2" {self.folder}/known',
            "apt-get": f"""[[ $1 == update ]] && exit
for package in "${{@:5}}"; do grep -qx -- "$package" {self.folder}/known || exit 100; done
printf '%s\\n' "${{@:5}}" >>{self.folder}/there""",
        }.items():
            self.program(name, f"#!/usr/bin/env bash\n{text}\n")
        path = {"PATH": f"{self.folder}:{os.environ['PATH']}", "KEEL_DEPS": str(self.folder)}
        for name in ("CXX", "KEEL_MPI"):
            os.environ.pop(name, None)
        done = subprocess.run([ROOT / "scripts/setup", *options], capture_output=True, text=True, check=False,
                              env={**os.environ, **path, **environment})  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return (self.folder / "there").read_text().split()

    def test_packages_of_other_names_are_those_of_the_distribution(self) -> None:
        everywhere = {name for name in LISTED if "|" not in name}
        for there, gone in (("rocm-device-libs", "rocm-device-libs-17"), ("rocm-device-libs-17", "rocm-device-libs")):
            found = self.installed(everywhere | {there}, "--all")
            self.assertIn(there, found)
            self.assertNotIn(gone, found)
            self.assertLessEqual({"clang-16", "libomp-16-dev", "libclang-rt-16-dev", "mpich", "libmpich-dev", "libhypre-dev"}, set(found))
            self.assertEqual(len(found), len(set(found)))

    def test_without_root_it_prints_what_running_needs_and_ways_without(self) -> None:
        for name, text in (("id", "echo 1000"), *((name, "exit 1") for name in ("sudo", "g++", "python3", "dpkg-query"))):
            self.program(name, f"#!/bin/sh\n{text}\n")
        path = {"PATH": f"{self.folder}:{os.environ['PATH']}"}
        for options, fetch, wanted, others in (
            (["--run"], {"KEEL_FETCH": "ON"}, "To build and run: g++ zlib1g-dev\n", False),
            ([], {}, "To build and run: g++ libeigen3-dev libtomlplusplus-dev nlohmann-json3-dev libfmt-dev zlib1g-dev\nTo write studies: p", True),
        ):
            done = subprocess.run([ROOT / "scripts/setup", *options], capture_output=True, text=True, check=False, env=os.environ | path | fetch)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(wanted, done.stderr)
            self.assertEqual("\nTo test: catch2 " in done.stderr, others)
            self.assertRegex(done.stderr, r"(?s)install with: sudo apt-get .*\nWithout root:\n.*KEEL_FETCH=ON .*pip install .*Spack")

    def test_the_environment_chooses_compiler_and_mpi(self) -> None:
        found = self.installed(LISTED | {"clang-16", "libomp-16-dev"}, CXX="clang++-16")
        self.assertLessEqual({"clang-16", "libomp-16-dev", "libclang-rt-16-dev"}, set(found))
        self.assertNotIn("g++", found)
        self.assertEqual({"clang-16", "hipcc"} & set(self.installed(LISTED)), set())

