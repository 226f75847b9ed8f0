"""KEEL_FETCH in CMake: what is not found is said with the remedy, or fetched; without the net, from folders made of this system's
headers."""

import json
import os
import shutil
import subprocess
import time
import unittest
from pathlib import Path
from unittest import mock

from support import InFolder

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = Path("/usr/include")
# By the name that FetchContent knows: what CMake finds, and what of the system's headers stands where in the release.
LIBRARIES = {
    "eigen3": ("Eigen3", {"Eigen": "eigen3/Eigen"}),
    "fmt": ("fmt", {"include/fmt": "fmt"}),
    "nlohmann_json": ("nlohmann_json", {"include/nlohmann": "nlohmann"}),
    "tomlplusplus": ("tomlplusplus", {"include/toml++": "toml++"}),
    "catch2": ("Catch2", {"single_include/catch2": "catch2"}),
}
SOURCES = {"fmt": ("format.cc", "os.cc"), "catch2": ("catch_with_main.cpp",)}

NIGHTLY = unittest.skipUnless("KEEL_NIGHTLY" in os.environ, "seconds of CMake: scripts/test --nightly")


@unittest.skipUnless(shutil.which("cmake") and shutil.which("ninja"), "no cmake, or no ninja")
class Fetch(InFolder):
    def configure(self, *options: str) -> subprocess.CompletedProcess[str]:
        none = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{package}=ON" for package, _ in LIBRARIES.values()]
        command = ["cmake", "-S", str(ROOT), "-B", str(self.folder / "build"), "-G", "Ninja", *none, *options]
        environment = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)

    def sources(self) -> list[str]:
        """Options that name folders as the releases have them."""
        options = []
        for name, (_, parts) in LIBRARIES.items():
            tree = self.folder / name
            for part, headers in parts.items():
                if not (INCLUDE / headers).is_dir():
                    self.skipTest(f"no {INCLUDE / headers} here")
                (tree / part).parent.mkdir(parents=True, exist_ok=True)
                (tree / part).symlink_to(INCLUDE / headers)
            for source in SOURCES.get(name, ()):
                (tree / "src").mkdir(exist_ok=True)
                (tree / "src" / source).touch()
            options.append(f"-DFETCHCONTENT_SOURCE_DIR_{name.upper()}={tree}")
        return options

    def test_all_that_is_missing_is_told_at_once_with_the_remedy(self) -> None:
        done = self.configure()
        said = " ".join(done.stderr.split())
        self.assertEqual(done.returncode, 1)
        self.assertIn("Not found: Eigen3 3.4, fmt 9, nlohmann_json 3.11, tomlplusplus 3.3, Catch2 2.13, or newer. Install or load them", said)
        self.assertIn("(-DKEEL_FETCH=ON)", said)

    @NIGHTLY
    def test_without_tests_catch2_is_not_missing(self) -> None:
        without = self.configure("-DKEEL_TESTS=OFF")
        self.assertIn("Not found: Eigen3 3.4, fmt 9, nlohmann_json 3.11, tomlplusplus 3.3, or newer. Install", " ".join(without.stderr.split()))

    def test_what_is_fetched_is_what_is_compiled_with(self) -> None:
        done = self.configure("-DKEEL_FETCH=ON", *self.sources())
        self.assertEqual(done.returncode, 0, done.stderr)
        commands = json.loads((self.folder / "build/compile_commands.json").read_text())
        command = {Path(one["file"]).relative_to(ROOT).as_posix(): one["command"] for one in commands
                   if Path(one["file"]).is_relative_to(ROOT)}  # fmt: skip
        for source, name, part in (
            ("solvers/krylov/s_step/ca_cg.cpp", "eigen3", ""),
            ("miniapp/main.cpp", "fmt", "include"),
            ("miniapp/main.cpp", "nlohmann_json", "include"),
            ("miniapp/deck/deck.cpp", "tomlplusplus", "include"),
            ("tests/main.cpp", "catch2", "single_include"),
        ):
            self.assertIn(f"-isystem {(self.folder / name / part).as_posix()} ", command[source])

    @NIGHTLY
    def test_without_the_net_it_fails_at_once_and_names_the_remedy(self) -> None:
        nobody = {f"{scheme}_proxy": "http://127.0.0.1:9" for scheme in ("http", "https", "HTTPS", "HTTP")}
        with mock.patch.dict(os.environ, nobody):
            begin = time.monotonic()
            done = self.configure("-DKEEL_FETCH=ON", "-DKEEL_TESTS=OFF")
            self.assertLess(time.monotonic() - begin, 60)
        self.assertEqual(done.returncode, 1)
        said = " ".join(done.stderr.split())
        self.assertRegex(said, r"KEEL_FETCH: https://gitlab.com/libeigen/\S+/eigen-3.4.0.tar.gz: .+ Where there is no net, .*-DKEEL_FETCH_FROM=FOLDER")
        self.assertFalse((self.folder / "build/archives/eigen-3.4.0.tar.gz").exists())
        done = self.configure("-DKEEL_FETCH=ON", f"-DKEEL_FETCH_FROM={self.folder}/none")
        self.assertIn(f"KEEL_FETCH: no file {self.folder}/none/eigen-3.4.0.tar.gz. Where there is no net", " ".join(done.stderr.split()))

    @NIGHTLY
    def test_a_library_that_is_not_fetched_is_named(self) -> None:
        done = self.configure("-DKEEL_FETCH=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON")
        self.assertEqual(done.returncode, 1)
        self.assertIn("Not found: ZLIB, which KEEL_FETCH does not fetch. Install it (Debian: zlib1g-dev)", " ".join(done.stderr.split()))

    @NIGHTLY
    def test_an_archive_that_is_another_is_refused(self) -> None:
        for name in ("eigen-3.4.0", "9.1.0", "v3.11.2", "v3.4.0", "v2.13.10"):
            (self.folder / f"{name}.tar.gz").write_text("not what was released")
        done = self.configure("-DKEEL_FETCH=ON", f"-DKEEL_FETCH_FROM={self.folder}")
        self.assertEqual(done.returncode, 1)
        self.assertIn("SHA256 hash of", done.stderr)
