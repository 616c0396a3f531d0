"""`python -m tests.torture.memories [RUNS]`: random operations on memories against a simple oracle; 20 in each run."""

import sys

from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from tests.test_store_memories_model import Memories

STEPS = 20
"""Operations of one run."""


def main() -> int:
    """500 runs are 10,000 operations; the first that disagrees ends it with what led there."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    rules = settings(max_examples=runs, stateful_step_count=STEPS, deadline=None, derandomize=False)
    run_state_machine_as_test(Memories, settings=rules)
    sys.stdout.write(f"{runs * STEPS} operations: table, index and oracle agree\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
