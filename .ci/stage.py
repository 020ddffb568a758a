"""Runs one stage of the checks under a time limit: stage.py SECONDS NAME -- COMMAND..."""

import os
import signal
import subprocess
import sys
import time


def end(process):
    """End the stage with everything that it started: a browser or a kernel outlives its parent otherwise."""
    for kind in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, kind)
            process.wait(5)
        except subprocess.TimeoutExpired:
            continue
        except ProcessLookupError:
            return


def run(seconds, command):
    """The exit code of the command, or 124 (as of `timeout`) when it had to be ended."""
    process = subprocess.Popen(command, start_new_session=True)
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return 124
    finally:
        end(process)


def main(seconds, name, dashes, *command):
    # A shell's background job ignores Ctrl-C, and so would the commands whose tests send it one.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print(f"==> {name}", flush=True)
    start = time.monotonic()
    code = run(float(seconds), command)
    verdict = {0: "passed", 124: f"ENDED after its limit of {seconds} s"}.get(code, f"FAILED (exit code {code})")
    print(f"==> {name}: {verdict}, {time.monotonic() - start:.0f} s", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
