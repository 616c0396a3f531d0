"""What the program says of an error that nobody expected: kind and place, never a text that may hold a secret."""

import subprocess
import sys

from bot.cli.exits import Exit
from tests.e2e import KEY
from tests.nursery import ROOT

BROKEN = f"""
import asyncio, gc, logging, threading
from bot.cli.commandline import defended
from bot.cli.guarding import hush

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

hush()
defended(program)
"""


def test_an_unexpected_error_is_told_in_a_line_without_its_text_wherever_it_comes_up() -> None:
    ran = subprocess.run([sys.executable, "-c", BROKEN], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == Exit.DEFECT
    assert KEY not in ran.stdout + ran.stderr
    assert "Traceback" not in ran.stderr
    lines = ran.stderr.splitlines()
    assert [line.split(" (")[0].split(" at ")[0] for line in lines] == [
        "nuan: unexpected KeyError", "nuan: unexpected ValueError", "nuan: unexpected ValueError", "nuan: error of lib",
        "nuan: this is a defect of nuan: RuntimeError",
    ]  # fmt: skip
    assert all(line.endswith("please report it") for line in lines if "Error" in line)
