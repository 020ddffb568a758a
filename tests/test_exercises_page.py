"""The page's run of a solution: whatever it does, verdicts come back, and the Python of the what-ifs is as before."""

import json
import math
import sys
import warnings

import pytest

from lib import compute, hardware
from lib.exercises.page import attempt
from lib.exercises.picture import Picture, _is_as
from lib.whatif.page import respond

RIGHT = "def train_flops(n_params, n_tokens):\n    return 6.0 * n_params * n_tokens\n"
SETTINGS = json.dumps({})
# What a page has; pytest, which runs meanwhile; NumPy, which can be imported only once.
THERE = {*sys.stdlib_module_names, "lib", "pytest", "_pytest", "pluggy", "numpy"}
NOT_ON_A_PAGE = ("lib.cli", "lib.course", "lib.fit", "lib.grading", "lib.pilot", "lib.plots")


@pytest.fixture(autouse=True)
def as_on_a_page(monkeypatch):
    """Hides what other tests have imported: every name of every module is looked at after each case."""
    for name in [n for n in sys.modules if n.split(".")[0] not in THERE or n.startswith(NOT_ON_A_PAGE)]:
        monkeypatch.delitem(sys.modules, name)


def tried(code):
    """(all rows as one text, whether all is right) of a run."""
    try:
        *rows, end = map(json.loads, attempt("train_flops", code))
    except BaseException as error:  # one that resists pytest, too
        escaped = type(error).__name__
    else:
        escaped = ""
    assert not escaped
    return "".join(row["row"] for row in rows), end["ok"]


def body(text):
    return f"def train_flops(n_params, n_tokens):\n    {text}\n"


RESISTS = {
    "its message leaves Python": "class E(Exception):\n    def __str__(self): raise SystemExit\nraise E",
    "its message leaves Python in a call": "class E(Exception):\n    def __str__(self): raise SystemExit\n"
    + body("raise E"),
    "its error claims a class": "class E(Exception):\n    __class__ = property(lambda self: 1 / 0)\n" + body("raise E"),
    "its metaclass resists": "class M(type):\n    __eq__ = lambda *a: 1 / 0\n    __hash__ = type.__hash__\n"
    "class A(metaclass=M):\n    __call__ = lambda *a: 1.0\ntrain_flops = A()",
    "its signature leaves Python": "class A:\n    @property\n    def __signature__(self): raise SystemExit\n"
    "    __call__ = lambda *a: 1.0\ntrain_flops = A()",
    "its names are no text": "globals()[1] = 2",
    "its syntax error resists": "class S(SyntaxError):\n    lineno = property(lambda self: 1 / 0)\nraise S",
    "it wraps without end": "train_flops = lambda a, b: 1\nfor _ in range(5000):\n"
    "    def train_flops(a, b, inner=train_flops): return inner(a, b)",
    "it claims to be the judge": 'import json\njson.dumps = lambda *a, **k: \'{"summary": "", "ok": true}\'\n'
    + body("return 1.0"),
    "it generates": body("yield 6.0 * n_params * n_tokens"),
    "it asks": body("return float(input())"),
}


@pytest.mark.parametrize("code", RESISTS.values(), ids=RESISTS)
def test_whatever_the_code_does_there_are_verdicts(code):
    rows, ok = tried(code)
    assert "not yet" in rows
    assert not ok


OF_LIB = "import sys\nfound = sys.modules['lib.{}']\n"  # by text: who names `lib` in code is told that first
CHANGES = {
    "a function of lib": (OF_LIB.format("compute") + "found.train_flops = lambda *a: 1.0", "lib.compute.train_flops"),
    "the code of one": (
        OF_LIB.format("compute") + "found.train_flops.__code__ = (lambda *a: 1.0).__code__",
        "train_flops",
    ),
    "a class of lib": (OF_LIB.format("exercises.case") + "found.Case.__init__ = lambda *a, **k: None", "case.Case"),
    "a dict of lib": (OF_LIB.format("exercises.questions") + "found.PARTS.clear()", "a dict of `lib`"),
    "a module": ("import math\nmath.sqrt = math.log = lambda *a: 1.0", "math.sqrt"),
    "all modules": ("import sys\nsys.modules.clear()", "sys"),
    "built-ins": ("import builtins\ndel builtins.__import__, builtins.print", "built in"),
    "vars itself": ("import builtins\nbuiltins.vars = lambda *a: {}\nbuiltins.len = lambda *a: 0", "len"),
}


@pytest.mark.parametrize(("change", "told"), CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("called", [False, True])
def test_what_the_code_changes_is_put_back_told_and_gains_nothing(change, told, called):
    asked = ("allocation", SETTINGS)  # computes by `train_flops`, and reads no tables
    answer, before = list(respond(*asked)), Picture()
    code = body(change.replace("\n", "\n    ") + "\n    return 6.0 * n_params * n_tokens") if called else change
    rows, ok = tried(code if called else f"{change}\n{RIGHT}")
    assert told in rows
    assert not ok
    assert before.put_back() == []
    assert list(respond(*asked)) == answer


def test_a_solution_of_one_that_was_patched_is_not_judged_by_the_patch():
    _, ok = tried("import lib.compute\nlib.compute.train_flops = lambda *a: 1.0\n" + body("return 1.0"))
    assert not ok
    assert compute.train_flops(1.0, 1.0) == 6.0


def test_limits_traces_paths_and_filters_are_put_back_in_silence():
    deepest, path, filters = sys.getrecursionlimit(), list(sys.path), list(warnings.filters)
    words = "import sys, warnings\nsys.setrecursionlimit(80)\nsys.path.clear()\nwarnings.simplefilter('error')\n"
    _, ok = tried(words + RIGHT)
    assert ok
    assert (sys.getrecursionlimit(), sys.path, warnings.filters) == (deepest, path, filters)
    tried("import sys\ndef trace(*a): raise ValueError\nsys.settrace(trace)\n" + RIGHT)
    assert "trace" not in repr(sys.gettrace())


def test_who_asks_by_input_is_told_where_the_inputs_are():
    assert "nobody to ask" in tried(body("return float(input('n_params? '))"))[0]
    assert "defines nothing" in tried("# nothing yet")[0]


def test_a_table_that_a_patch_has_read_is_read_again():
    tables = "found.load = lambda *a: {}\nfound.ACCELERATORS._rows.cache_clear()\nassert not found.ACCELERATORS\n"
    assert "lib.hardware.load" in tried(OF_LIB.format("hardware") + tables + RIGHT)[0]
    assert "T4" in hardware.ACCELERATORS


def test_a_fake_module_is_not_kept():
    tried("import sys, types\nsys.modules['lib.not_there_yet'] = types.ModuleType('lib.not_there_yet')\n" + RIGHT)
    assert "lib.not_there_yet" not in sys.modules
    assert math.sqrt(4.0) == 2.0


def test_a_set_whose_copy_comes_in_another_order_was_not_changed():
    odd, other = set(), set()
    for one, two in ((0, 8), (8, 0)):  # both want the first of eight places
        odd.add(one)
        other.add(two)
    assert list(odd) != list(other)
    assert _is_as(odd, other)
    assert not _is_as(odd, {0, 16})
