"""`python tests/server_watch.py PROGRAMS FOLDER [USER GROUP]`: runs a PostgreSQL server until nobody needs it any more.

Its data lie in FOLDER/data, its socket and the pipe FOLDER/users in FOLDER. When nobody holds the pipe for writing any
more the server is stopped and FOLDER removed. USER and GROUP say whose process the server is.
"""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path


def watch(programs: Path, folder: Path, *account: int) -> None:
    """Run the server to its end."""
    user, group = account or (None, None)
    command = [str(programs / "postgres"), "-D", str(folder / "data"), "-k", str(folder)]
    with subprocess.Popen(command, cwd=folder, user=user, group=group, extra_groups=[] if account else None) as server:
        with (folder / "users").open("rb") as users:
            users.read()
        server.send_signal(signal.SIGINT)
    shutil.rmtree(folder)


if __name__ == "__main__":
    if os.fork():
        os._exit(0)  # it outlives whoever started it, and is nobody's child
    watch(Path(sys.argv[1]), Path(sys.argv[2]), *map(int, sys.argv[3:]))
