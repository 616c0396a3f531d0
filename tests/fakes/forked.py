"""`python -S -P forked.py ADDRESS MODULE WORDS …`: a module of the project, run by the fork server with that address in the
place of this process, which needs none of the seconds that its imports take.
"""

import json
import os
import select
import socket
import sys


def main(address: str, module: str, *words: str) -> int:
    """Run it with the streams, folder and environment of this process; how it ended. It is killed with this process."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as wire:
        wire.connect(f"\0{address}")
        folder = os.getcwd()  # noqa: PTH109 - to import pathlib takes as long as all of this
        order = {"module": module, "words": words, "folder": folder, "environment": dict(os.environ)}
        socket.send_fds(wire, [json.dumps(order).encode()], (0, 1, 2))
        pid = wire.recv(100)
        for stream in (0, 1):  # they are the other's now
            os.close(stream)
        select.select([os.pidfd_open(int(pid))], [], [])
        wire.send(pid)
        return int(wire.recv(100))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
