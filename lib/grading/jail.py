"""Jails: what keeps a submission from the network, from files, from other processes, and from taking the machine.

Each jail is a command that starts the program of `lib.grading.jailed` inside. The program limits memory, processes,
files and CPU time of each inmate by itself; the jail takes away everything else. A jail is as good as the kernel
beneath it: grade where nothing else of value is, and keep that system up to date.
"""

import os
import shutil
import sys
import sysconfig
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import lib
from lib import check

TEMP_BYTES = 16 * 1024**2  # the private temporary folder, in memory
CONTAINER_MEMORY_BYTES = 1024**3
IMAGE = "docker.io/library/python:3.11-slim"
JAIL_UID = 61_000  # the first of those whom an inmate may be where the grader is root
INSIDE = "/grading"  # where the program is, inside
START = f"import sys; sys.path.insert(0, {INSIDE!r}); from jailed.warden import main; sys.path.pop(0); main()"
FLAGS = ("-I", "-S", "-B", "-X", "utf8")  # no environment, no installed packages, no files written
PROGRAM = Path(__file__).parent / "jailed"
LIBRARY = Path(lib.__file__).parent


@dataclass(frozen=True, kw_only=True)
class Jail:
    """A way to start the program of `lib.grading.jailed`: its name, its command, and how to get it.

    Args:
        name: as `handbook course doctor` prints it.
        program: the tool that it takes, as it is on the PATH.
        command: with_lib, uid -> the words of the command.
        advice: how to get it, in a sentence.
        uid: whom the program becomes inside; None where the jail sees to that.
    """

    name: str
    program: str
    command: Callable
    advice: str
    uid: int | None = None

    def __post_init__(self):
        check.text(name=self.name, program=self.program, advice=self.advice)
        if not callable(self.command):
            raise TypeError(f"command ({type(self.command).__name__}): a function that gives the words of a command")
        if self.uid is not None:
            check.integer(uid=self.uid)

    @property
    def installed(self):
        """Whether its tool is on the PATH."""
        return shutil.which(self.program) is not None


def _python():
    """The interpreter itself, not a virtual environment's link to it."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def _bubblewrap(with_lib):
    words = [shutil.which("bwrap") or "bwrap", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    words += ["--unshare-cgroup-try", "--die-with-parent", "--new-session", "--clearenv", "--hostname", "jail"]
    words += ["--setenv", "HOME", "/tmp", "--setenv", "LANG", "C.UTF-8", "--proc", "/proc", "--dev", "/dev"]
    words += [*_system(), *_hidden(), *_seen(PROGRAM, f"{INSIDE}/jailed")]
    words += [*_seen(LIBRARY, "/allowed/lib"), *_without_answers("--tmpfs")] if with_lib else []
    words += ["--perms", "1777", "--size", f"{TEMP_BYTES}", "--tmpfs", "/tmp", "--chdir", "/tmp"]
    words += ["--remount-ro", "/dev", "--remount-ro", "/", *_privileges()]
    return [*words, _python(), *FLAGS, "-c", START]


def _without_answers(option):
    """The rooms of `lib` that hold questions with their solutions, covered."""
    return [word for name in ("exercises", "grading") for word in (option, f"/allowed/lib/{name}")]


def _seen(source, inside):
    """Show a folder or a file read-only; the folders above it may be entered and hold nothing else."""
    above = [word for folder in reversed(Path(inside).parents[:-1]) for word in _folder(f"{folder}")]
    return [*above, "--ro-bind", f"{source}", f"{inside}"]


def _folder(path):
    return ["--perms", "0755", "--dir", path]


def _system():
    """What Python itself needs: the system's libraries and its own folder."""
    cache = "/etc/ld.so.cache"  # where libraries are
    words = ["--ro-bind", "/usr", "/usr", *_folder("/etc"), "--ro-bind-try", cache, cache]
    for name in ("bin", "lib", "lib32", "lib64"):
        folder = f"/{name}"
        if os.path.islink(folder):
            words += ["--symlink", os.readlink(folder), folder]
        elif os.path.isdir(folder):
            words += ["--ro-bind", folder, folder]
    return words if Path(sys.base_prefix).is_relative_to("/usr") else words + _seen(sys.base_prefix, sys.base_prefix)


def _hidden():
    """Take from what is shown: installed packages, the handbook, and the door to calls that no limit covers."""
    shown = ("/usr", sys.base_prefix)
    scheme = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix}
    folders = {sysconfig.get_path(name, vars=scheme) for name in ("purelib", "platlib")}
    folders |= {f"{path}" for path in Path("/usr").glob("lib/python3/dist-packages")}
    folders |= {f"{path}" for path in Path("/usr").glob("local/lib/python3*/*-packages")}
    folders |= {f"{LIBRARY.parent}", sys.prefix} if sys.prefix != sys.base_prefix else {f"{LIBRARY}"}
    words = []
    for folder in sorted(folders):
        if any(Path(folder).is_relative_to(one) for one in shown) and os.path.isdir(folder):
            words += ["--tmpfs", folder, "--remount-ro", folder]
    dynamic = Path(sysconfig.get_path("platstdlib", vars=scheme)) / "lib-dynload"
    for file in sorted(dynamic.glob("_ctypes*.so")):
        words += ["--ro-bind", "/dev/null", f"{file}"]
    return words


def is_root():
    """Whether this process may become somebody else."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _privileges():
    if is_root():  # the program gives up root itself, with these two; a user namespace would leave it root outside
        return ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    return ["--unshare-user", "--uid", "65534", "--gid", "65534"]


def _container(tool):
    def command(with_lib):
        words = [tool, "run", "--rm", "--interactive", "--pull", "never", "--network", "none", "--read-only"]
        words += ["--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--user", "65534:65534"]
        words += ["--memory", f"{CONTAINER_MEMORY_BYTES}", "--memory-swap", f"{CONTAINER_MEMORY_BYTES}"]
        words += ["--pids-limit", "16", "--ipc", "none", "--workdir", "/tmp", "--env", "HOME=/tmp"]
        words += ["--tmpfs", f"/tmp:rw,nosuid,nodev,size={TEMP_BYTES},mode=1777"]
        words += ["--volume", f"{PROGRAM}:{INSIDE}/jailed:ro"]
        words += ["--volume", f"{LIBRARY}:/allowed/lib:ro", *_without_answers("--tmpfs")] if with_lib else []
        return [*words, os.environ.get("HANDBOOK_IMAGE", IMAGE), "python3", *FLAGS, "-c", START]

    return command


def _plain(with_lib):
    start = START.replace(repr(INSIDE), repr(f"{PROGRAM.parent}"))
    return [sys.executable, *FLAGS, "-c", start]


def bubblewrap():
    """The jail of choice: starts in some 10 ms, needs no daemon and no image.

    >>> bubblewrap().name
    'bubblewrap'
    """
    advice = "Debian, Ubuntu: apt-get install bubblewrap; Fedora: dnf install bubblewrap; it needs user namespaces"
    uid = _nobody() if is_root() else None
    return Jail(name="bubblewrap", program="bwrap", command=_bubblewrap, advice=advice, uid=uid)


def _nobody():
    """Somebody who owns nothing; another one for each of the graders that run at the same time."""
    return JAIL_UID + os.getpid() % 4000


def container(tool):
    """A container without network, of rootless podman or of docker.

    Args:
        tool: `podman` or `docker`.

    >>> container("podman").command(False)[:2]
    ['podman', 'run']
    """
    check.choice(("podman", "docker"), tool=tool)
    advice = f"install {tool}, then once: {tool} pull {IMAGE} (another image: set HANDBOOK_IMAGE)"
    return Jail(name=tool, program=tool, command=_container(tool), advice=advice)


def another_user():
    """No jail, but a user who owns nothing: for a machine that is thrown away after one submission. Needs root.

    >>> another_user().name
    'another user'
    """
    advice = "run as root, who alone can become somebody else"
    return Jail(name="another user", program=_PYTHON, command=_plain, advice=advice, uid=_nobody())


_PYTHON = sys.executable or "python3"
NO_JAIL = Jail(name="none", program=_PYTHON, command=_plain, advice="--trust-submissions runs without a jail")


def jails():
    """All ways to jail a submission, the best first.

    >>> [jail.name for jail in jails()]
    ['bubblewrap', 'podman', 'docker']
    """
    return (bubblewrap(), container("podman"), container("docker"))


def jail(name):
    """A jail by its name; `none` is no jail at all.

    Args:
        name: such as "bubblewrap".

    >>> jail("docker").program
    'docker'
    """
    return check.lookup({one.name: one for one in (*jails(), NO_JAIL)}, jail=name)
