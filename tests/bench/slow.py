"""A slower world: a server that sends ten megabits a second, and processes that run a quarter of the time.

The browser's own throttling slows the page's main thread and its own requests alone; Python runs and fetches in a
worker.
"""

import http.server
import os
import signal
import threading
import time
from contextlib import contextmanager
from functools import partial

PIECE = 8192  # bytes


class Line:
    """A line that is shared by all connections."""

    def __init__(self, bytes_per_second):
        self.seconds_per_byte = 1 / bytes_per_second
        self.free_at = 0.0
        self.lock = threading.Lock()

    def send(self, piece, write):
        with self.lock:
            start = max(time.monotonic(), self.free_at)
            self.free_at = start + len(piece) * self.seconds_per_byte
        time.sleep(max(0.0, self.free_at - time.monotonic()))
        write(piece)


class Handler(http.server.SimpleHTTPRequestHandler):
    """A plain static server, without compression."""

    protocol_version = "HTTP/1.1"

    def __init__(self, *arguments, line=None, **options):
        self.line = line
        super().__init__(*arguments, **options)

    def copyfile(self, source, outputfile):
        while piece := source.read(PIECE):
            if self.line:
                self.line.send(piece, outputfile.write)
            else:
                outputfile.write(piece)

    def log_message(self, *details):
        """Say nothing: the table is the output."""


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, address):
        """A browser that closes early is no error of the server."""


@contextmanager
def server(folder, bits_per_second=None):
    """The address of a folder, at full speed or at so many bits a second."""
    line = Line(bits_per_second / 8) if bits_per_second else None
    running = Server(("127.0.0.1", 0), partial(Handler, directory=str(folder), line=line))
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{running.server_port}/"
    running.shutdown()
    running.server_close()


@contextmanager
def slowed(pids, times, period=0.02):
    """Let processes run one part in so many of every period."""
    over = threading.Event()

    def tell(kind):
        for pid in pids:
            os.kill(pid, kind)

    def beat():
        while not over.is_set():
            tell(signal.SIGSTOP)
            time.sleep(period * (1 - 1 / times))
            tell(signal.SIGCONT)
            time.sleep(period / times)

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
