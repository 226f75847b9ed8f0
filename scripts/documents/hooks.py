"""Hooks of MkDocs: they add the pages that do not lie in docs/, and change links."""

import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from documents.layout import ROOT, files_outside_docs, in_site, place_in_site
from studies.views.whatif import page_of, predicted

WHAT_IF = "--dry-run inputs/survey.toml problem.ranks=512 comm.machine=slingshot11"  # as results/scale/page.toml has it


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for path in files_outside_docs(ROOT):
        place = place_in_site(path)
        assert place
        files.append(File.generated(config, place, abs_src_path=str(ROOT / path)))
    files.append(File.generated(config, "what-if.html", content=page_of(predicted(ROOT / "results/scale/whatif.json"), WHAT_IF)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    path = page.file.abs_src_path
    assert path
    return in_site(Path(path).relative_to(ROOT).as_posix(), markdown)
