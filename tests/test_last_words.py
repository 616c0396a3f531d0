"""What the program says of an error that nobody expected: kind and place, never a text that may hold a secret."""

import subprocess
import sys

from bot.cli.terminal import ExitCode
from tests.e2e import KEY
from tests.fork_server import ROOT

BROKEN = f"""
import asyncio, gc, logging, threading
from bot.cli.commandline import run_program as defended

class Bad:
    def __del__(self):
        raise ValueError({KEY!r})

async def dropped():
    asyncio.get_running_loop().create_task(fails())
    await asyncio.sleep(0)
    gc.collect()

async def fails():
    raise ValueError({KEY!r})

def program():
    thread = threading.Thread(target=lambda: {{}}[{KEY!r}])
    thread.start()
    thread.join()
    Bad()
    asyncio.run(dropped())
    logging.getLogger("lib").error("key %s", {KEY!r})
    try:
        int({KEY!r})
    except ValueError as error:
        raise RuntimeError({KEY!r}) from error

defended(program)
"""


def test_an_unexpected_error_is_told_in_a_line_without_its_text_wherever_it_comes_up() -> None:
    ran = subprocess.run([sys.executable, "-c", BROKEN], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == ExitCode.DEFECT
    assert KEY not in ran.stdout + ran.stderr
    assert "Traceback" not in ran.stderr
    kinds = [line.split(" at ")[0].removeprefix("nuan: ") for line in ran.stderr.splitlines()]
    of = "this is a defect of nuan: "
    assert kinds == [f"{of}KeyError", f"{of}ValueError", f"{of}ValueError", "error of lib", f"{of}RuntimeError"]
