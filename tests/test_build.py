"""The build itself: its extensions on pages of three lines, its lock, what its scripts say when a tool is missing."""

import io
import json
import re
import shutil
import socket
import subprocess
import sys
import tomllib
import urllib.request
import warnings
from contextlib import redirect_stderr
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import assemble
import book_fresh
import book_theme
import jupytext
import pytest
import serve
import stage
import yaml
from book_figures import in_page
from book_math import to_mathml
from packaging.requirements import Requirement
from sphinx.cmd.build import build_main
from sphinx.errors import SphinxError

ROOT = Path(__file__).resolve().parent.parent
LOCK = (ROOT / "requirements.lock").read_text()
PINS = dict(re.findall(r"(?m)^([A-Za-z0-9._-]+)==(\S+)", LOCK))  # the last: of the newest Python
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path d="M0 0h1"/></svg>'
CONF = """extensions = ["myst_parser", "book_fresh", "book_math", "book_figures", "book_live"]
myst_enable_extensions = ["dollarmath"]
html_theme = "basic"
"""


def build(folder, text):
    """Build a page with our extensions: the exit code, what was said, and by name each page that was made."""
    (folder / "conf.py").write_text(CONF)
    (folder / "index.md").write_text(text)
    words = ["-q", "-n", "-W", "--keep-going", f"{folder}", f"{folder / '_build/html'}"]
    with (
        redirect_stderr(io.StringIO()) as said,
        warnings.catch_warnings(action="ignore"),  # of Python
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("HANDBOOK_BUILD", "1")  # which an extension sets for good
        code = build_main(words)
    return code, said.getvalue(), {page.stem: page.read_text() for page in (folder / "_build/html").glob("*.html")}


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """Pages built without a warning: `index`, with an equation, a cell's picture and a control; `plain`, with none."""
    folder = tmp_path_factory.mktemp("sound")
    for name, text in {
        "plain.md": "---\norphan: true\n---\n\n# Page\n\nText.\n",
        "_build/jupyter_execute/drawn.svg": SVG,
        "_build/live/live-1.js": "",
        "_build/live/live-1.css": "",
        "_build/live/manifest.json": '{"script": "live-1.js", "style": "live-1.css", "progress": "progress-1.js"}',
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    text = """# Page\n\nWhere $N$ counts:\n\n$$C = 6 N D$$ (eq-c)\n\nSee {eq}`eq-c`.\n
![A line that rises.](_build/jupyter_execute/drawn.svg)\n
```{raw} html\n<section class="what-if"></section>\n```\n"""
    code, said, pages = build(folder, text)
    assert (code, said) == (0, "")
    return pages


@pytest.fixture(scope="module")
def faulty(tmp_path_factory):
    """What the builder says of a page with a fault of each kind."""
    folder = tmp_path_factory.mktemp("faulty")
    (folder / "drawn.svg").write_text(SVG)
    code, said, _ = build(folder, "# Page\n\n$\\unknown{N}$\n\n![](drawn.svg)\n\n{ref}`nowhere`\n")
    assert code == 1
    return said


def test_equations_are_mathml_with_number_and_target(sound):
    page = sound["index"]
    assert '<math alttext="C = 6 N D"' in page
    assert 'id="equation-eq-c"' in page
    assert 'href="#equation-eq-c">(1)</a>' in page
    assert "mathjax@" not in page  # the script's address


def test_a_drawn_picture_stands_in_the_page_under_its_alt_text(sound):
    page = sound["index"]
    assert (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1" role="img" aria-label="A line that rises.">' in page
    )
    assert "<img" not in page


def test_a_page_with_a_control_loads_the_runtime(sound):
    page = sound["index"]
    assert '<script type="module" src="_static/live/live-1.js"></script>' in page
    assert '<link rel="stylesheet" href="_static/live/live-1.css" />' in page
    assert '<script type="module" src="_static/live/progress-1.js"></script>' in page


def test_a_page_without_a_control_loads_no_runtime(sound):
    plain = sound["plain"]
    assert "<p>Text.</p>" in plain
    assert "live/progress-1.js" in plain
    assert "live/live-1." not in plain


@pytest.mark.parametrize(
    "warning",
    [
        r"index.md:3: WARNING: formula cannot be rendered: the command \unknown is not known",
        "picture without alt text: drawn.svg",
        "undefined label: 'nowhere'",
    ],
)
def test_a_fault_in_a_page_fails_the_build(faulty, warning):
    assert warning in faulty


def test_a_picture_that_names_itself_keeps_its_name():
    assert in_page('<?xml?><svg aria-label="x"></svg>', "y") == '<svg aria-label="x"></svg>'


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        (r"3{,}000{,}000", "<mn>3,000,000</mn>"),
        (r"\mathrm{peak}", "<mtext>peak</mtext>"),
        (r"\operatorname{argmin}", "<mtext>argmin</mtext>"),
        (r"\begin{aligned} a &= b \\ c &= d \end{aligned}", '<mtr><mtd columnalign="right"><mi>c</mi></mtd>'),
        (r"\lceil x \rceil", '<mo stretchy="false">&#x02308;</mo>'),
        (r"45\%", "<mtext>&#x00025;</mtext>"),
        ("a < b", 'alttext="a &lt; b"'),
    ],
)
def test_a_formula_is_rendered_as_it_is_meant(latex, expected):
    assert expected in to_mathml(latex, "inline")


@pytest.mark.parametrize(
    ("latex", "reason"),
    [
        (r"\unknown{x}", "unknown is not known"),
        (r"\begin{gather} a \end{gather}", "the environment gather"),
        ("a & b", "outside an aligned environment"),
        (r"a \\ b", "a new line needs"),
        (r"\boxed{a}", "do not draw boxes"),
        ("x_{", "MissingSuperScript"),
    ],
)
def test_a_formula_that_would_lose_a_part_is_refused(latex, reason):
    with pytest.raises(ValueError, match=reason):
        to_mathml(latex, "block")


def test_another_lib_outdates_every_page_and_the_kept_results(tmp_path):
    (tmp_path / "lib/data").mkdir(parents=True)
    app = SimpleNamespace(srcdir=str(tmp_path))
    config, env = SimpleNamespace(), SimpleNamespace(found_docs={"a", "b"})

    def look():
        book_fresh.keep_results_apart(app, config)
        return config.nb_execution_cache_path, book_fresh.outdated(app, env, set(), set(), set())

    first, _ = look()
    assert look() == (first, [])
    (tmp_path / "lib/data/models.toml").write_text("x = 1\n")
    second, outdated = look()
    assert second != first
    assert outdated == {"a", "b"}
    (tmp_path / "book/live").mkdir(parents=True)
    (tmp_path / "book/live/worker.js").write_text("")  # pages name the script by a hash of it
    assert look() == (second, {"a", "b"})
    assert look() == (second, [])


def test_the_oldest_kept_results_go(tmp_path):
    (tmp_path / "lib").mkdir()
    for number in range(book_fresh.KEPT + 2):
        (tmp_path / "lib/a.py").write_text(f"x = {number}\n")
        latest = book_fresh.kept_results(tmp_path)
        book_fresh.drop_oldest(tmp_path)
    kept = list((tmp_path / "_build/cache").iterdir())
    assert len(kept) == book_fresh.KEPT
    assert Path(latest) in kept


def reading(folder, pages, chapters="exit 0", live="exit 0"):
    """How pages of a folder are read beside two parts that a shell's line makes, and what Sphinx tells its handlers."""
    for name, text in pages.items():
        (folder / f"{name}.md").write_text(text)
    parts = [assemble.Part(name, "sh", "-c", line) for name, line in {"chapters": chapters, "live": live}.items()]
    return assemble.Reading(parts), SimpleNamespace(doc2path=lambda name: folder / f"{name}.md")


PLAIN, CELLS = "# Page\n", "---\nfile_format: mystnb\n---\n\n```{code-cell} ipython3\n1\n```\n"


def test_pages_with_cells_are_read_last_and_after_the_chapters_ran(tmp_path, capsys):
    done = tmp_path / "done"
    read, env = reading(tmp_path, {"a": CELLS, "b": PLAIN, "c": CELLS}, chapters=f"sleep 1; touch {done}")
    read.settle(None, env, names := ["a", "b", "c"])
    assert names == ["b", "a", "c"]
    read.begin(None, "b", [PLAIN])
    assert not done.exists()  # a page without cells waits for nothing
    read.begin(None, "a", [CELLS])
    assert done.exists()
    read.end(None, env)
    assert capsys.readouterr().out == "    [  1 of 3] b\n    [  2 of 3] a\n"


@pytest.mark.parametrize("part", ["chapters", "live"])
def test_a_part_that_failed_ends_the_build_also_when_no_page_is_read(tmp_path, part):
    read, env = reading(tmp_path, {}, **{part: "exit 3"})
    with pytest.raises(SphinxError, match=f"{part}: failed"):
        read.end(None, env)
    for each in read.parts:
        each.process.wait(10)


def test_the_theme_keeps_the_icons_that_pages_show_and_no_others():
    style = (book_theme.STATIC / book_theme.STYLE).read_text()
    used = book_theme.icons_used(style)
    kept = {character for _, _, character in book_theme.icon_rules(book_theme.slim_style(style, used))}
    assert "\uf002" in kept  # the magnifying glass of the search
    assert kept <= used
    assert len(used) < 60


def test_a_font_holds_only_the_characters_asked_for(tmp_path):
    book_theme.write_font(tmp_path / "icons.woff", book_theme.ICON_FONT, [0xF002])
    assert (tmp_path / "icons.woff").stat().st_size < 1500


def requirements():
    """What the project names itself."""
    groups = [PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"].values()]
    return [Requirement(line) for group in groups for line in group]


def test_every_locked_package_has_its_hashes_and_none_an_address():
    packages = re.split(r"(?m)^(?=[A-Za-z0-9])", LOCK)[1:]
    assert len(packages) > 100
    assert [entry.split()[0] for entry in packages if "--hash=sha256:" not in entry] == []
    assert "://" not in LOCK


def test_the_lock_meets_every_requirement_of_the_project():
    for wanted in requirements():
        assert wanted.specifier.contains(PINS[wanted.name]), wanted


def chapters(entry):
    """The files that a table of contents names, in order."""
    if isinstance(entry, list):
        return [name for item in entry for name in chapters(item)]
    below = [entry[key] for key in ("parts", "chapters", "sections") if key in entry]
    return [entry[key] for key in ("root", "file") if key in entry] + chapters(below)


def test_every_page_is_in_the_contents():
    named = chapters(yaml.safe_load((ROOT / "_toc.yml").read_text()))
    pages = [path for folder in ("book", "book/api", "notebooks") for path in (ROOT / folder).glob("*.md")]
    assert sorted(named) == sorted(str(path.relative_to(ROOT).with_suffix("")) for path in pages)


def test_every_chapter_is_a_text_notebook():
    for chapter in ROOT.glob("notebooks/*.md"):
        notebook = jupytext.read(chapter)
        assert notebook.metadata["jupytext"]["text_representation"]["format_name"] == "myst", chapter
        assert notebook.metadata["kernelspec"]["name"] == "python3", chapter
        assert any(cell.cell_type == "code" for cell in notebook.cells), chapter


WITHOUT_VENV = f'case "$*" in *ensurepip*) exit 1 ;; esac; exec {sys.executable} "$@"'


@pytest.fixture
def bare(tmp_path):
    """A copy of the scripts, and a PATH with nothing but the shell's own tools."""
    shutil.copytree(ROOT / ".ci", tmp_path / "copy/.ci")
    for name in ("requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / "copy" / name)
    tools, system = tmp_path / "bin", tmp_path / "system"
    tools.mkdir()
    system.mkdir()
    for name in ("sh", "cat", "cksum", "dirname", "grep", "id", "mkdir", "rm", "tail", "tee"):
        (tools / name).symlink_to(shutil.which(name))

    def run(*command, **more):
        env = {"PATH": str(tools), "SYSTEM_BIN": str(system), "HOME": str(tmp_path), **more}
        return subprocess.run(
            command, cwd=tmp_path / "copy", env=env, capture_output=True, text=True, timeout=60, check=False
        )

    def add(name, script, folder=tools):
        (folder / name).write_text(f"#!{shutil.which('sh')}\n{script}\n")
        (folder / name).chmod(0o755)

    return SimpleNamespace(run=run, add=add, system=system)


@pytest.mark.parametrize(
    ("tool", "needs"), [("python", "Python 3.11 or newer"), ("node", "Node 22 or newer"), ("browser", "a browser")]
)
def test_a_missing_tool_is_named_in_one_line(bare, tool, needs):
    done = bare.run(".ci/find", tool)
    assert done.returncode == 1
    assert done.stderr.startswith(f"missing: {needs}")
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_a_name_on_the_path_that_does_not_start_is_passed_over(bare):
    bare.add("python3.13", "exit 127")  # what a version manager leaves there
    bare.add("python3.12", f'exec {sys.executable} "$@"')
    assert bare.run(".ci/find", "python").stdout.endswith("/python3.12\n")


def test_the_systems_own_python_comes_first_if_it_brings_venv(bare):
    bare.add("python3.13", f'exec {sys.executable} "$@"')
    bare.add("python3.11", f'exec {sys.executable} "$@"', bare.system)
    assert bare.run(".ci/find", "python").stdout.endswith("/system/python3.11\n")
    bare.add("python3.11", WITHOUT_VENV, bare.system)
    assert bare.run(".ci/find", "python").stdout.endswith("/bin/python3.13\n")
    named = bare.run(".ci/find", "python", PYTHON=str(bare.system / "python3.11"))
    assert named.stdout.endswith("/system/python3.11\n")


def test_a_python_without_ensurepip_is_named_with_its_package(bare):
    bare.add("python3", WITHOUT_VENV)
    done = bare.run(".ci/setup", "python")
    package = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
    assert done.returncode == 1
    assert done.stderr.startswith("missing: venv and ensurepip")
    assert f"apt-get install {package}" in done.stderr


def test_a_missing_browser_is_an_error_in_a_forge_and_loud_elsewhere(bare):
    elsewhere = bare.run(".ci/setup", "browser")
    assert elsewhere.returncode == 0
    assert "NO BROWSER: the tests of the pages will be skipped" in elsewhere.stdout
    assert bare.run(".ci/setup", "browser", CI="true").returncode == 1


def test_make_alone_lists_the_targets_that_the_readme_speaks_of():
    listed = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True).stdout
    for target in ("serve", "book", "test", "lab", "lint", "bench", "clean", "help", "lock"):
        assert f"make {target}\t" in listed


def test_the_forge_calls_what_a_person_calls():
    assert "run: .ci/run" in (ROOT / ".github/workflows/test.yml").read_text()
    assert (ROOT / ".ci/run").read_text().rstrip().endswith("exec make test")


def test_a_stage_is_ended_with_what_it_started_when_its_time_is_up():
    child = f"{sys.executable} -c 'import time; time.sleep(60)'"
    assert stage.run(0.5, ["sh", "-c", f"{child} & wait"]) == 124
    assert stage.run(10, ["sh", "-c", "exit 3"]) == 3


def test_the_server_takes_the_next_free_port_and_sends_modules_as_such(tmp_path):
    (tmp_path / "a.mjs").write_text("")
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        server = serve.bind(str(tmp_path), port)
    assert port < server.server_port <= port + 100
    Thread(target=server.serve_forever, daemon=True).start()
    with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/a.mjs", timeout=10) as answer:
        assert answer.headers["Content-Type"] == "text/javascript"
        assert answer.headers["Cache-Control"] == "no-cache"
    server.shutdown()
    server.server_close()


def test_the_table_of_packages_is_true():
    """Every package that the project names stands in the table of CONTRIBUTING.md, in the version that is locked."""
    rows = re.findall(
        r"(?m)^\| (\S+?)( \(npm\))? \| (\S+)[^|]* \| [^|]+ \| [^|]+ \|$", (ROOT / "CONTRIBUTING.md").read_text()
    )
    npm = json.loads((ROOT / "book/live/package.json").read_text())
    wanted = (
        {needed.name: PINS[needed.name] for needed in requirements()} | npm["dependencies"] | npm["devDependencies"]
    )
    assert {name: version for name, _, version in rows if name not in ("package", "---")} == wanted


def test_the_answer_in_the_readme_is_the_answer():
    """The command of README.md prints what README.md shows; only the end of the answer may be left out there."""
    command, shown = re.search(r"```console\n\$ (.*)\n((?:.|\n)*?)```", (ROOT / "README.md").read_text()).groups()
    assert command.startswith(".venv/bin/handbook ")
    handbook = Path(sys.executable).parent / "handbook"
    done = subprocess.run([handbook, *command.split()[1:]], capture_output=True, text=True, timeout=60, check=True)
    assert len(shown.splitlines()) > 10
    assert done.stdout.startswith(shown)
