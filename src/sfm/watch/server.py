"""The page and the wire to it: HTTP for one page, a WebSocket for pictures out and words in, one port.

Nothing but the standard library. Only who comes by a loopback name is let in, or has the token: a page of
another site, which a browser would let talk to this machine, has neither the right Origin nor the right Host.
"""

import base64
import contextlib
import hashlib
import hmac
import json
import secrets
import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from sfm import storage
from sfm.errors import SfmError
from sfm.watch.show import Show

LOOPBACK = ("localhost", "127.0.0.1", "::1")
LONGEST = 4096  # bytes of a word from a page
_MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455
_TEXT, _BINARY, _CLOSE, _PING, _PONG = 1, 2, 8, 9, 10


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, show: Show, host: str, port: int):
        self.show, self.token = show, "" if host in LOOPBACK else secrets.token_urlsafe(16)
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            super().__init__((host, port), Handler)
        except (OSError, OverflowError) as error:
            why = error.strerror if isinstance(error, OSError) else "no such port"
            raise SfmError(f"cannot serve at {host}:{port}: {why}; try another --port") from error
        name = f"[{host}]" if ":" in host else socket.gethostname() if host == "0.0.0.0" else host
        self.url = f"http://{name}:{self.server_port}/" + (f"?token={self.token}" if self.token else "")

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Who goes away in the middle is no error."""


def serve(show: Show, host: str, port: int, stop: threading.Event, note: Callable[[str], None]) -> None:
    """Until `stop` is set or Ctrl-C."""
    server = Server(show, host, port)
    note(server.url)
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True)
    thread.start()
    try:
        show.go_on(stop)
    except KeyboardInterrupt:
        pass
    finally:
        stop.set()
        server.shutdown()
        server.server_close()


class Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        if not self._welcome():
            self._answer(403, b"not from here, or without the token of the address that sfm watch printed\n")
        elif path == "/live" and "websocket" in self.headers.get("Upgrade", "").lower():
            self._live()
        elif path == "/":
            self._answer(200, (Path(__file__).parent / "page.html").read_bytes(), "text/html; charset=utf-8")
        else:
            self._answer(404, b"there is one page only: /\n")

    def _welcome(self) -> bool:
        host, origin = self.headers.get("Host", ""), self.headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc != host:
            return False
        if not self.server.token:
            return urlsplit(f"//{host}").hostname in LOOPBACK
        given = parse_qs(urlsplit(self.path).query).get("token", [""])[0]
        return hmac.compare_digest(given.encode(), self.server.token.encode())

    def _answer(self, status: int, body: bytes, kind: str = "text/plain; charset=utf-8") -> None:
        self.send_response(status)
        headers = {"Content-Type": kind, "Content-Length": str(len(body)), "Cache-Control": "no-store"}
        headers |= {"Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY"}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """A line per request would hide the address."""

    def _live(self) -> None:
        key = self.headers.get("Sec-WebSocket-Key", "") + _MAGIC
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
        self.send_header("Sec-WebSocket-Accept", accept)
        self.end_headers()
        self.close_connection = True
        gone, show = threading.Event(), self.server.show
        self._lock = threading.Lock()
        sender = threading.Thread(target=self._show_all, args=(gone,), daemon=True)
        sender.start()
        with show.watched(), contextlib.suppress(OSError):
            while (words := self._hear()) is not None:
                if isinstance(words, dict):
                    show.ask(words)
        gone.set()

    def _show_all(self, gone: threading.Event) -> None:
        """Send the newest whenever there is one; who is slow misses some."""
        number = 0
        try:
            while not gone.is_set():
                if seen := self.server.show.newest(number):
                    number = seen.number
                    self._say(_TEXT, storage.to_json(seen.state).encode())
                    self._say(_BINARY, seen.picture)
        except OSError:
            gone.set()

    def _say(self, kind: int, data: bytes) -> None:
        """One frame of RFC 6455."""
        n = len(data)
        size = bytes([n]) if n < 126 else b"\x7e" + n.to_bytes(2) if n < 2**16 else b"\x7f" + n.to_bytes(8)
        with self._lock:
            self.wfile.write(bytes([0x80 | kind]) + size + data)

    def _hear(self) -> Any:
        """The next word of the page, JSON; None when it has gone."""
        head = self.rfile.read(2)
        if len(head) < 2 or head[0] & 15 == _CLOSE:
            return None
        size = head[1] & 127
        if size == 126:
            size = int.from_bytes(self.rfile.read(2))
        if size > LONGEST or not head[1] & 128:  # too long, or not masked, as browsers do
            return None
        mask = self.rfile.read(4)
        data = bytes(byte ^ mask[i % 4] for i, byte in enumerate(self.rfile.read(size)))
        if head[0] & 15 == _PING:
            self._say(_PONG, data)
        try:
            return json.loads(data) if head[0] & 15 == _TEXT else 0
        except ValueError:
            return 0
