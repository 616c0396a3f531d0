"""`python -m tests.bench.intent FILE`: how often small talk and talk about something are taken for each other.

Each line of FILE is JSON with text, label (light, full, grey), source and script. False-light is the costly error: a
request answered without memory and tools. Grey rows are neither, their light rate is only told.
"""

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from time import perf_counter

from bot.language.small_talk import is_casual
from bot.text.fold import fold


def main() -> int:
    """Print the figures; 2 when the file cannot be read."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--show", type=int, default=0, help="How many mistakes of each kind to print.")
    asked = parser.parse_args()
    try:
        rows = [json.loads(line) for line in asked.file.read_text("utf-8").splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        print(f"{asked.file}: {error}", file=sys.stderr)
        return 2
    fold("暖")  # the table of characters is read once, at the first use
    began = perf_counter()
    light = [is_casual(row["text"]) for row in rows]
    each = (perf_counter() - began) / max(1, len(rows))
    total: Counter[tuple[str, str, str]] = Counter()
    wrong: Counter[tuple[str, str, str]] = Counter()
    shown: dict[str, list[str]] = {"full": [], "light": []}
    for row, is_light in zip(rows, light, strict=True):
        for source in (row["source"], "all"):
            key = (source, row["script"], row["label"])
            total[key] += 1
            wrong[key] += is_light is not (row["label"] == "light")
        if row["label"] in shown and is_light is not (row["label"] == "light"):
            shown[row["label"]].append(row["text"])
    print(f"{'source':24} {'script':7} {'false-light':>18} {'missed-light':>18} {'grey as light':>18}")
    for source, script in sorted({key[:2] for key in total}, key=lambda key: (key[0] == "all", key)):
        cells = [
            _share(wrong[source, script, label], total[source, script, label]) for label in ("full", "light", "grey")
        ]
        print(f"{source:24} {script:7} " + " ".join(f"{cell:>18}" for cell in cells))
    missed = [
        100 * wrong["all", script, "light"] / total["all", script, "light"]
        for script in sorted({key[1] for key in total})
        if total["all", script, "light"]
    ]
    print(f"script gap {max(missed, default=0) - min(missed, default=0):.1f} points; {each * 1e6:.0f} µs a message")
    for label, texts in shown.items():
        for text in texts[: asked.show]:
            print(f"{label}: {text!r}")
    return 0


def _share(count: int, of: int) -> str:
    return f"{count}/{of} = {100 * count / of:.2f} %" if of else "-"


if __name__ == "__main__":
    sys.exit(main())
