"""cmake/revision.cmake: revision and version in the records are those of these sources, or unknown."""

import os
import shutil
import subprocess
import unittest
from pathlib import Path

from support import InFolder

SCRIPT = Path(__file__).resolve().parents[2] / "cmake/revision.cmake"


@unittest.skipUnless(shutil.which("git") and shutil.which("cmake"), "no git or no cmake")
class Revision(InFolder):
    def setUp(self) -> None:
        super().setUp()
        self.outer = self.folder / "outer"
        self.inner = self.file("outer/keel/in", "@KEEL_REVISION@").parent
        self.git(self.outer)

    def git(self, folder: Path) -> str:
        """Makes a repository of the folder and returns its revision."""
        self.run_git(folder, "init", "-q")
        self.run_git(folder, "add", "in" if folder == self.inner else "keel/in")
        self.run_git(folder, "commit", "-q", "-m", folder.name)
        return self.run_git(folder, "rev-parse", "--short", "HEAD")

    def run_git(self, folder: Path, *words: str) -> str:
        clean = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words]
        return subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True, check=True).stdout.strip()

    def revision(self, **environment: str) -> str:
        result = self.outer.parent / "out"
        command = ["cmake", "-DGIT=git", f"-DSOURCE_DIR={self.inner}", "-DVERSION=1.2.3", f"-DTEMPLATE={self.inner}/in", f"-DRESULT={result}"]
        subprocess.run([*command, "-P", SCRIPT], env=os.environ | environment, cwd=self.outer.parent, check=True)
        return result.read_text().strip()

    def test_an_archive_unpacked_inside_a_repository_has_none(self) -> None:
        self.assertEqual(self.revision(), "unknown")
        self.assertEqual(self.revision(GIT_DIR=f"{self.outer}/.git"), "unknown")

    def test_the_environment_names_no_other(self) -> None:
        own = self.git(self.inner)
        outer = f"{self.outer}/.git"
        self.assertEqual(self.revision(), own)
        self.assertEqual(self.revision(GIT_DIR=outer, GIT_WORK_TREE=str(self.outer), GIT_INDEX_FILE=f"{outer}/index"), own)
        (self.inner / "in").write_text("@KEEL_REVISION@\n\n")
        self.assertEqual(self.revision(), f"{own}-dirty")

    def test_a_working_tree_has_its_own(self) -> None:
        own = self.git(self.inner)
        tree = self.outer.parent / "tree"
        subprocess.run(["git", "worktree", "add", "-q", tree, "HEAD"], cwd=self.inner, check=True)
        self.inner = tree
        self.assertEqual(self.revision(), own)

    def test_the_version_counts_the_commits_after_its_release(self) -> None:
        (self.inner / "in").write_text("@KEEL_VERSION@")
        self.assertEqual(self.revision(), "1.2.3")  # an archive
        self.git(self.inner)
        self.assertEqual(self.revision(), "1.2.3+unknown")  # no commit set the number
        (self.inner / "CMakeLists.txt").write_text("project(Keel VERSION 1.2.3)\n")
        self.run_git(self.inner, "add", "CMakeLists.txt")
        for after in ("", "+1"):
            self.run_git(self.inner, "commit", "-q", "--allow-empty", "-m", "next")
            self.assertEqual(self.revision(), f"1.2.3{after}")
        self.run_git(self.inner, "tag", "v1.2.3")  # set on a later commit
        self.assertEqual(self.revision(), "1.2.3")

    def test_the_digest_is_that_of_all_sources_that_some_build_compiles(self) -> None:
        (self.inner / "in").write_text("@KEEL_SOURCES@")
        (self.inner / "kernels/backends").mkdir(parents=True)
        for name, counts in (("kernels/backends/cuda.cu", True), ("CMakeLists.txt", True), ("docs.md", False)):
            before = self.revision()
            (self.inner / name).write_text("text")
            self.assertEqual(self.revision() != before, counts, name)
        self.assertRegex(self.revision(), "^sha256:[0-9a-f]{16}$")
