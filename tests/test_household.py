"""The household: locks, documents, tasks and fragments agree with the code and name no machine."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from goldseam.repair.result import ExitCode

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "goldseam"
LOCKS = sorted(path.name for path in (ROOT / "requirements").glob("*.txt"))
DOCUMENTS = sorted(
    path for folder in (".", "decisions", "docs") for path in (ROOT / folder).glob("*.md")
)

# Hosts that a document may name, and those that stand for no real place; no package index.
HOSTS = re.compile(
    r"www\.apache\.org|docs\.python\.org|github\.com|keepachangelog\.com|semver\.org"
    r"|ai\.google\.dev"  # stands in a vendor's own error, which its simulator gives word for word
    r"|[\d.]+|\[[^\s]*|a\.\.b"  # addresses, good and broken, that the checks of URLs are tried with
    r"|[\w-]+|127\.0\.0\.1|\[::1\]|.*\.(?:invalid|test|localhost)|(?:.*\.)?example(?:\.com|\.org|\.net)?\.?"
)
WEB_TESTS = "tests/tools/web/"  # name this machine's address in all its disguises
CATALOG = "src/goldseam/models/catalog.toml"  # names the hosts of models: that is what it is for
HOST = re.compile(r"https?://(?:[^\s/@\"'`]*@)?(\[[^\s\]]*\]|[^\s/:\"'`<>(){}\\]+)")
INDEX_OPTION = re.compile(
    r"^\s*(?:-i\b|-f\b|--?(?:extra-)?index|--find-links|--trusted)", re.MULTILINE
)
INDEX_HOST = re.compile(r"\bpypi\.(?:org|python)|pythonhosted|\bmirrors?\.\w+\.\w+", re.IGNORECASE)


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def git(*arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout


def kept_files() -> list[Path]:
    """Return every file that is, or could be, committed."""
    names = git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def texts() -> dict[str, str]:
    found: dict[str, str] = {}
    for path in kept_files():
        content = path.read_bytes()
        if b"\0" not in content:
            found[path.relative_to(ROOT).as_posix()] = content.decode("utf-8", "replace")
    return found


def direct_requirements() -> dict[str, list[str]]:
    """Return the direct requirements: those of the package, and those of its developers."""
    configuration = tomllib.loads(text_of(ROOT / "pyproject.toml"))
    runtime = configuration["project"]["dependencies"]
    return {"runtime": runtime, "dev": runtime + configuration["dependency-groups"]["dev"]}


def entries(lock: str) -> dict[str, str]:
    """Return the text of each requirement in the file `lock`, by name."""
    parts = re.split(r"^([\w.-]+)(?===)", text_of(ROOT / "requirements" / lock), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def pins(lock: str) -> dict[str, str]:
    return {name: entry.split()[0].removeprefix("==") for name, entry in entries(lock).items()}


@pytest.mark.parametrize("lock", LOCKS)
def test_each_requirement_has_a_hash_and_nothing_names_where_it_comes_from(lock: str) -> None:
    text = text_of(ROOT / "requirements" / lock)
    found = entries(lock)
    assert found != {}
    hashed = re.compile(r"--hash=sha256:[0-9a-f]{64}")
    assert [name for name, entry in found.items() if not hashed.search(entry)] == []
    assert INDEX_OPTION.findall(text) == []
    assert "://" not in text


@pytest.mark.parametrize("name", ["runtime", "dev"])
def test_the_lock_is_as_new_as_the_project(name: str) -> None:
    wanted = {want.name: want.specifier for want in map(Requirement, direct_requirements()[name])}
    pinned = pins(f"{name}.txt")
    assert {
        name
        for name, specifier in wanted.items()
        if name not in pinned or not specifier.contains(pinned[name])
    } == set()
    direct = {
        name for name, entry in entries(f"{name}.txt").items() if "goldseam (pyproject" in entry
    }
    assert direct == set(wanted)


def test_developers_run_what_users_run() -> None:
    assert pins("runtime.txt").items() <= pins("dev.txt").items()


def test_the_lock_of_uv_itself_is_never_kept() -> None:
    assert git("check-ignore", "uv.lock").strip() == "uv.lock"
    assert git("ls-files", "uv.lock") == ""


def test_no_file_names_a_host_beyond_a_few_documents() -> None:
    strangers = {
        f"{name}: {host}"
        for name, text in texts().items()
        if name != CATALOG and not name.startswith(WEB_TESTS)
        for host in HOST.findall(text)
        if not HOSTS.fullmatch(host)
    }
    assert strangers == set()


def test_no_file_names_a_package_index() -> None:
    own = Path(__file__).relative_to(ROOT).as_posix()
    named = {
        name
        for name, text in texts().items()
        if name != own and INDEX_HOST.search(text) is not None
    }
    assert named == set()


def test_no_file_names_the_folder_it_was_written_in() -> None:
    here = re.compile(rf"(?<![\w.]){re.escape(str(ROOT))}(?!\w)")
    assert [name for name, text in texts().items() if here.search(text)] == []


def test_a_wheel_leaves_out_no_file_of_the_package() -> None:
    """The build takes the whole of `src/goldseam` but what git ignores."""
    build = tomllib.loads(text_of(ROOT / "pyproject.toml"))["tool"]["hatch"]["build"]
    assert build["targets"]["wheel"] == {"packages": ["src/goldseam"]}
    files = [
        path.relative_to(ROOT).as_posix()
        for path in SOURCE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    ]
    assert git("check-ignore", "--no-index", *files) == ""


def targets() -> set[str]:
    return set(re.findall(r"^([a-z]+):", text_of(ROOT / "Makefile"), re.MULTILINE))


def test_each_task_that_is_written_of_is_there() -> None:
    told = "\n".join(text_of(path) for path in [*DOCUMENTS, ROOT / ".ci" / "run"])
    named = set(re.findall(r"(?:`|^\s*|run )make ([a-z]+)", told, re.MULTILINE))
    assert {"setup", "demo", "test", "check", "bench"} <= named <= targets()


def test_help_names_each_task() -> None:
    done = subprocess.run(
        ["make", "--no-print-directory", "help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert {line.split()[1] for line in done.stdout.splitlines()} == targets()


@pytest.mark.parametrize("document", ["README.md", "README.zh.md"])
def test_the_exit_codes_are_documented_as_they_are(document: str) -> None:
    rows = re.findall(r"^\| (\d) \| `(\w+)` \|", text_of(ROOT / document), re.MULTILINE)
    assert dict(rows) == {str(code.value): code.name.lower() for code in ExitCode}


def test_the_architecture_has_a_line_for_each_module() -> None:
    """`make modules` writes them from the first line of each module."""
    done = subprocess.run(
        [sys.executable, "scripts/modules.py"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert text_of(ROOT / "ARCHITECTURE.md").partition("<!-- modules -->\n\n")[2] == done.stdout


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_a_link_leads_somewhere(document: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)", text_of(document))
    assert [link for link in links if not (document.parent / link).exists()] == []


def fragments() -> list[Path]:
    return [path for path in (ROOT / "newsfragments").iterdir() if path.name != ".gitignore"]


def test_each_news_fragment_is_a_sentence_under_a_known_heading() -> None:
    kinds = tomllib.loads(text_of(ROOT / "pyproject.toml"))["tool"]["towncrier"]["type"]
    kind = "|".join(each["directory"] for each in kinds)
    named = re.compile(rf"(?:\d+|\+[a-z0-9-]+)\.(?:{kind})\.md")
    assert [path.name for path in fragments() if not named.fullmatch(path.name)] == []
    sentence = re.compile(r"[A-Z`].*[.]\n", re.DOTALL)
    assert [path.name for path in fragments() if not sentence.fullmatch(text_of(path))] == []


def test_the_changelog_has_room_for_the_next_release() -> None:
    configuration = tomllib.loads(text_of(ROOT / "pyproject.toml"))["tool"]["towncrier"]
    assert text_of(ROOT / "CHANGELOG.md").count(configuration["start_string"]) == 1


def test_each_decision_says_what_why_and_what_was_given_up() -> None:
    parts = ("**Choice.**", "**Why.**", "**Given up.**")
    short_of = {
        path.name
        for path in (ROOT / "decisions").glob("*.md")
        if path.name != "README.md" and not all(part in text_of(path) for part in parts)
    }
    assert short_of == set()
