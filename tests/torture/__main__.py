"""`python -m tests.torture RUN [KILLS] [MESSAGES]`: kills, then counts, one line. The runs are in RUNS.

`order` kills nobody: 50 people write 40 messages each. `limits` keeps the platform's real limits."""

import asyncio
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from signal import SIGKILL, SIGTERM

from tests.fakes.telegram_faults import Limits
from tests.torture.grounds import discord, telegram
from tests.torture.kills import Plan, Run

RUNS: dict[str, Run] = {
    "telegram": telegram,
    "placeholder": lambda folder, plan: telegram(folder, plan, placeholder=True),
    "discord": discord,
    "sigterm": telegram,
    "order": lambda folder, plan: telegram(folder, replace(plan, kills=0, people=50)),
    "limits": lambda folder, plan: telegram(folder, replace(plan, kills=0, people=20), limits=Limits()),
}


def main() -> None:
    """Exit code 1 when something was lost or said twice."""
    name = sys.argv[1] if len(sys.argv) > 1 else "telegram"
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    messages = int(sys.argv[3]) if len(sys.argv) > 3 else 2_000
    plan = Plan(kills, messages)
    if name == "sigterm":
        plan = replace(plan, ends_by=SIGTERM)
    with tempfile.TemporaryDirectory() as folder:
        count = asyncio.run(RUNS[name](Path(folder), plan))
    print(f"{name}: {count.line()}")
    # Only Telegram without placeholders may not know what became of a message.
    wrong = count.lost + count.twice + count.early + count.unanswered + count.violations
    wrong += count.unknown if name in ("discord", "placeholder", "order", "limits") else 0
    wrong += sum(
        times for code, times in count.exits.items() if code not in (0, -SIGKILL) or (code and name == "sigterm")
    )
    sys.exit(bool(wrong or count.slowest_exit_s > 10))


if __name__ == "__main__":
    main()
