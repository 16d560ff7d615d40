"""The page and the wire, by a real process that is stopped as a user stops it."""

import base64
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
from pathlib import Path

import pytest

from sfm.errors import SfmError
from sfm.watch.server import Server, serve
from sfm.watch.show import Show
from tests.cli.helpers import command

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
NODE = shutil.which("node")


@pytest.fixture
def process():
    """`sfm watch` and its port."""
    begun = subprocess.Popen(
        command("watch", "walker_walk", "--port", "0", "--height", "60"),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    lines = iter(begun.stdout.readline, "")
    port = next(int(found[1]) for line in lines if (found := re.search(r"http://127.0.0.1:(\d+)/$", line)))
    yield begun, port
    begun.kill()
    begun.wait()
    begun.stdout.close()


class Reader:
    """A browser's side of a WebSocket."""

    def __init__(self, port, **headers):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        asked = {
            "Host": f"127.0.0.1:{port}", "Upgrade": "websocket", "Connection": "Upgrade",
            "Sec-WebSocket-Key": base64.b64encode(b"the sample nonce").decode(), **headers,
        }  # fmt: skip
        lines = "".join(f"{name}: {value}\r\n" for name, value in asked.items())
        self.socket.sendall(f"GET /live HTTP/1.1\r\n{lines}\r\n".encode())
        self.file = self.socket.makefile("rb")
        self.answer = self.file.readline().decode().strip()
        self.headers = http.client.parse_headers(self.file)

    def hear(self):
        kind, size = self.file.read(2)
        size = int.from_bytes(self.file.read({126: 2, 127: 8}[size])) if size > 125 else size
        return kind & 15, self.file.read(size)

    def state(self, true=lambda state: True):
        """The next state of which it is true, with its picture."""
        while True:
            kind, data = self.hear()
            if kind == 1 and true(state := json.loads(data)):
                return state, self.hear()[1]

    def say(self, words, kind=1):
        data, mask = words if isinstance(words, bytes) else json.dumps(words).encode(), b"mask"
        size = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + len(data).to_bytes(2)
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(data))
        self.socket.sendall(bytes([0x80 | kind]) + size + mask + masked)

    def close(self):
        self.file.close()
        self.socket.close()


def get(port, path="/", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body


def test_it_is_watched_and_touched_and_ends(process):
    begun, port = process
    status, page = get(port)
    assert status == 200
    assert b"http://" not in page.replace(b'"http"', b"")  # all addresses are relative
    one, two = Reader(port), Reader(port)
    assert one.answer == "HTTP/1.1 101 Switching Protocols"
    assert one.headers["Sec-WebSocket-Accept"] == _accept()
    state, picture = one.state(lambda s: s["time"] > 0)
    assert (state["task"], picture[:2]) == ("walker_walk", b"\xff\xd8")  # a JPEG
    two.say({"do": "pause", "on": True})
    held = one.state(lambda s: s["paused"])[0]["time"]
    one.say(b"no JSON")
    one.say(b"hello", kind=9)
    while (heard := one.hear())[0] != 10:
        pass
    assert heard[1] == b"hello"
    one.say({"do": "step", "for": "x" * 200})  # a frame with a longer head
    assert two.state(lambda s: s["time"] > held)[0]["time"] == pytest.approx(held + 0.025)
    one.say({"do": "reset", "seed": 5})
    assert two.state(lambda s: s["seed"] == 5)[0]["time"] == 0
    one.say(b"", kind=8)
    two.say({"do": "pause", "on": False})
    two.state(lambda s: s["time"] > 0)
    begun.send_signal(signal.SIGINT)
    rest = begun.communicate(timeout=60)[0]
    assert (begun.returncode, rest) == (0, "closed\n")
    one.close()
    two.close()


def _accept():
    import hashlib

    key = base64.b64encode(b"the sample nonce").decode() + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
    return base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()


@pytest.fixture(scope="module")
def show():
    show = Show("walker_walk", height=60)
    yield show
    show.close()


@pytest.fixture(params=["127.0.0.1", "0.0.0.0"])
def server(request, show):
    server = Server(show, request.param, 0)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def test_strangers_are_sent_away(server):
    port, pass_ = server.server_port, f"?token={server.token}" if server.token else ""
    assert (server.token == "") == server.url.startswith("http://127.0.0.1")
    assert get(port, f"/{pass_}")[0] == 200
    assert get(port, f"/other{pass_}")[0] == 404
    assert get(port, f"/live{pass_}")[0] == 404  # no WebSocket
    host = f"127.0.0.1:{port}"
    assert get(port, f"/{pass_}", Host=host, Origin=f"http://{host}")[0] == 200
    assert get(port, f"/{pass_}", Host=host, Origin="http://elsewhere.example")[0] == 403
    if server.token:
        assert server.url.endswith(f":{port}/{pass_}")
        assert len(server.token) >= 20
        for wrong in ("", "?token=", f"?token={server.token}x", "?token=%C3%A9"):
            assert get(port, f"/{wrong}")[0] == 403
            assert get(port, f"/live{wrong}")[0] == 403
    else:
        assert get(port, Host="elsewhere.example")[0] == 403
        assert get(port, Host=f"localhost:{port + 1}")[0] == 200  # through a tunnel
        stranger = Reader(port, Origin="http://elsewhere.example")
        assert stranger.answer.startswith("HTTP/1.1 403")
        stranger.close()


def test_a_port_that_is_taken_is_told(show):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SfmError, match=f"cannot serve at 127.0.0.1:{port}: .*; try another --port"):
            serve(show, "127.0.0.1", port, threading.Event(), print)


def _playwright() -> bool:
    asked = [NODE or "node", "-e", "require('playwright-core')"]
    return bool(NODE) and subprocess.run(asked, capture_output=True).returncode == 0


def test_a_browser_finds_everything_to_work(process, tmp_path):
    """As in tests/report/test_browser.py; SHOTS=DIR leaves pictures there."""
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    if not _playwright():
        pytest.skip("node with playwright-core is not installed, or NODE_PATH does not name it")
    script, url = Path(__file__).parent / "browse.js", f"http://127.0.0.1:{process[1]}/"
    words = [str(NODE), str(script), url, CHROMIUM, str(tmp_path / "profile"), os.environ.get("SHOTS", "")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["errors"] == []
    assert set(told["requests"]) == {url}
    assert told["pixels"]["size"] == [160, 60]
    assert told["pixels"]["colours"] > 50
    assert told["fps"] > 1
    assert float(told["likeness"]) <= 1.2
    assert told["held"][0] == told["held"][1]
    assert told["step"] == pytest.approx(0.025)
    assert told["seeds"][0] == told["seeds"][2] != told["seeds"][1]
    assert told["speeds"] == ["2\u00d7", "0.125\u00d7", True]
    assert (told["arrow"], told["push"][1]) == ([False, pytest.approx(58, abs=0.1)], 0)
    assert told["left"] == pytest.approx(-58)
    assert (told["tabs"], told["nameless"]) == (1, 0)
    assert told["phone"] <= 390
