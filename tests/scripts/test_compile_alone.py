"""scripts/compile_alone.py: which sources it chooses and how it compiles them."""

import json
import sys
from unittest import mock

import compile_alone
from support import InFolder


class CompileAlone(InFolder):
    def setUp(self) -> None:
        super().setUp()
        self.root = self.folder = self.folder.resolve()
        self.build = self.root / "build"
        for name, text in {
            "base.hpp": "inline int base() { return 1; }\n",
            "above.hpp": '#include "base.hpp"\n',
            "whole.cpp": '#include "above.hpp"\nint whole() { return base(); }\n',
            "lacking.cpp": "int lacking() { return base(); }\n",
        }.items():
            self.file(name, text)
        unity = self.file("build/comm/CMakeFiles/keel_comm.dir/Unity/unity_comm_plans_cxx.cxx",
                          "".join(f'#include "{self.root}/{name}.cpp"\n' for name in ("whole", "lacking")))  # fmt: skip
        command = f"c++ -I{self.root} -o unity.o -c {unity}"
        entry = {"directory": str(self.build), "command": command, "file": str(unity)}
        (self.build / "compile_commands.json").write_text(json.dumps([entry]))
        for patch in (mock.patch.object(compile_alone, "ROOT", self.root), mock.patch("builtins.print")):
            patch.start()
            self.addCleanup(patch.stop)

    def test_changed_sources_and_those_that_include_a_changed_header_are_chosen(self) -> None:
        for changed, expected in (
            ([], {"whole.cpp", "lacking.cpp"}),
            (["above.hpp"], {"whole.cpp"}),
            (["lacking.cpp", "README.md"], {"lacking.cpp"}),
            (["README.md"], set()),
        ):
            self.assertEqual(set(compile_alone.commands(self.build, changed)), expected)

    def test_a_source_that_lives_on_the_includes_of_another_is_found(self) -> None:
        for changed, status in (([], 1), (["above.hpp"], 0), (["lacking.cpp"], 1)):
            with mock.patch.object(sys, "argv", ["compile_alone.py", str(self.build), *changed]):
                self.assertEqual(compile_alone.main(), status)

    def test_a_folder_that_is_no_build_is_refused(self) -> None:
        for words, status in ((["--help"], 0), ([], 2), ([str(self.root)], 2)):
            with mock.patch.object(sys, "argv", ["compile_alone.py", *words]):
                self.assertEqual(compile_alone.main(), status)
