#!/usr/bin/env python3
"""An HTTP server on loopback for tests, with faults.

It listens on a free port of 127.0.0.1, prints the port in its first line, and ends when its standard input is closed or
its parent has ended. It needs only the standard library.

    server.py                                   speaks HTTP
    server.py tls CERTIFICATE [AUTHORITY]       speaks HTTPS with a certificate and its key, in PEM; with an authority
                                                it requires a certificate from the client
    server.py proxy [USER:PASSWORD | STATUS]    is a proxy that requires a password, or refuses every tunnel
                                                with a status
    server.py socks [USER:PASSWORD]             is a SOCKS 5 proxy (RFC 1928), which may require a password (RFC 1929)

The path and query of a request determine the response:

  /bytes/COUNT      that many reproducible bytes (see `pattern`). Query, all optional:
                      seed=N           other bytes
                      etag=TEXT        an ETag; with `changes=1` a different one for each request of the key
                      modified=TEXT    a Last-Modified, and a Date, which is the current time unless date=TEXT is given
                      ranges=1         answers Range and If-Range with 206 or 416
                      wrongrange=1     answers Range with 206 and other bytes than requested
                      chunked=1        Transfer-Encoding: chunked
                      gzip=1           Content-Encoding: gzip
                      type=TEXT        the Content-Type
                      pause=MS         waits for MS milliseconds after each piece; piece=COUNT is its size
                      drop=COUNT       resets the connection after COUNT bytes
                      short=COUNT      closes the connection after COUNT bytes
                      hold=COUNT       sends COUNT bytes, and the rest when `release` is called for the key
                      faults=N         drop, short and hold apply only to the first N requests of the key
  /status/CODE      that status; body=TEXT, after=TEXT (Retry-After), date=TEXT (Date), type=TEXT
  /flaky/N          status=CODE (500) for the first N requests of the key, with after=TEXT; then 200 "ok"
  /redirect/…       to=ADDRESS, code=CODE (302); any number of folders in between
  /raw              sends the bytes of reply=BASE64 and nothing else, and closes the connection; with `hold=1` only when
                    `release` is called for the key; with `cut=COUNT` it waits pause=MS after COUNT bytes,
                    with slow=MS between all bytes
  /bomb/COUNT       COUNT zeros, with Content-Encoding: gzip
  /loop             redirects to itself, code=CODE (302)
  /die              no response: the port and the connection are closed
  /silent           no response until `release` is called for the key
  /upload           reads a body, and answers with its count and SHA-256, the method and its framing, as JSON; with
                    hold=1 it reads the body only when `release` is called for the key
  /form             reads a multipart form, and answers with its parts, as JSON
  /headers          the request's headers, as JSON
  /ticket, /key, /login     three steps, each of which requires the result of the previous one (see `credentials`)
  /log?key=K        the requests received for that key: a list of {"method", "path", "headers", "connection"}, as JSON
  /await?key=K      answers when count=N requests have arrived for it (1)
  /release?key=K    releases the requests that wait for it

Every request may have key=TEXT. Counts and logs are kept for each key.
"""
import base64
import email
import email.policy
import gzip
import hashlib
import http.server
import json
import os
import select
import socket
import socketserver
import ssl
import struct
import sys
import threading
import time
import urllib.parse
import zlib

PERIOD = 65521
patterns = {}


def pattern(seed):
    """Returns one period of the bytes. TestServer.swift has the same formula."""
    if seed not in patterns:
        patterns[seed] = bytes((i * i * 31 + i * 7 + seed * 13 + (i >> 8)) & 255 for i in range(PERIOD))
    return patterns[seed]


def piece_of(seed, start, count):
    block = pattern(seed)
    offset = start % PERIOD
    return (block * (count // PERIOD + 2))[offset : offset + count]


class Keys:
    """The counts and logs of each key."""

    def __init__(self):
        self.lock = threading.Condition()
        self.logs = {}
        self.counts = {}
        self.gates = {}

    def note(self, key, entry):
        with self.lock:
            self.logs.setdefault(key, []).append(entry)
            self.lock.notify_all()

    def wait(self, key, count):
        with self.lock:
            return self.lock.wait_for(lambda: len(self.logs.get(key, [])) >= count, 300)

    def log(self, key):
        with self.lock:
            return list(self.logs.get(key, []))

    def count(self, key):
        """Counts a request, and returns the number of those before it."""
        with self.lock:
            self.counts[key] = self.counts.get(key, 0) + 1
            return self.counts[key] - 1

    def gate(self, key):
        with self.lock:
            return self.gates.setdefault(key, threading.Event())


keys = Keys()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *arguments):
        pass

    def serve(self):
        parts = urllib.parse.urlsplit(self.path)
        self.query = dict(urllib.parse.parse_qsl(parts.query, keep_blank_values=True))
        self.key = self.query.get("key", "")
        steps = parts.path.strip("/").split("/")
        if steps[0] not in ("log", "await", "release"):
            entry = {"method": self.command, "path": self.path, "headers": dict(self.headers.items())}
            keys.note(self.key, entry | {"connection": f"{self.client_address}"})
        answer = getattr(self, "answer_" + steps[0], None)
        try:
            if answer is None:
                self.reply(404, b"there is no such page")
            else:
                answer(*steps[1:])
        except (ConnectionError, TimeoutError):
            self.close_connection = True

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = serve

    def number(self, name, default=None):
        return int(self.query[name]) if name in self.query else default

    def reply(self, status, body, headers=()):
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name, value)
        if status >= 200 and status not in (204, 304):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def reply_json(self, value, status=200):
        self.reply(status, json.dumps(value).encode(), [("Content-Type", "application/json")])

    def body(self):
        """Yields the pieces of the request's body, chunked or not."""
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            while True:
                left = int(self.rfile.readline().strip() or b"0", 16)
                if left == 0:
                    self.rfile.readline()
                    return
                while left:
                    piece = self.rfile.read(min(left, 1 << 16))
                    if not piece:
                        return
                    left -= len(piece)
                    yield piece
                self.rfile.readline()
        left = int(self.headers.get("Content-Length", 0))
        while left:
            piece = self.rfile.read(min(left, 1 << 16))
            if not piece:
                return
            left -= len(piece)
            yield piece

    # Bytes

    def answer_bytes(self, count):
        total = int(count)
        number = keys.count(self.key)
        tag = self.query.get("etag")
        if tag and "changes" in self.query:
            tag = f"{tag}-{number}"
        modified = self.query.get("modified")
        headers = [("Content-Type", self.query.get("type", "application/octet-stream"))]
        if tag:
            headers.append(("ETag", tag if tag.startswith("W/") else f'"{tag}"'))
        if modified:
            headers.append(("Last-Modified", modified))
            headers.append(("Date", self.query.get("date") or self.date_time_string()))
        start, status = 0, 200
        if "ranges" in self.query:
            headers.append(("Accept-Ranges", "bytes"))
            asked = self.headers.get("Range", "")
            condition = self.headers.get("If-Range")
            if asked.startswith("bytes=") and (condition is None or condition in (f'"{tag}"', modified)):
                start = int(asked[len("bytes=") :].split("-")[0])
                if start >= total:
                    return self.reply(416, b"", headers + [("Content-Range", f"bytes */{total}")])
                status = 206
                if "wrongrange" in self.query:
                    start += 1
                headers.append(("Content-Range", f"bytes {start}-{total - 1}/{total}"))
        self.send_bytes(status, headers, start, total, number < self.number("faults", 1 << 30))

    def send_bytes(self, status, headers, start, total, faulty):
        seed = self.number("seed", 0)
        left = total - start
        if "gzip" in self.query:
            packed = gzip.compress(piece_of(seed, start, left))
            return self.reply(status, packed, headers + [("Content-Encoding", "gzip")])
        chunked = "chunked" in self.query
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header(*(("Transfer-Encoding", "chunked") if chunked else ("Content-Length", str(left))))
        self.end_headers()
        if self.command == "HEAD":
            return
        ends = [self.number(name) for name in ("drop", "short", "hold") if name in self.query and faulty]
        end = min(ends + [left])
        size = self.number("piece", 1 << 20)
        pause = self.number("pause", 0) / 1000
        sent = 0
        while sent < end:
            piece = piece_of(seed, start + sent, min(size, end - sent))
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
            sent += len(piece)
            if pause:
                time.sleep(pause)
        if faulty and "hold" in self.query and sent < left:
            keys.gate(self.key).wait(300)
            self.close_connection = True
        elif sent < left:
            if "drop" in self.query:
                # Closing with this option set sends a reset.
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
        elif chunked:
            self.wfile.write(b"0\r\n\r\n")

    # Responses with a small body or none

    def answer_status(self, code):
        for _ in self.body():
            pass
        headers = [("Content-Type", self.query.get("type", "text/plain"))]
        if "after" in self.query:
            headers.append(("Retry-After", self.query["after"]))
        if "date" in self.query:
            headers.append(("Date", self.query["date"]))
        self.reply(int(code), self.query.get("body", "").encode(), headers)

    def answer_flaky(self, failures):
        for _ in self.body():
            pass
        if keys.count(self.key) >= int(failures):
            return self.reply(200, b"ok")
        after = [("Retry-After", self.query["after"])] if "after" in self.query else []
        self.reply(self.number("status", 500), b"not yet", after)

    def answer_raw(self):
        for _ in self.body():
            pass
        reply = base64.b64decode(self.query["reply"].replace(" ", "+"))
        if "slow" in self.query:
            pieces, pause = [bytes([byte]) for byte in reply], self.number("slow")
        else:
            cut = self.number("cut", 0)
            pieces, pause = [reply[:cut], reply[cut:]], self.number("pause", 0)
        for piece in pieces[:-1]:
            self.wfile.write(piece)
            time.sleep(pause / 1000)
        if "hold" in self.query:
            self.wfile.write(pieces[-1])
            keys.gate(self.key).wait(300)
        else:
            self.write_last(pieces[-1])
        self.close_connection = True

    def write_last(self, piece):
        """Sends the last bytes together with the end of the connection. Otherwise a client may send its next request
        in between, which is lost."""
        is_plain = hasattr(socket, "TCP_CORK") and not isinstance(self.connection, ssl.SSLSocket)
        if is_plain:
            self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
        self.wfile.write(piece)
        if is_plain:
            self.connection.shutdown(socket.SHUT_WR)

    def answer_bomb(self, count):
        self.send_response_only(200)
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Connection", "close")
        self.end_headers()
        packer, left, zeros = zlib.compressobj(9, zlib.DEFLATED, 31), int(count), bytes(1 << 20)
        while left:
            left -= len(zeros)
            self.wfile.write(packer.compress(zeros))
        self.wfile.write(packer.flush())
        self.close_connection = True

    def answer_redirect(self, *folders):
        for _ in self.body():
            pass
        self.reply(self.number("code", 302), b"look elsewhere", [("Location", self.query["to"])])

    def answer_loop(self):
        for _ in self.body():
            pass
        self.reply(self.number("code", 302), b"", [("Location", self.path)])

    def answer_die(self):
        self.server.socket.shutdown(socket.SHUT_RDWR)
        self.close_connection = True

    def answer_silent(self):
        keys.gate(self.key).wait(300)
        self.close_connection = True

    def answer_form(self):
        head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
        message = email.message_from_bytes(head + b"".join(self.body()), policy=email.policy.HTTP)
        parts = []
        for part in message.iter_parts():
            content = part.get_payload(decode=True)
            name = part.get_param("name", header="content-disposition")
            parts.append({"name": name, "fileName": part.get_filename(), "contentType": part.get("Content-Type"),
                          "count": len(content), "sha256": hashlib.sha256(content).hexdigest()})
        self.reply_json(parts)

    def answer_upload(self):
        if "hold" in self.query:
            keys.gate(self.key).wait(300)
        digest, count = hashlib.sha256(), 0
        for piece in self.body():
            digest.update(piece)
            count += len(piece)
        framing = "chunked" if "Transfer-Encoding" in self.headers else "length"
        answer = {"method": self.command, "count": count, "sha256": digest.hexdigest(), "framing": framing}
        self.reply_json(answer)

    def answer_headers(self):
        self.reply_json(dict(self.headers.items()))

    # Credentials, from three servers, in order

    def credentials(self, step, *before):
        return hashlib.sha256("/".join((step,) + before).encode()).hexdigest()[:16]

    def answer_ticket(self):
        user = self.query.get("user", "")
        if not user:
            return self.reply(400, b"who are you?")
        self.reply_json({"ticket": self.credentials("ticket", user)})

    def answer_key(self):
        user, ticket = self.query.get("user", ""), self.headers.get("X-Ticket", "")
        if ticket != self.credentials("ticket", user):
            return self.reply(401, b"no key without a ticket")
        self.reply_json({"key": self.credentials("key", ticket)})

    def answer_login(self):
        given = json.loads(b"".join(self.body()) or b"{}")
        ticket, key = given.get("ticket", ""), given.get("key", "")
        if ticket != self.credentials("ticket", given.get("user", "")) or key != self.credentials("key", ticket):
            return self.reply(403, b"ticket and key do not fit")
        self.reply_json({"session": f"{given['user']} is in"})

    # Queries of tests

    def answer_log(self):
        self.reply_json(keys.log(self.key))

    def answer_await(self):
        self.reply(200 if keys.wait(self.key, self.number("count", 1)) else 504, b"")

    def answer_release(self):
        keys.gate(self.key).set()
        self.reply(200, b"released")


class Proxy(http.server.BaseHTTPRequestHandler):
    """A proxy that makes tunnels, and forwards http requests through a tunnel of its own."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def is_allowed(self):
        word = sys.argv[2] if len(sys.argv) > 2 else ""
        status = None
        if word.isdigit():
            status = int(word)
        elif word and self.headers.get("Proxy-Authorization") != "Basic " + base64.b64encode(word.encode()).decode():
            status = 407
        if status is None:
            return True
        self.send_response_only(status)
        self.send_header("Content-Length", "0")
        if status == 407:
            self.send_header("Proxy-Authenticate", 'Basic realm="tests"')
        self.end_headers()
        return False

    def do_CONNECT(self):
        if not self.is_allowed():
            return
        host, port = self.path.rsplit(":", 1)
        with socket.create_connection((host.strip("[]"), int(port))) as other:
            self.send_response_only(200)
            self.end_headers()
            self.pass_on(other)

    def do_GET(self):
        if not self.is_allowed():
            return
        parts = urllib.parse.urlsplit(self.path)
        with socket.create_connection((parts.hostname, parts.port or 80)) as other:
            lines = [f"{self.command} {parts.path}?{parts.query} HTTP/1.1", "Via: 1.1 tests", "Connection: close"]
            lines += [f"{name}: {value}" for name, value in self.headers.items() if not name.startswith("Proxy-")]
            other.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
            self.pass_on(other)

    def pass_on(self, other):
        self.close_connection = True
        connect(self.connection, other)


def connect(one, other):
    """Passes on the bytes of two connections until one of them has ended."""
    ends = {one: other, other: one}
    while True:
        for end in select.select(list(ends), [], [])[0]:
            piece = end.recv(1 << 16)
            if not piece:
                return
            ends[end].sendall(piece)


class SocksProxy(socketserver.StreamRequestHandler):
    """A SOCKS 5 proxy that connects to everything."""

    def handle(self):
        word = sys.argv[2] if len(sys.argv) > 2 else ""
        _, count = self.rfile.read(2)
        method = 2 if word else 0
        if method not in self.rfile.read(count):
            self.wfile.write(b"\x05\xff")
            return
        self.wfile.write(bytes([5, method]))
        if word:
            self.rfile.read(1)
            user, password = (self.rfile.read(self.rfile.read(1)[0]).decode() for _ in range(2))
            is_right = f"{user}:{password}" == word
            self.wfile.write(bytes([1, 0 if is_right else 1]))
            if not is_right:
                return
        kind = self.rfile.read(4)[3]
        host = socket.inet_ntoa(self.rfile.read(4)) if kind == 1 else self.rfile.read(self.rfile.read(1)[0]).decode()
        port = int.from_bytes(self.rfile.read(2), "big")
        with socket.create_connection((host, port)) as other:
            self.wfile.write(b"\x05\x00\x00\x01" + bytes(6))
            connect(self.connection, other)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024

    def handle_error(self, request, address):
        pass


def end_with_parent(parent):
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(0)


def main():
    threading.Thread(target=end_with_parent, args=(os.getppid(),), daemon=True).start()
    mode = sys.argv[1] if len(sys.argv) > 1 else ""
    server = Server(("127.0.0.1", 0), {"proxy": Proxy, "socks": SocksProxy}.get(mode, Handler))
    if mode == "tls":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2])
        if len(sys.argv) > 3:
            context.load_verify_locations(sys.argv[3])
            context.verify_mode = ssl.CERT_REQUIRED
            # In TLS 1.3 the client sends its request before the server has seen the certificate, and the connection may
            # break before the alert is read. Here the handshake itself ends with the alert.
            context.maximum_version = ssl.TLSVersion.TLSv1_2
        # The thread of the connection performs the handshake.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    while sys.stdin.buffer.read(1 << 16):
        pass
    os._exit(0)


main()
