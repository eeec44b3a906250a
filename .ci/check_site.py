"""Follow every link of the built pages, anchors too: `check_site.py FOLDER`. Addresses elsewhere are not asked."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder and says nothing."""

    def log_message(self, *_words: object) -> None:
        """Nothing."""


def main() -> int:
    """Serve the folder for as long as it takes; the exit code is linkchecker's."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=sys.argv[1]))
    Thread(target=server.serve_forever, daemon=True).start()
    settings = Path(__file__).with_name("linkchecker.ini")
    address = f"http://127.0.0.1:{server.server_port}/"
    command = [sys.executable, "-m", "linkcheck", "--no-status", f"--config={settings}", address]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
