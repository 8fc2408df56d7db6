#!/usr/bin/env python3
"""A web server on loopback for the tests. It prints its port in the first line, and ends when its standard input is
closed.

Serves the files of the folder that is its argument, and these paths for each of them:

  /drop/NAME    half of the file, then the connection is reset
  /once/NAME    as /drop at the first request, then the whole file
  /hold/NAME    half of the file, then no more; prints "holding"
"""
import http.server
import os
import socket
import struct
import sys
import threading

folder = sys.argv[1]
asked = set()


class Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *arguments):
        super().__init__(*arguments, directory=folder)

    def do_GET(self):
        kind, _, rest = self.path.lstrip("/").partition("/")
        if kind not in ("drop", "once", "hold"):
            return super().do_GET()
        path = self.path
        self.path = "/" + rest
        if kind == "once" and path in asked:
            return super().do_GET()
        asked.add(path)
        with open(self.translate_path(self.path), "rb") as file:
            data = file.read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2])
        self.wfile.flush()
        if kind == "hold":
            print("holding", flush=True)
            threading.Event().wait()
        # With this option, closing the connection sends a reset.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def handle(self):
        try:
            super().handle()
        except OSError:
            pass

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(server.server_port, flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
os._exit(0)
