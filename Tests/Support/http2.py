#!/usr/bin/env python3
"""A server of HTTP/2 on loopback whose frames go wrong as it is told, for tests.

    http2.py CERTIFICATE STEPS [STEPS ...]

It listens on a free port of 127.0.0.1, which is the first line that it prints, and ends when its standard input is closed.
Each STEPS is what one connection does, in order, and the last one is what all later ones do. Its words are separated by blanks:
first settings, then what becomes of each request; the last of these is what becomes of all later ones. It does not look at what
is asked for. The standard library is all it needs.

  streams=N            this many requests at a time
  window=N             how many bytes of a request's body may come at first

  ok                   200, with how many bytes have come as the body
  bytes=N              200 with so many reproducible bytes
  interim              103, then as ok
  trailers             as ok, with a field after the body
  early                as ok, before the body of the request has come, which is then not wanted any more
  early-unsized        the same, without a content-length
  early-cut            as early, but the answer ends after one of its 100 bytes
  early-empty          204 in the same way
  early-end            as early, but nothing is said of the body of the request, and its window is not opened
  hold                 no answer
  unread               no answer, and no more than the first window of the body is taken
  refuse               the stream is refused
  reset                the stream ends with an error
  reset-body           200, half of the body, then the same
  goaway-before        the connection ends, and this request has not been looked at
  goaway-within        200, half of the body, then the connection ends after this request, then the rest
  goaway-after         as ok, then the connection ends
  cut                  the connection is closed without a word
  cut-body             200, half of the body, then the same
  end-tls              the TLS session ends without a word, and the TCP connection stays open
  nonsense             what is no frame
  ping                 no answer, but a ping every 100 ms

A connection whose only word is `hang` does not exchange keys.

It prints a line for each request that begins (`request CONNECTION STREAM`), ends (`end CONNECTION STREAM BYTES`) or is cancelled by
the other side (`cancel CONNECTION STREAM`), and for each connection that ends (`closed CONNECTION`).
"""
import os
import socket
import ssl
import struct
import sys
import threading
import time

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
END_STREAM, ACK, END_HEADERS = 1, 1, 4
NO_ERROR, INTERNAL_ERROR, REFUSED_STREAM = 0, 2, 7
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
PERIOD = 65521


def pattern(count):
    """The bytes of server.py."""
    block = bytes((i * i * 31 + i * 7 + (i >> 8)) & 255 for i in range(PERIOD))
    return (block * (count // PERIOD + 1))[:count]


def literal(text):
    return bytes([len(text)]) + text.encode()


def fields(**values):
    """A block of header fields that needs no table: RFC 7541, 6.2.2."""
    return b"".join(b"\0" + literal(name.replace("_", "-")) + literal(str(value)) for name, value in values.items())


def status(code):
    return b"\0" + literal(":status") + literal(str(code))


class Closed(Exception):
    pass


class Connection:
    def __init__(self, link, number, words):
        self.link, self.number = link, number
        self.settings = dict(word.split("=") for word in words if word.split("=")[0] in ("streams", "window"))
        self.steps = [word for word in words if word.split("=")[0] not in self.settings]
        self.lock, self.sending = threading.Condition(), threading.Lock()
        self.windows = {0: 65535}
        self.initial = 65535
        self.counts, self.todo, self.ended = {}, {}, set()

    def say(self, *words):
        print(*words[:1], self.number, *words[1:], flush=True)

    # Frames

    def read(self, count):
        data = b""
        while len(data) < count:
            piece = self.link.recv(count - len(data))
            if not piece:
                raise Closed
            data += piece
        return data

    def send(self, kind, flags, stream, payload=b""):
        frame = struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload
        with self.sending:
            self.link.sendall(frame)

    def reset(self, stream, code):
        self.send(RST_STREAM, 0, stream, struct.pack(">I", code))

    def goaway(self, last):
        self.send(GOAWAY, 0, 0, struct.pack(">II", last, NO_ERROR))

    def head(self, stream, block, flags=0):
        self.send(HEADERS, END_HEADERS | flags, stream, block)

    def send_data(self, stream, data, ends):
        """In pieces, as the windows of the other side allow."""
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
        """Closes this side, and waits for the other. A connection that is closed while bytes wait to be read is reset, and a reset
        may overtake what has been sent."""
        try:
            self.link.shutdown(socket.SHUT_WR)
            while self.link.recv(65536):
                pass
        except OSError:
            pass
        self.link.close()

    # What comes

    def serve(self):
        try:
            self.read(len(PREFACE))
            values = [(3, int(self.settings.get("streams", 100))), (4, int(self.settings.get("window", 65535)))]
            self.send(SETTINGS, 0, 0, b"".join(struct.pack(">HI", *value) for value in values))
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
            self.begin(stream, self.todo[stream])
        elif kind == DATA and stream in self.todo:
            self.counts[stream] += len(payload)
            if payload and self.todo[stream] != "unread":
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
        elif step.startswith("early"):
            self.forget(stream)
            if step == "early-cut":
                self.head(stream, status(200) + fields(content_length=100))
                self.send(DATA, 0, stream, b"0")
            elif step == "early-unsized":
                self.head(stream, status(200))
                self.send(DATA, END_STREAM, stream, b"0")
            elif step == "early-empty":
                self.head(stream, status(204), END_STREAM)
            else:
                self.send_ok(stream)
            if step != "early-end":
                self.reset(stream, NO_ERROR)

    def forget(self, stream):
        del self.todo[stream]

    # Answers

    def send_ok(self, stream, trailers=b""):
        body = str(self.counts[stream]).encode()
        self.head(stream, status(200) + fields(content_length=len(body)))
        self.send(DATA, 0 if trailers else END_STREAM, stream, body)
        if trailers:
            self.head(stream, trailers, END_STREAM)

    def send_half(self, stream):
        self.head(stream, status(200) + fields(content_length=10))
        self.send(DATA, 0, stream, b"01234")

    def answer(self, stream, step, count=0):
        if step == "ok":
            self.send_ok(stream)
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
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1])
    context.set_alpn_protocols(["h2"])
    scripts = [steps.split() for steps in sys.argv[2:]]
    print(listener.getsockname()[1], flush=True)

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
            link = context.wrap_socket(link, server_side=True)
        except (ssl.SSLError, OSError):
            return
        Connection(link, number, list(steps)).serve()

    threading.Thread(target=accept, daemon=True).start()
    sys.stdin.read()
    sys.stdout.flush()
    os._exit(0)


listener = socket.create_server(("127.0.0.1", 0))
main()
