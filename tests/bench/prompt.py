"""`python -m tests.bench.prompt [DIR]`: what a day of prompts costs under providers' cache rules, beside other designs.

Three days go through the real bot, tuned to a model of each rule: groups, a mixed day, and private chats alone.
Groups are the two logs of DIR that last longest, each at its own pace on one day, with their own calls and follow-ups;
as many private turns come to them as make TURNS in all (tests/bench/dmday.py), so DIR decides the mix. Without DIR
there is only the private day. How the other designs (a) and (b) are built is said in tests/bench/designs.py, the rules
of providers in tests/bench/prices.py.

Cost is billed input tokens at the full price; output is left out, digests and summaries count DIGEST_PRICE of it. A
prompt is kept whole when it begins, item by item and byte by byte, with the one before it in its epoch and the reply.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import repeat
from pathlib import Path

from bot.config.settings import Settings
from bot.pipeline.endpoints import with_provider_defaults
from bot.text.length import estimate_tokens, message_tokens, tools_tokens
from tests.bench.day import MIDNIGHT, REPLY_TOKENS, TOOL_SHARE, Day, groups, kept_whole, live, persona, small_turns
from tests.bench.designs import MEMORY, OPENS, TAIL, WARM, WINDOW, Arranged, Sizes, ours, sliding, tail
from tests.bench.dmday import CASUAL, SESSION_MS, TURN_MS, dm_day
from tests.bench.killed import kept_after_kills
from tests.bench.logs import Log, Step, read_logs
from tests.bench.prices import RULES, Ask, Bill, Rule, bills

TURNS = 351
DIGEST_PRICE = 0.25
"""Turns of a day, and the price of the model that summarises (PROMPT_ECONOMICS section 4)."""
NAMES = ("小暖", "暖暖", "nuan")
SIZES = Sizes()
SERVED = {
    "OpenAI <= 5.5": ("https://api.openai.com/v1", "gpt-5.4"),
    "OpenAI >= 5.6": ("https://api.openai.com/v1", "gpt-5.6-terra"),
    "DeepSeek": ("https://api.deepseek.com", "deepseek-v4-flash"),
    "Anthropic-like": ("https://openrouter.ai/api/v1", "anthropic/claude-sonnet-5.5"),
}
"""A model of each rule: nuan tunes its sessions to what is known of it. Nobody is called."""
LOG_TOKENS, IDLES = (3000, 4500, 6000, 8000, 12000), (300, 1800, 7200, 21600)


Days = dict[str, Day]
"""One day as it goes under each rule, by its name."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line decides; None leaves what nuan chooses for the provider."""

    bootstrap: int = 3000
    seed: int = 1
    log_tokens: int | None = None
    idle: int | None = None
    sizes: Sizes = SIZES

    def settings(self, names: tuple[str, ...], rule: Rule) -> Settings:
        """As nuan would run with a model of that rule, but for what is asked for, and without a limit of tokens."""
        limits = {"log_tokens": self.log_tokens, "idle_seconds": self.idle}
        base_url, model = SERVED[rule.name]
        return with_provider_defaults(
            Settings.model_validate(
                {
                    "bot": {"names": names, "timezone": "Asia/Shanghai"},
                    "budget": {"day_tokens": None},
                    "session": {name: value for name, value in limits.items() if value is not None},
                    "model": {"base_url": base_url, "name": model},
                }
            )
        )


@dataclass(frozen=True, slots=True)
class Row:
    """A design under a rule: tokens a turn, share read from the cache, cost a turn with digests at both prices."""

    tokens: float
    hit: float
    cost: float
    dear: float


async def lived(steps: Sequence[Step], settings: Settings, options: Options, small_talk: float = CASUAL) -> Day:
    """A day of these steps, so much of them small talk, with data that is thrown away."""
    with tempfile.TemporaryDirectory() as folder:
        made = persona(Path(folder), options.bootstrap)
        return await live(steps, settings, Path(folder) / "data", made, options.seed, small_talk)


def days(logs: Sequence[Log], options: Options) -> dict[str, Days]:
    """Every day by its name, as it goes under each rule; each tuning lives through them in a process of its own."""
    names = (*NAMES, *(name for log in logs for name in log.names))
    tuned = {rule.name: options.settings(names, rule) for rule in RULES}
    apart = {_tuning(settings): settings for settings in tuned.values()}
    with ProcessPoolExecutor() as pool:
        ran = dict(zip(apart, pool.map(_run, repeat(logs), apart.values(), repeat(options)), strict=True))
    found: dict[str, Days] = {}
    for name, settings in tuned.items():
        for title, day in ran[_tuning(settings)].items():
            found.setdefault(title, {})[name] = day
    return found


def _tuning(settings: Settings) -> str:
    """What a rule changes in nuan."""
    return f"{settings.session} {settings.prompt}"


def _run(logs: Sequence[Log], settings: Settings, options: Options) -> dict[str, Day]:
    return asyncio.run(_days(logs, settings, options))


async def _days(logs: Sequence[Log], settings: Settings, options: Options) -> dict[str, Day]:
    found: dict[str, Day] = {}
    if logs:
        found["groups"] = await lived(groups(logs), settings, options, 0.0)
        left = max(1, TURNS - len(found["groups"].turns))
        wanted = min(max((CASUAL * TURNS - small_turns(found["groups"], NAMES)) / left, 0.0), 1.0)
        private = dm_day(left, options.seed, MIDNIGHT, small_talk=wanted)
        mixed = sorted((*groups(logs), *private), key=lambda step: step.at)
        found["mixed"] = await lived(mixed, settings, options)
    found["private"] = await lived(dm_day(TURNS, options.seed, MIDNIGHT), settings, options)
    return found


def longest(folder: Path) -> tuple[Log, ...]:
    """The two logs that last longest, of the folder below `folder` that holds most files of logs."""
    files = sorted(folder.rglob("*.jsonl"))
    places = [file.parent for file in files]
    logs = read_logs(max(places, key=lambda place: (places.count(place), str(place)))) if files else ()
    return tuple(sorted(logs, key=lambda log: log.steps[0].at - log.steps[-1].at)[:2])


def row(rule: Rule, asks: Sequence[Ask], turns: int) -> Row:
    """What these requests cost."""
    paid = bills(rule, asks)
    costs = [(rule.cost(bill), ask.cause == "digest") for bill, ask in zip(paid, asks, strict=True)]
    tokens = sum(ask.tokens for ask in asks)
    return Row(
        tokens / turns,
        sum(bill.cached for bill in paid) / tokens,
        sum(cost * (DIGEST_PRICE if digest else 1) for cost, digest in costs) / turns,
        sum(cost for cost, _ in costs) / turns,
    )


def best(rule: Rule, choices: Sequence[Arranged], turns: int) -> Row:
    """The cheapest choice of marks for the whole day."""
    return min((row(rule, asks, turns) for asks in choices), key=lambda one: one.cost)


def rows(rule: Rule, day: Day, sizes: Sizes) -> dict[str, Row]:
    """Every design under a rule; `(a) marked` is (a) where the provider marks every prompt's end by itself."""
    turns, slides = len(day.turns), sliding(day, sizes, rule.tools_first)
    found = {
        "nuan": row(rule, ours(day, sizes), turns),
        "(a) window": best(rule, slides, turns),
        "(b) tail": best(rule, tail(day, sizes), turns),
    }
    if rule.match == "marks":
        found["(a) marked"] = row(rule, slides[1], turns)
    return found


def table(title: str, each: Days, sizes: Sizes) -> list[str]:
    """One day under every rule."""
    lines = [
        "",
        f"== {title}",
        f"{'':16}{'design':12}{'tokens':>8}{'hit':>7}{'cost':>8}"
        f"{'of (a)':>8}{'of (b)':>8}   digests at full price: {'of (a)':>6}{'of (b)':>8}",
    ]
    for rule in RULES:
        day = each[rule.name]
        kept, pairs = kept_whole(day)
        lines.append(f"{rule.name}: {facts(day)}; kept whole {kept}/{pairs}")
        found = rows(rule, day, sizes)
        a, b = found["(a) window"], found["(b) tail"]
        for name, one in found.items():
            lines.append(
                f"{rule.name:16}{name:12}{one.tokens:8.0f}{one.hit:7.1%}{one.cost:8.0f}{one.cost / a.cost:8.3f}"
                f"{one.cost / b.cost:8.3f}{'':26}{one.dear / a.dear:6.3f}{one.dear / b.dear:8.3f}"
            )
        lines += [f"{'':16}  background: {background(day):.1%} of all tokens", *parts(rule, day, sizes)]
    return lines


def background(day: Day) -> float:
    """The part of digests and roll-ups in all tokens, read and written; tools are nuan's own."""
    sizes = [
        (tools_tokens(call.prompt.tools) + sum(map(message_tokens, (*call.prompt.messages, call.answer))), call.turn)
        for call in day.calls
    ]
    return sum(size for size, turn in sizes if not turn) / max(1, sum(size for size, _ in sizes))


def parts(rule: Rule, day: Day, sizes: Sizes) -> list[str]:
    """What nuan's cost is made of, a turn: by cause, and by what the tokens were to the cache."""
    asks = ours(day, sizes)
    paid: dict[str, list[Bill]] = {}
    for ask, bill in zip(asks, bills(rule, asks), strict=True):
        paid.setdefault("reply" if ask.cause == "followup" else ask.cause, []).append(bill)
    lines = []
    for cause, some in sorted(paid.items()):
        price = (DIGEST_PRICE if cause == "digest" else 1) / len(day.turns)
        kinds = {
            "uncached": sum(bill.uncached for bill in some),
            "cached": rule.cached * sum(bill.cached for bill in some),
            "written": rule.written * sum(bill.written for bill in some),
        }
        told = " + ".join(f"{name} {cost * price:.0f}" for name, cost in kinds.items())
        lines.append(f"{'':16}  {cause} ({len(some)} calls): {told} = {sum(kinds.values()) * price:.0f}")
    return lines


def facts(day: Day) -> str:
    """What the day was."""
    small = small_turns(day, NAMES)
    tools = len({call.turn for call in day.calls if call.cause == "tool"})
    lines = [f'<p n="{e.name}">{e.text}</p>' for events in day.events.values() for e in events if e.kind == "message"]
    size = sum(map(estimate_tokens, lines)) / max(1, len(lines))
    epochs = len({call.epoch for call in day.calls if call.turn})
    light = len({call.turn for call in day.calls if call.turn and not call.prompt.tools})
    begins = {call.epoch: call.prompt.messages[1].content for call in reversed(day.calls) if call.prompt.tools}
    opens = [estimate_tokens(text[: text.find(OPENS)]) for text in begins.values()]
    return (
        f"{len(day.turns)} turns in {len(day.events)} chats, {small / len(day.turns):.0%} small talk, "
        f"{tools / len(day.turns):.0%} with a tool call, {len(lines)} messages of {size:.1f} tokens as XML, "
        f"{epochs} epochs (opening block {sum(opens) / max(1, len(opens)):.0f} tokens), {light} light turns, "
        f"{sum(call.turn == 0 for call in day.calls)} digests, {len(day.trouble)} warnings"
    )


def head(day: Day, options: Options) -> list[str]:
    """The parameters."""
    full = next(call.prompt for call in day.calls if call.prompt.tools)
    real = tools_tokens(full.tools)
    sizes = options.sizes
    return [
        f"seed {options.seed}, system message {message_tokens(full.messages[0])} tokens, tools {sizes.tools or real} "
        f"(nuan's own: {real}), reply {REPLY_TOKENS}, tool calls in {TOOL_SHARE:.0%} of turns",
        f"small talk in {CASUAL:.0%} of turns; private chats: {TURN_MS // 1000} s between turns, "
        f"{SESSION_MS // 60_000} min between sessions; digests at {DIGEST_PRICE} of the price",
        *(tuning(options, rule) for rule in RULES),
        f"(a) window {WINDOW} events, memory {MEMORY}; (b) tail {TAIL} entries, memory {MEMORY}, warm boot {WARM}; "
        f"{sizes.bot_lines} of the bot's lines in both",
        "tokens are nuan's estimates for o200k, cost is in tokens at the full price, both a turn",
        *(rule.line() for rule in RULES),
    ]


def tuning(options: Options, rule: Rule) -> str:
    """How nuan runs under a rule."""
    settings = options.settings(NAMES, rule)
    session = settings.session
    return (
        f"{rule.name}: log {session.log_tokens} tokens, idle {session.idle_seconds} s, "
        f"prompt warm for {settings.prompt.warm_seconds} s"
    )


def sweep(logs: Sequence[Log], options: Options) -> list[str]:
    """Cost of the mixed (or private) day relative to (a) for each size of log and each idle time."""
    lines = ["cost a turn and its part of (a) under " + ", ".join(rule.name for rule in RULES)]
    tried = [replace(options, log_tokens=most) for most in LOG_TOKENS]
    tried += [replace(options, idle=idle) for idle in IDLES]
    for one in tried:
        found = days(logs, one)
        day = found.get("mixed", found["private"])
        costs = [rows(rule, day[rule.name], one.sizes) for rule in RULES]
        told = "  ".join(
            f"{cost['nuan'].cost:5.0f} {cost['nuan'].cost / cost['(a) window'].cost:.3f}" for cost in costs
        )
        lines.append(f"log {one.log_tokens or 'default':>7}  idle {one.idle or 'default':>7}  {told}")
    return lines


def main() -> None:
    """Print the tables; exit code 0 unless something breaks."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.prompt")
    parser.add_argument("folder", type=Path, nargs="?", help="folder with *.jsonl logs of groups, at any depth")
    parser.add_argument("--bootstrap", type=int, default=3000, help="tokens of the system message")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log-tokens", type=int, help="session.log_tokens")
    parser.add_argument("--idle", type=int, help="session.idle_seconds")
    parser.add_argument("--tools", type=int, default=1200, help="tokens of all tool schemas, 0 for nuan's own")
    parser.add_argument("--bot-lines", type=int, default=3, help="lines of the bot's in the windows of (a) and (b)")
    parser.add_argument("--kills", type=int, default=20, help="how often the real program is killed")
    parser.add_argument("--sweep", action="store_true", help="only the sizes of the log and the idle times")
    given = parser.parse_args()
    sizes = Sizes(given.tools, given.bot_lines)
    options = Options(given.bootstrap, given.seed, given.log_tokens, given.idle, sizes)
    logs = longest(given.folder) if given.folder is not None else ()
    if given.sweep:
        print("\n".join(sweep(logs, options)))
        return
    found = days(logs, options)
    lines = head(found["private"][RULES[0].name], options) + [f"groups: {log.title}" for log in logs]
    with ProcessPoolExecutor() as pool:
        for told in pool.map(table, found, found.values(), repeat(sizes)):
            lines += told
    print("\n".join(lines), flush=True)
    if given.kills:
        print("\n" + asyncio.run(kept_after_kills(given.kills, given.seed)).line())


if __name__ == "__main__":
    main()
