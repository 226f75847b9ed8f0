#!/usr/bin/env python3
"""Writes what an installation has besides executables, inputs and scripts: pages whose links hold, man pages, completion.

    packaging/installed.py KEEL FOLDER    into folders doc, man1, bash and zsh of FOLDER, which is made anew

Keys, their values and the options are those that KEEL prints. Exit status: 0; 1 where KEEL does not start: only pages then.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))
from documents.layout import files_outside_docs, in_site, place_in_site  # noqa: E402
from namespaces.command import parser as hosts  # noqa: E402
from studies.benchmark_result import parser as check_result  # noqa: E402
from studies.command import parser as study  # noqa: E402
from studies.execute.simulate import parser as simulate  # noqa: E402
from studies.keys import Key, keys_of  # noqa: E402
from studies.layout import INPUTS, as_installed  # noqa: E402
from studies.views.command import parser as report  # noqa: E402

COMMANDS = {"keel-study": study, "keel-report": report, "keel-simulate": simulate, "keel-hosts": hosts,
            "keel-check-result": check_result}  # fmt: skip
LAUNCHERS = ("mpiexec", "mpirun", "srun")  # a command behind these is completed, too
ABOUT = "proxy application for geometric multigrid, bottom Krylov solvers and communication schemes"
ENVIRONMENT = """  KEEL_DATA  folder with machines/, platforms/, sites/, studies/ and decks of your own
  OMP_NUM_THREADS  threads of a rank; by default the processors that ranks share"""


def names(folder: str) -> list[str]:
    return sorted(path.stem for path in (INPUTS / folder).rglob("*.toml"))


def words_of(key: Key) -> list[str]:
    """The words that its value may be."""
    if key.allowed == "text":
        return names("machines") if key.name == "comm.machine" else []
    return [*(word for word in re.split(r", (?:or )?", key.allowed) if re.fullmatch(r"[A-Za-z][\w/]*", word)), "default"]


def write_pages(folder: Path) -> None:
    """The pages of the site as Markdown. Of a link to a file that is no page the text stays, of a deck the name alone."""
    docs = (path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/**/*") if path.is_file())
    for source in [*files_outside_docs(ROOT), *docs]:
        page = folder / (place_in_site(source) or source)
        page.parent.mkdir(parents=True, exist_ok=True)
        if source.endswith(".md"):
            text = as_installed(in_site(source, (ROOT / source).read_text(encoding="utf-8")))
            page.write_text(re.sub(r"(?<![\w/.])inputs/((?:papers/)?\w+\.toml)", r"\1", text), encoding="utf-8")
        elif not source.endswith(".css"):
            shutil.copyfile(ROOT / source, page)


def roff(text: str) -> str:
    """The text with all its characters as they are."""
    return re.sub(r"(?m)^([.'])", r"\\&\1", text.replace("\\", r"\e").replace("-", r"\-"))


def row(line: str) -> str:
    """A row of a list: a word, and behind the last wide gap its meaning."""
    found = re.fullmatch(r"(.*\S) {2,}(\S.*)", line)
    word, meaning = found.groups() if found else (line, "")
    return f".TP\n\\fB{roff(re.sub(' +', ' ', word))}\\fR\n{roff(meaning)}".rstrip()


def lines_of(block: str) -> Iterator[str]:
    """A block of a help text: a heading, paragraphs, and lists of rows that are indented or begin with an option."""
    lines = block.splitlines()
    least = min((len(line) - len(line.lstrip()) for line in lines if line[0] == " "), default=0)
    in_paragraph = False
    for line in lines:
        listed = line[0] in " -"
        if re.fullmatch("[a-z ]+:", line):
            yield f'.SS "{line[:-1]}"'
        elif not listed:
            yield roff(line) if in_paragraph else f".PP\n{roff(line)}"
        elif line[0] == " " and len(line) - len(line.lstrip()) > (0 if lines[0][0] == "-" else least + 4):
            yield roff(line.strip())
        else:
            yield row(line.strip())
        in_paragraph = not listed


def roff_of(text: str) -> str:
    return "".join(f"{line}\n" for block in text.strip("\n").split("\n\n") for line in lines_of(block))


def man_page(name: str, version: str, about: str, sections: dict[str, str]) -> str:
    text = f'.TH {name.upper()} 1 "" "Keel {version}" "User Commands"\n.SH NAME\n{name} \\- {roff(about)}\n'
    text += "".join(f'.SH "{roff(title)}"\n{content}' for title, content in sections.items())
    also = ",\n".join(f"\\fB{roff(one)}\\fR(1)" for one in ("keel", *COMMANDS) if one != name)
    return f"{text}.SH SEE ALSO\n{also}\n"


def man_of_keel(help_text: str, keys: list[Key], version: str) -> str:
    usage, about, modes, _, options, status = help_text.strip().split("\n\n")  # the fourth: keys to begin with
    listed: dict[str, str] = {}
    for key in keys:
        section = key.name.partition(".")[0]
        entry = f".TP\n\\fB{key.name}\\fR = {roff(key.default)} ({roff(key.allowed)})\n{roff(key.meaning)}\n"
        listed[section] = listed.get(section, f'.SS "[{section}]"\n') + entry
    sections = {
        "SYNOPSIS": ".nf\n" + roff(re.sub(r"(?m)^(usage:)? +", "", usage)) + "\n.fi\n",
        "DESCRIPTION": roff_of(about),
        "OPTIONS": roff_of(options),
        "MODES": roff_of(re.sub(r"(?m)^  (\w+) +", r"  \1  ", modes.partition("\n")[2])),
        "KEYS OF DECKS": "".join(listed.values()),
        "EXIT STATUS": roff_of(status.removeprefix("Exit status: ")),
        "ENVIRONMENT": roff_of(ENVIRONMENT),
    }
    return man_page("keel", version, ABOUT, sections)


def verbs_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    actions = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return next((dict(action.choices) for action in actions), {})


def man_of_command(name: str, parser: argparse.ArgumentParser, version: str) -> str:
    about = as_installed(parser.description or "")
    parser.description = None
    sections = {"DESCRIPTION": roff_of(about.partition("\n")[2])} if "\n" in about else {}
    for verb, one in (verbs_of(parser) or {"": parser}).items():
        usage = ".PP\n" + roff(" ".join(one.format_usage().split()).removeprefix("usage: ")) + "\n"
        one.usage = argparse.SUPPRESS
        sections[verb.upper() or "OPTIONS"] = as_installed(usage) + roff_of(as_installed(one.format_help()))
    return man_page(name, version, about.partition("\n")[0].rstrip("."), sections)


# Functions that bash and zsh both understand.
WORDS = """# From the keys and options of Keel {version}, by packaging/installed.py.
_keel_values() {{ # a key; prints the words that its value may be
    case $1 in
{values}
    *) echo default ;;
    esac
}}

_keel_words() {{ # a command, the word before, the first word if it is complete; prints what may follow
    case "$1 $2" in
    "keel --keys" | "keel --help" | "keel -h") echo "all {topics}" && return ;;
    "keel --tables") echo "keys solvers backends" && return ;;
    *" --site") echo "{sites}" && return ;;
    *" --machine") echo "{machines}" && return ;;
    *" --platform") echo "{platforms}" && return ;;
    esac
    case "$1 $3" in
    "keel "* | "keel-simulate "*) echo "{keys} {decks}" ;;
    "keel-study plan" | "keel-study write") echo "{studies}" ;;
{verbs}
    esac
}}

_keel_options() {{ # a command and its first word
    case "$1 $2" in
{options}
    esac
}}
"""
BASH = """
_keel() {
    local line=${COMP_LINE:0:COMP_POINT} name=${COMP_WORDS[0]##*/} first='' key='' word words
    word=${line##*[[:space:]]}
    ((COMP_CWORD == 1)) || first=${COMP_WORDS[1]}
    case $word in
    -*) words=$(_keel_options "$name" "$first") ;;
    [a-z]*.*=*) key=${word%%=*} word=${word#*=} && words=$(_keel_values "$key") ;;
    *) words=$(_keel_words "$name" "${COMP_WORDS[COMP_CWORD - 1]}" "$first") ;;
    esac
    mapfile -t COMPREPLY < <(
        compgen -W "$words" -- "$word"
        # No file stands in place of an option, a value, or the first word of a command that has verbs.
        [[ -n $key || $word == -* || ( -z $first && -n $words && $words != *=* ) ]] && exit
        compgen -d -S / -- "$word"
        compgen -f -- "$word" | grep -E '[.](toml|json|jsonl)$'
    )
    # Readline replaces what stands behind the =, unless = is set to part no words.
    [[ -z $key || $COMP_WORDBREAKS == *=* ]] || COMPREPLY=("${COMPREPLY[@]/#/$key=}")
    [[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *[=/] ]] || compopt -o nospace 2>/dev/null
    return 0
}

_keel_behind() { # a launcher: from Keel's command on, as if that began the line
    local place
    for ((place = 1; place < COMP_CWORD; place++)); do
        if [[ ${COMP_WORDS[place]##*/} =~ ^keel(-[a-z-]+)?$ ]]; then
            local COMP_WORDS=("${COMP_WORDS[@]:place}") COMP_CWORD=$((COMP_CWORD - place))
            _keel
            return
        fi
    done
}
"""
BEHIND = """\
for launcher in {}; do # unless a batch system brings its own
    complete -p "$launcher" >/dev/null 2>&1 || complete -o default -F _keel_behind "$launcher"
done
unset launcher
"""
ZSH = """
if [[ $service != keel* ]]; then
    # Behind a launcher: from Keel's command on.
    local place=${words[(i)(*/|)keel(|-[a-z-]#)]}
    (( place < CURRENT )) || { _default; return }
    words=("${(@)words[place,-1]}")
    (( CURRENT -= place - 1 ))
    service=${words[1]:t}
fi
local -a found
case $PREFIX in
-*)
    found=(${=$(_keel_options $service "$words[2]")})
    compadd -- $found
    ;;
[a-z]*.*=*)
    found=(${=$(_keel_values ${PREFIX%%=*})})
    compset -P '*='
    compadd -- $found || _files
    ;;
*)
    local first=
    (( CURRENT > 2 )) && first=$words[2]
    found=(${=$(_keel_words $service "$words[CURRENT-1]" "$first")})
    compadd -S '' -- ${(M)found:#*=}
    compadd -- ${found:#*=}
    [[ -z $first && ${#found} -gt 0 && -z "${(M)found:#*=}" ]] || _files -g '*.(toml|json|jsonl)'
    ;;
esac
"""


def completion(help_text: str, keys: list[Key], version: str) -> str:
    """The functions of WORDS."""
    first = {name: parser() for name, parser in COMMANDS.items()}
    options = {'"keel "*': sorted({*re.findall(r"(?<![\w-])--[a-z][a-z-]+", help_text), "--print-deck=changed"})}
    for name, parser in first.items():
        for verb, one in (verbs_of(parser) or {"": parser}).items():
            options[f'"{name} {verb}"' + ("" if verb else "*")] = sorted(one._option_string_actions)
    sections = dict.fromkeys(key.name.partition(".")[0] for key in keys)
    return WORDS.format(
        version=version,
        values="\n".join(f"    {key.name}) echo \"{' '.join(words_of(key))}\" ;;" for key in keys if words_of(key) != ["default"]),
        topics=" ".join([*sections, *(key.name for key in keys)]),
        keys=" ".join(f"{key.name}=" for key in keys),
        decks=" ".join(sorted(path.name for path in INPUTS.glob("*.toml"))),
        verbs="\n".join(f"    \"{name} \") echo \"{' '.join(verbs_of(parser))}\" ;;" for name, parser in first.items() if verbs_of(parser)),
        options="\n".join(f"    {case}) echo \"{' '.join(words)}\" ;;" for case, words in options.items()),
        **{folder: " ".join(names(folder)) for folder in ("machines", "platforms", "sites", "studies")},
    )  # fmt: skip


def write_texts(keel: str, folder: Path) -> None:
    """Man pages and completion. Raises OSError or CalledProcessError if keel does not start."""

    def told(*words: str) -> str:
        return subprocess.run([keel, *words], check=True, capture_output=True, text=True).stdout

    version, help_text, keys = told("--version").split()[1], told("--help"), keys_of(told("--tables", "keys"))
    for name in ("man1", "bash", "zsh"):
        (folder / name).mkdir()
    (folder / "man1/keel.1").write_text(man_of_keel(help_text, keys, version))
    for name, parser in COMMANDS.items():
        (folder / f"man1/{name}.1").write_text(man_of_command(name, parser(), version))
    for name in (*COMMANDS, *LAUNCHERS):
        (folder / f"bash/{name}").symlink_to("keel")
    words, every, launchers = completion(help_text, keys, version), " ".join(["keel", *COMMANDS]), " ".join(LAUNCHERS)
    (folder / "bash/keel").write_text(f"{words}{BASH}complete -o default -F _keel {every}\n{BEHIND.format(launchers)}")
    (folder / "zsh/_keel").write_text(f"#compdef {every} {launchers}\n{words}{ZSH}")


def main(keel: str, folder: Path) -> int:
    os.environ["COLUMNS"] = "78"  # argparse breaks lines there
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    write_pages(folder / "doc")
    try:
        write_texts(keel, folder)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"{error}: no man pages and no completion; install again where keel starts", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
