"""Serves a folder on this machine alone: serve.py FOLDER [--port 8000]; takes the next free port when it is busy."""

import argparse
import errno
import functools
import http.server
import sys


class Handler(http.server.SimpleHTTPRequestHandler):
    """Files as they are now: a rebuilt page must not come from the browser's cache."""

    # Module scripts and WebAssembly are refused by browsers under any other type; systems' own tables differ.
    extensions_map = {  # noqa: RUF012 (the base class reads a class attribute)
        **http.server.SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
        ".json": "application/json",
        ".svg": "image/svg+xml",
    }
    cache_control = "no-cache"

    def end_headers(self):
        self.send_header("Cache-Control", self.cache_control)
        super().end_headers()

    def log_message(self, *details):
        """Say nothing: the address printed at the start should stay in view."""


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True  # a restart must not have to wait; a port that is listened on is refused all the same

    def handle_error(self, request, address):
        """A reader who closes a page early is no error of the server."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, address)


def bind(folder, port, attempts=100, handler=Handler):
    """A server on the first free port from `port` on."""
    for candidate in range(port, port + attempts):
        try:
            return Server(("127.0.0.1", candidate), functools.partial(handler, directory=folder))
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
    sys.exit(f"no free port from {port} to {port + attempts - 1}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    server = bind(options.folder, options.port)
    print(f"The book is at http://127.0.0.1:{server.server_port}/ (Ctrl-C ends it)", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print()


if __name__ == "__main__":
    main()
