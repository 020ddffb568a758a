"""Kernels for pages: forked from a process that has imported what most of them need, half of their time otherwise.

Every page still has a process of its own, in which none of its names and nothing of `lib` is there beforehand.
"""

import gc
import os
import sys
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import get_context
from unittest import mock

FORK = get_context("fork")
PATH = sys.path[1:]  # without the folder of the script that was started
PRELOADED = (
    *("ipykernel.debugger", "ipykernel.kernelapp", "ipywidgets"),
    *("matplotlib.backends.backend_svg", "matplotlib.pyplot", "scipy.optimize"),
    *("jupyter_client.provisioning.local_provisioner", "nbmake.pytest_items"),
)


def preload():
    """Import what kernels and those who call them need; garbage is not looked for in it any more."""
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # a debugger that nobody asks for warns otherwise
    for name in PRELOADED:
        import_module(name)
    gc.freeze()


class Kernel(FORK.Process):
    """A process that waits until it is told to be a kernel; jupyter_client takes it for a program that it started."""

    stdin = stdout = stderr = None

    def __init__(self):
        super().__init__()
        self.line, self.its_end = FORK.Pipe()

    def run(self):
        self.line.close()  # the end of whoever calls: when that process ends, so does this one
        os.setsid()
        self.its_end.send("a signal to me reaches nobody else")
        command, environment, folder = self.its_end.recv()
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(folder)
        sys.path[:], sys.argv = PATH, command[2:]  # after python -m
        watched = f"--IPKernelApp.parent_handle={os.getppid()}"
        sys.modules["ipykernel.kernelapp"].launch_new_instance([*sys.argv[1:], watched])

    def launch(self, command, *, env, cwd, **_):
        self.line.recv()
        self.line.send((command, env, cwd))
        return self

    def poll(self):
        return self.exitcode

    def wait(self):
        self.join()
        return self.exitcode

    def send_signal(self, number):
        os.kill(self.pid, number)


@contextmanager
def forked():
    """The kernel that jupyter_client starts in here is a fork of this process, which has one thread and no socket."""
    kernel = Kernel()
    kernel.start()
    kernel.its_end.close()
    try:
        with mock.patch("jupyter_client.provisioning.local_provisioner.launch_kernel", kernel.launch):
            yield
    finally:
        kernel.kill()
        kernel.join()
