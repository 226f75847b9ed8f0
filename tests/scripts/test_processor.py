"""A program on a processor that lacks what it was compiled for ends with a message, before it uses any of it: the sources of
miniapp/front/processor with features that no processor has, and what a native build compiles them with."""

import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROCESSOR = ROOT / "miniapp/front/processor"
COMPILERS = [name for name in ("g++", "clang++") if shutil.which(name)]
# Two features that every build needs, one that none needs, and by the expression whether the processor has them.
FEATURES = """#define KEEL_FEATURES(F) F(__cplusplus, "common", true) F(__cplusplus, "made-up", {made_up}) F(__NOBODY_NEEDS_IT, "rare", false)
"""
MAIN = """#include <cstdio>
struct Early { Early() { std::puts("initialised"); } } early;
int main() { std::puts("main"); }
"""


@unittest.skipUnless(COMPILERS, "no compiler")
class Processor(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "main.cpp").write_text(MAIN)

    def compiled(self, compiler: str, features: Path, *flags: str) -> list[str]:
        """The program's objects: the comparing one without the flags."""
        objects = []
        for source, more in ((self.folder / "main.cpp", ()), (PROCESSOR / "build_needs.cpp", flags), (PROCESSOR / "processor.cpp", ())):
            objects.append(str(self.folder / f"{source.stem}.o"))
            subprocess.run([compiler, "-std=c++20", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{features}", *more, "-c", source,
                            "-o", objects[-1]], check=True)  # fmt: skip
        return objects

    def run_program(self, compiler: str, features: Path, *flags: str) -> subprocess.CompletedProcess[str]:
        program = self.folder / "program"
        subprocess.run([compiler, *self.compiled(compiler, features, *flags), "-o", program], check=True)
        return subprocess.run([program], capture_output=True, text=True, check=False)

    def test_a_feature_that_is_lacking_ends_the_program_before_anything_is_initialised(self) -> None:
        for compiler in COMPILERS:
            with self.subTest(compiler=compiler):
                (self.folder / "features.hpp").write_text(FEATURES.format(made_up="false"))
                done = self.run_program(compiler, self.folder)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertEqual(done.stderr.splitlines(), [
                    f"keel: the processor of {platform.node()} lacks made-up",
                    "    Keel was compiled for one that has common, made-up",
                    "    compile it on such a node as it is to run on, or for all: cmake -DKEEL_NATIVE=OFF",
                ])  # fmt: skip
                (self.folder / "features.hpp").write_text(FEATURES.format(made_up="true"))
                done = self.run_program(compiler, self.folder)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "initialised\nmain\n", ""))

    @unittest.skipUnless(platform.machine() == "x86_64", "no x86-64")
    def test_flags_of_the_build_are_its_needs(self) -> None:
        """No processor has both FMA4, which was AMD's until 2017, and AVX-512 for neural networks."""
        for compiler in COMPILERS:
            with self.subTest(compiler=compiler):
                done = self.run_program(compiler, PROCESSOR / "x86_64", "-mfma4", "-mavx512vnni")
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertRegex(done.stderr.splitlines()[0], r" lacks .*(fma4|avx512vnni)")
                needs = " ".join(done.stderr.split()).partition("one that has ")[2].partition(" compile it")[0].split(", ")
                self.assertLess({"sse3", "sse4.2", "avx", "avx2", "fma4", "avx512f", "avx512vnni"}, {*needs})
                self.assertNotIn("avx512vbmi", needs)
                self.assertTrue(all(len(line) <= 100 for line in done.stderr.splitlines()), done.stderr)
                for flags in ((), ("-march=native",)):
                    done = self.run_program(compiler, PROCESSOR / "x86_64", *flags)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_lists_of_every_architecture_compile(self) -> None:
        for features in sorted(path.parent for path in PROCESSOR.glob("*/features.hpp")):
            if features.name in ("aarch64", platform.machine()):  # the former reads a list that every Linux has
                self.compiled(COMPILERS[0], features)

    @unittest.skipUnless(shutil.which("cmake") and shutil.which("ninja") and platform.machine() == "x86_64", "no cmake, ninja or x86-64")
    def test_a_native_build_compares_by_code_for_every_processor(self) -> None:
        build = self.folder / "build"
        environment = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        subprocess.run(["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DKEEL_NATIVE=ON", "-DKEEL_TESTS=OFF"],
                       check=True, capture_output=True, env=environment)  # fmt: skip
        last = {}
        for one in json.loads((build / "compile_commands.json").read_text()):
            if Path(one["file"]).is_relative_to(PROCESSOR):
                last[Path(one["file"]).name] = re.findall(r"-march=(\S+)", one["command"])[-1]
                words = shlex.split(one["command"])
                Path(one["directory"], words[words.index("-o") + 1]).parent.mkdir(parents=True, exist_ok=True)
                subprocess.run(words, cwd=one["directory"], check=True)
        self.assertEqual(last, {"build_needs.cpp": "native", "processor.cpp": "x86-64"})
        objects = {path.name.partition(".")[0]: path for path in build.rglob("processor/*.o")}
        symbols = {name: subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
                   for name, path in objects.items()}  # fmt: skip
        self.assertNotRegex(symbols["build_needs"], r" [TtWw] ")  # no code
        self.assertNotRegex(symbols["processor"], r" [WwVvu] ")  # no code that the linker may take from elsewhere
        shown = ["objdump", "-d", "--no-show-raw-insn", objects["processor"]]
        code = subprocess.run(shown, capture_output=True, text=True, check=True).stdout
        self.assertNotRegex(code, r"%[yz]mm|\t(v[a-z]|andn|bextr|blsr|mulx|shlx|shrx|sarx|rorx|popcnt|lzcnt|tzcnt)")
        sections = subprocess.run(["objdump", "-h", objects["processor"]], capture_output=True, text=True, check=True).stdout
        self.assertIn(".init_array.00101", sections)


if __name__ == "__main__":
    unittest.main()
