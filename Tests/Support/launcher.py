#!/usr/bin/env python3
"""Starts the servers of the tests, each as a fork of this process.

A fork takes a few milliseconds, because Python and the modules are loaded. Starting Python for each server takes a few
hundred milliseconds of processor time, which the tests that run meanwhile do not get.

It listens on a free port of 127.0.0.1, prints the port in its first line, and ends when its standard input is closed.
For each server a client connects and sends one line: a JSON list with the name of a program of this folder and its
arguments. The connection is then the standard input and output of that program. It needs only the standard library.
"""
import json
import os
import select
import signal
import socket
import sys
import traceback

# The modules of the servers. They are not used here, but need not be loaded by each server.
import base64, email.policy, gzip, hashlib, http.server  # noqa: E401, F401
import ssl, struct, threading, time, urllib.parse, zlib  # noqa: E401, F401

FOLDER = os.path.dirname(os.path.abspath(__file__))


def code(name, known={}):
    """The compiled program."""
    if name not in known:
        path = os.path.join(FOLDER, name)
        with open(path, "rb") as file:
            known[name] = compile(file.read(), path, "exec")
    return known[name]


def run(program, arguments, link):
    """Runs a program, and ends the process with it."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for descriptor in (0, 1):
            os.dup2(link.fileno(), descriptor)
        link.close()
        sys.argv = arguments
        exec(program, {"__name__": "__main__"})
    except BaseException:
        traceback.print_exc()
    os._exit(1)


def main():
    # The system reaps the servers.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    print(listener.getsockname()[1], flush=True)
    # No client sends to the standard input, so it is readable when it is closed.
    while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
        link, _ = listener.accept()
        arguments = json.loads(link.makefile("rb").readline() or "[]")
        if arguments:
            program = code(arguments[0])
            if os.fork() == 0:
                listener.close()
                run(program, arguments, link)
        link.close()


main()
