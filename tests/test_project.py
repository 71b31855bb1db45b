"""The shell of the project agrees with itself: versions, pins, commands, links."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def pins():
    lines = read("constraints.txt").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def requirements():
    groups = PROJECT["dependency-groups"].values()
    grouped = [item for group in groups for item in group if isinstance(item, str)]
    return PROJECT["project"]["dependencies"] + grouped


def test_version_is_the_same_everywhere():
    version = PROJECT["project"]["version"]
    assert re.search(r"^version: (.+)$", read("CITATION.cff"), re.M)[1] == version
    newest = re.search(r"^## (\S+) \((\S+)\)$", read("CHANGELOG.md"), re.M)
    assert newest[1] == version
    assert f'date-released: "{newest[2]}"' in read("CITATION.cff")
    assert f"Version {version}," in read("README.md")


def test_changelog_entries_start_with_their_subject():
    entries = re.findall(r"^- (.*)$", read("CHANGELOG.md"), re.M)
    assert entries
    assert [e for e in entries if not re.match("(code|book|exercise|site): ", e)] == []


def test_constraints_pin_every_package_exactly_and_once():
    assert [pin for pin in pins() if not re.fullmatch(r"[\w.-]+==[\w.]+", pin)] == []
    names = [canonical(pin.split("==")[0]) for pin in pins()]
    assert sorted(set(names)) == sorted(names)


def test_constraints_cover_every_dependency():
    wanted = {canonical(re.match(r"[\w.-]+", r)[0]) for r in requirements()}
    assert wanted - {canonical(pin.split("==")[0]) for pin in pins()} == set()


def test_pre_commit_uses_the_pinned_versions():
    used = re.findall(r"\[([\w-]+==[\w.]+)\]", read(".pre-commit-config.yaml"))
    assert used
    assert set(used) - set(pins()) == set()


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", ".ci/run"])
def test_make_commands_in_the_documents_exist(name):
    targets = set(re.findall(r"^([a-z-]+):", read("Makefile"), re.M))
    code = re.findall(r"`[^`\n]+`|^make .*$", read(name), re.M)
    used = set(re.findall(r"\bmake ([a-z-]+)", "\n".join(code)))
    assert used
    assert used - targets == set()


def test_links_between_the_documents_lead_somewhere():
    links = [
        (name, target)
        for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
        for target in re.findall(r"\]\(([^)#]+)", read(name))
    ]
    assert links
    assert [link for link in links if not (ROOT / link[1]).is_file()] == []


def test_readme_example_prints_what_it_says(capsys):
    code = re.search(r"```python\n(.*?)```", read("README.md"), re.S)[1]
    exec(compile(code, "README.md", "exec"), {})
    said = re.search(r"# (.+)\n$", code)[1]
    assert capsys.readouterr().out == f"{said}\n"
