#!/usr/bin/env python3
"""An HTTP/2 server on loopback for tests, which sends wrong frames on demand.

    http2.py CERTIFICATE STEPS [STEPS ...]

It listens on a free port of 127.0.0.1, prints the port in its first line, and ends when its standard input is closed.
Each STEPS argument describes one connection, in order; the last one also applies to all later connections. It consists
of words that are separated by spaces: first settings, then one word for each request; the last word also applies to all
later requests. The server ignores the paths of requests. It needs only the standard library.

  streams=N            the number of concurrent requests
  http1                the connection uses HTTP/1.1, and knows the steps ok, after=N, late and drop

  ok                   200; the body is the number of bytes received
  bytes=N              200 with N reproducible bytes
  head=N               like ok, with N more fields of 1,000 bytes, head and body in one write
  status=TEXT          like ok, with this status
  interim              103, then like ok
  trailers             like ok, with a field after the body
  hold                 no response
  refuse               the stream is refused
  reset                the stream ends with an error
  reset-body           200, half of the body, then like reset
  wants-http1          200, a part of a body without a length, then a reset that asks for HTTP/1.1
  goaway-before        the connection ends, and this request has not been processed
  goaway-within        200, half of the body, then the connection ends after this request, then the rest
  goaway-after         like ok, then the connection ends
  cut                  the connection is closed without a GOAWAY frame
  cut-body             200, half of the body, then like cut
  end-tls              the TLS session ends without a GOAWAY frame, and the TCP connection stays open
  nonsense             bytes that are not a frame
  bad-name             200, with a field whose name has a capital letter
  no-status            a head without a status
  bad-block            a head whose fields cannot be unpacked
  no-head              a body without a head
  too-long             200, with more bytes than the head promises
  too-short            200, with fewer bytes than the head promises
  ping                 no response, but a ping every 100 ms
  drop                 the connection is closed after the head of the request
  late                 like ok, and bytes that belong to no response when the next request arrives
  after=N              the request waits until N requests have begun on all connections, then like ok

Over HTTP/1.1 the body of a response is the target of the request. The server takes both versions of a client that
offers both, and prefers HTTP/2.

A connection whose only word is `hang` does not complete the TLS handshake.

It prints a line for each request that begins (`request CONNECTION STREAM`), ends (`end CONNECTION STREAM BYTES`) or is
cancelled by the client (`cancel CONNECTION STREAM`), and for each connection that ends (`closed CONNECTION`).
"""
import os
import select
import socket
import ssl
import struct
import sys
import threading
import time

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
END_STREAM, ACK, END_HEADERS = 1, 1, 4
NO_ERROR, INTERNAL_ERROR, REFUSED_STREAM, HTTP_1_1_REQUIRED = 0, 2, 7, 13
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
PERIOD = 65521


def pattern(count):
    """The bytes that server.py sends."""
    block = bytes((i * i * 31 + i * 7 + (i >> 8)) & 255 for i in range(PERIOD))
    return (block * (count // PERIOD + 1))[:count]


def literal(text):
    """A text with its length: RFC 7541, 5.1 and 5.2."""
    length, size = bytes([min(len(text), 127)]), len(text) - 127
    while size >= 128:
        length, size = length + bytes([size % 128 + 128]), size // 128
    return (length + bytes([size]) if len(text) >= 127 else length) + text.encode()


def fields(**values):
    """A block of header fields that does not use the tables: RFC 7541, 6.2.2."""
    return b"".join(b"\0" + literal(name.replace("_", "-")) + literal(str(value)) for name, value in values.items())


def status(code):
    return b"\0" + literal(":status") + literal(str(code))


def say(*words):
    """Prints a line in one write, because several threads print."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


class Closed(Exception):
    pass


class Count:
    """The number of requests that have begun on all connections."""

    def __init__(self):
        self.value, self.lock = 0, threading.Condition()

    def add(self):
        with self.lock:
            self.value += 1
            self.lock.notify_all()

    def wait(self, value):
        with self.lock:
            self.lock.wait_for(lambda: self.value >= value)


count_of_requests = Count()


class PlainConnection:
    """A connection that uses HTTP/1.1."""

    def __init__(self, link, number, words):
        self.link, self.number, self.steps = link, number, words
        self.reader = link.makefile("rb")

    def serve(self):
        try:
            request = 0
            while line := self.reader.readline():
                request += 1
                step = self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]
                self.answer(request, line.split()[1].decode(), *step.split("="))
        except OSError:
            pass
        say("closed", self.number)
        self.link.close()

    def answer(self, request, target, step, count=0):
        length, is_chunked = 0, False
        while (line := self.reader.readline()) not in (b"\r\n", b""):
            name, value = line.decode().lower().split(":", 1)
            length = int(value) if name == "content-length" else length
            is_chunked = is_chunked or name == "transfer-encoding"
        say("request", self.number, request)
        count_of_requests.add()
        if step == "drop":
            self.link.shutdown(socket.SHUT_RDWR)
            return
        self.reader.read(length)
        while is_chunked:
            size = int(self.reader.readline(), 16)
            self.reader.read(size + 2)
            is_chunked = size > 0
        say("end", self.number, request, target)
        if step == "after":
            count_of_requests.wait(int(count))
        self.link.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {len(target)}\r\n\r\n{target}".encode())
        if step == "late":
            select.select([self.link], [], [])
            self.link.sendall(b"<html>")


class Connection:
    def __init__(self, link, number, words):
        self.link, self.number = link, number
        self.settings = dict(word.split("=") for word in words if word.split("=")[0] == "streams")
        self.steps = [word for word in words if word.split("=")[0] not in self.settings]
        self.lock, self.sending = threading.Condition(), threading.Lock()
        self.windows = {0: 65535}
        self.initial = 65535
        self.counts, self.todo, self.ended = {}, {}, set()

    def say(self, *words):
        say(*words[:1], self.number, *words[1:])

    # Frames

    def read(self, count):
        data = b""
        while len(data) < count:
            piece = self.link.recv(count - len(data))
            if not piece:
                raise Closed
            data += piece
        return data

    def frame(self, kind, flags, stream, payload=b""):
        return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload

    def send(self, kind, flags, stream, payload=b""):
        frame = self.frame(kind, flags, stream, payload)
        with self.sending:
            self.link.sendall(frame)

    def reset(self, stream, code):
        self.send(RST_STREAM, 0, stream, struct.pack(">I", code))

    def goaway(self, last):
        self.send(GOAWAY, 0, 0, struct.pack(">II", last, NO_ERROR))

    def head(self, stream, block, flags=0):
        self.send(HEADERS, END_HEADERS | flags, stream, block)

    def send_data(self, stream, data, ends):
        """Sends in pieces, as the windows of the client allow."""
        sent = 0
        while sent < len(data) or (ends and not data):
            with self.lock:
                self.lock.wait_for(lambda: stream in self.ended or min(self.windows[0], self.windows[stream]) > 0)
                if stream in self.ended:
                    return
                room = min(self.windows[0], self.windows[stream], 16384, len(data) - sent)
                self.windows[0] -= room
                self.windows[stream] -= room
            sent += room
            self.send(DATA, END_STREAM if ends and sent == len(data) else 0, stream, data[sent - room : sent])
            if not data:
                return

    def close(self):
        """Closes the sending side, and waits for the client. If a connection is closed with unread bytes, the system
        resets it, and a reset may overtake bytes that have been sent."""
        try:
            self.link.shutdown(socket.SHUT_WR)
            while self.link.recv(65536):
                pass
        except OSError:
            pass
        self.link.close()

    # Receiving

    def serve(self):
        try:
            self.read(len(PREFACE))
            self.send(SETTINGS, 0, 0, struct.pack(">HI", 3, int(self.settings.get("streams", 100))))
            while True:
                start = self.read(9)
                size = int.from_bytes(start[:3], "big")
                stream = struct.unpack(">I", start[5:])[0] & 0x7FFFFFFF
                self.take(start[3], start[4], stream, self.read(size))
        except (Closed, OSError):
            with self.lock:
                self.ended |= set(self.windows)
                self.lock.notify_all()
            self.close()
            self.say("closed")

    def take(self, kind, flags, stream, payload):
        if kind == SETTINGS and not flags & ACK:
            for at in range(0, len(payload), 6):
                name, value = struct.unpack(">HI", payload[at : at + 6])
                if name == 4:
                    self.initial = value
            self.send(SETTINGS, ACK, 0)
        elif kind == PING and not flags & ACK:
            self.send(PING, ACK, 0, payload)
        elif kind == WINDOW_UPDATE:
            with self.lock:
                self.windows[stream] = self.windows.get(stream, self.initial) + struct.unpack(">I", payload)[0]
                self.lock.notify_all()
        elif kind == RST_STREAM:
            self.say("cancel", stream)
            with self.lock:
                self.ended.add(stream)
                self.lock.notify_all()
        elif kind == HEADERS:
            with self.lock:
                self.windows.setdefault(stream, self.initial)
            self.counts[stream] = 0
            self.todo[stream] = self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]
            self.say("request", stream)
            count_of_requests.add()
            self.begin(stream, self.todo[stream])
        elif kind == DATA and stream in self.todo:
            self.counts[stream] += len(payload)
            if payload:
                self.send(WINDOW_UPDATE, 0, 0, struct.pack(">I", len(payload)))
                self.send(WINDOW_UPDATE, 0, stream, struct.pack(">I", len(payload)))
        if kind in (HEADERS, DATA) and flags & END_STREAM and stream in self.todo:
            self.say("end", stream, self.counts[stream])
            self.answer(stream, *self.todo[stream].split("="))

    def begin(self, stream, step):
        if step == "refuse":
            self.forget(stream)
            self.reset(stream, REFUSED_STREAM)
        elif step == "goaway-before":
            self.goaway(max(0, stream - 2))
            raise Closed

    def forget(self, stream):
        del self.todo[stream]

    # Responses

    def send_ok(self, stream, trailers=b"", code=200):
        body = str(self.counts[stream]).encode()
        self.head(stream, status(code) + fields(content_length=len(body)))
        self.send(DATA, 0 if trailers else END_STREAM, stream, body)
        if trailers:
            self.head(stream, trailers, END_STREAM)

    def send_long_head(self, stream, count):
        body = str(self.counts[stream]).encode()
        block = status(200) + b"".join(fields(**{f"x_{number}": "x" * 1000}) for number in range(count))
        pieces = [block[at : at + 16000] for at in range(0, len(block), 16000)]
        frames = [
            self.frame(CONTINUATION if at else HEADERS, END_HEADERS if piece is pieces[-1] else 0, stream, piece)
            for at, piece in enumerate(pieces)
        ]
        with self.sending:
            self.link.sendall(b"".join(frames) + self.frame(DATA, END_STREAM, stream, body))

    def send_half(self, stream):
        self.head(stream, status(200) + fields(content_length=10))
        self.send(DATA, 0, stream, b"01234")

    def answer(self, stream, step, count=0):
        if step == "ok":
            self.send_ok(stream)
        elif step == "status":
            self.send_ok(stream, code=count)
        elif step == "head":
            self.send_long_head(stream, int(count))
        elif step == "interim":
            self.head(stream, status(103) + fields(link="</style.css>"))
            self.send_ok(stream)
        elif step == "trailers":
            self.send_ok(stream, fields(checksum="none"))
        elif step == "bytes":
            self.head(stream, status(200) + fields(content_length=count))
            threading.Thread(target=self.send_bytes, args=(stream, pattern(int(count))), daemon=True).start()
        elif step == "reset":
            self.reset(stream, INTERNAL_ERROR)
        elif step == "reset-body":
            self.send_half(stream)
            self.reset(stream, INTERNAL_ERROR)
        elif step == "wants-http1":
            self.head(stream, status(200))
            self.send(DATA, 0, stream, b"01234")
            self.reset(stream, HTTP_1_1_REQUIRED)
        elif step == "goaway-within":
            self.send_half(stream)
            self.goaway(stream)
            self.send(DATA, END_STREAM, stream, b"56789")
        elif step == "goaway-after":
            self.send_ok(stream)
            self.goaway(stream)
        elif step == "cut":
            raise Closed
        elif step == "cut-body":
            self.send_half(stream)
            raise Closed
        elif step == "end-tls":
            try:
                self.link.unwrap()
            except OSError:
                pass
            threading.Event().wait()
        elif step == "ping":
            threading.Thread(target=self.send_pings, daemon=True).start()
        elif step == "nonsense":
            self.link.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        elif step == "bad-name":
            self.head(stream, status(200) + fields(Name="x"), END_STREAM)
        elif step == "no-status":
            self.head(stream, fields(name="x"), END_STREAM)
        elif step == "bad-block":
            self.head(stream, b"\xff" * 6, END_STREAM)
        elif step == "no-head":
            self.send(DATA, END_STREAM, stream, b"0")
        elif step == "too-long":
            self.head(stream, status(200) + fields(content_length=3))
            self.send(DATA, END_STREAM, stream, b"01234")
        elif step == "too-short":
            self.head(stream, status(200) + fields(content_length=10))
            self.send(DATA, END_STREAM, stream, b"01234")

    def send_pings(self):
        try:
            while True:
                self.send(PING, 0, 0, bytes(8))
                time.sleep(0.1)
        except OSError:
            pass

    def send_bytes(self, stream, data):
        try:
            self.send_data(stream, data, True)
        except OSError:
            pass


def main():
    def make_context(*protocols):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1])
        context.set_alpn_protocols(protocols)
        return context

    both, only_http1 = make_context("h2", "http/1.1"), make_context("http/1.1")
    scripts = [steps.split() for steps in sys.argv[2:]]
    say(listener.getsockname()[1])

    def accept():
        number = 0
        while True:
            try:
                link, _ = listener.accept()
            except OSError:
                return
            number += 1
            threading.Thread(target=begin, args=(link, number), daemon=True).start()

    def begin(link, number):
        steps = scripts[min(number, len(scripts)) - 1]
        if steps == ["hang"]:
            threading.Event().wait()
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            link = (only_http1 if "http1" in steps else both).wrap_socket(link, server_side=True)
        except (ssl.SSLError, OSError):
            return
        speaks_http2 = link.selected_alpn_protocol() == "h2"
        steps = [word for word in steps if word != "http1"]
        (Connection if speaks_http2 else PlainConnection)(link, number, steps).serve()

    threading.Thread(target=accept, daemon=True).start()
    sys.stdin.read()
    sys.stdout.flush()
    os._exit(0)


listener = socket.create_server(("127.0.0.1", 0))
main()
