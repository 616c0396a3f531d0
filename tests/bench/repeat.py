"""`python -m tests.bench.repeat 1000`: repeats ten hard tests and counts how often one differs from its first run."""

import asyncio
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tests.scenarios import SCENARIOS, fingerprint


async def repeat(times: int, keep: Path) -> int:
    """How many of the repeats differ; the two that differ first of a scenario are kept in `keep`."""
    differ = 0
    for scenario in SCENARIOS:
        started, wrong, first = time.monotonic(), 0, ""
        for number in range(times):
            folder = keep / scenario.__name__ / str(number)
            found = await fingerprint(scenario, folder)
            first = first or found
            wrong += found != first
            if number and (found == first or wrong > 1):
                shutil.rmtree(folder)
        differ += wrong
        seconds = time.monotonic() - started
        print(f"{scenario.__name__:28} {times} runs, {wrong} differ, {seconds / times * 1000:.0f} ms each", flush=True)
    return differ


def main() -> None:
    """Print one line for each scenario; exit code 1 when anything differed."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    keep = Path(tempfile.mkdtemp(prefix="nuan-repeat-"))
    differ = asyncio.run(repeat(times, keep))
    print(f"{times} repeats of {len(SCENARIOS)} tests: {differ} differ")
    if differ:
        sys.exit(f"the fingerprints that differ are in {keep}")
    shutil.rmtree(keep)


if __name__ == "__main__":
    main()
