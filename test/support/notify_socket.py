"""Listens on a Unix datagram socket as systemd does, and prints what a service tells it, one JSON list of lines a message.

Arguments: path, seconds. After READY=1, a time of that many seconds without WATCHDOG=1 prints ["TIMEOUT"] once; the next
sign of life arms it again. A path that begins with @ is a socket in no folder.
"""

import json
import socket
import sys
import time

path, seconds = sys.argv[1], float(sys.argv[2])
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind("\0" + path[1:] if path.startswith("@") else path)
print(json.dumps(["LISTENING"]), flush=True)
due = None
while True:
    listener.settimeout(None if due is None else max(due - time.monotonic(), 0.001))
    try:
        lines = listener.recv(65536).decode().split("\n")
    except TimeoutError:
        due = None
        print(json.dumps(["TIMEOUT"]), flush=True)
        continue
    if "READY=1" in lines or "WATCHDOG=1" in lines:
        due = time.monotonic() + seconds
    print(json.dumps(lines), flush=True)
