"""A composed turn shown to people: its parts with tokens, the signature, and what the cache gave. Pure."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from bot.flow.plan import Plan
from bot.money.degrade import Step
from bot.prompt.tokens import log_tokens, message_tokens, tools_tokens
from bot.text.estimate import estimate_tokens
from bot.types.money import Limits, Pressure, Spend
from bot.types.prompt import Message


def ctx_report(plan: Plan, spend: Spend, text: Callable[..., str]) -> str:
    """Exactly the parts that the next call would send, in order, each with its estimated tokens."""
    prompt = plan.prompt
    log = log_tokens(plan.epoch) if plan.epoch is not None else 0
    entries = len(plan.epoch.entries) if plan.epoch is not None else 0
    tools = "\n".join(json.dumps(tool.wire(), ensure_ascii=False) for tool in prompt.tools)
    logged = "\n".join(f"[{message.role}] {_shown(message)}" for message in prompt.messages[1:-1])
    parts = [
        (text("ctx_system"), prompt.messages[0].content, message_tokens(prompt.messages[0])),
        (text("ctx_tools", n=len(prompt.tools)), tools, tools_tokens(prompt.tools)),
        (text("ctx_log", n=entries), logged, log),
        (text("ctx_opening"), plan.composed.opening, estimate_tokens(plan.composed.opening)),
        (text("ctx_new"), plan.composed.ctx, estimate_tokens(plan.composed.ctx)),
    ]
    lines = [text("ctx_mode", mode=plan.choice.mode, why=plan.choice.why)]
    for title, body, tokens in parts:
        if body or tokens:
            lines += [f"── {title} · {tokens} tok", *([body] if body else [])]
    total = sum(tokens for _, _, tokens in parts)
    rate = spend.cached_tokens / spend.prompt_tokens if spend.prompt_tokens else 0.0
    lines.append(text("ctx_total", tokens=total, signature=plan.prefix.signature))
    lines.append(
        text("ctx_cache", calls=spend.calls, prompt=spend.prompt_tokens, cached=spend.cached_tokens, rate=f"{rate:.0%}")
    )
    return "\n".join(lines)


def _shown(message: Message) -> str:
    calls = [f"{call.name}({call.arguments})" for call in message.tool_calls]
    return " ".join(part for part in (message.content, *calls) if part)


@dataclass(frozen=True, slots=True)
class Spent:
    """What was used today and this month, in all, and today in this chat and for this person."""

    day: Spend
    month: Spend
    total: Spend
    chat: Spend
    person: Spend


def budget_report(spent: Spent, limits: Limits, currency: str, text: Callable[..., str]) -> str:
    """What was spent, beside the limits; of chat, person and total only where there is a limit."""
    day, month = spent.day, spent.month

    def money(value: float | None) -> str:
        return text("budget_free") if value is None else f"{value:.4f} {currency}"

    def tokens(value: int | None) -> str:
        return text("budget_free") if value is None else str(value)

    further = (
        ("budget_total", spent.total, limits.total_money, limits.total_tokens),
        ("budget_chat", spent.chat, limits.chat_money, limits.chat_tokens),
        ("budget_person", spent.person, limits.person_money, limits.person_tokens),
    )
    return "\n".join(
        (
            text("budget_day", money=money(day.money), limit=money(limits.day_money), tokens=day.tokens,
                 token_limit=tokens(limits.day_tokens), calls=day.calls),
            text("budget_month", money=money(month.money), limit=money(limits.month_money), tokens=month.tokens,
                 token_limit=tokens(limits.month_tokens), calls=month.calls),
            *(
                text("budget_line", name=text(key), money=money(used.money), limit=money(most), tokens=used.tokens,
                     token_limit=tokens(count), calls=used.calls)
                for key, used, most, count in further if most is not None or count is not None
            ),
            text("budget_reserved", money=money(day.reserved_money), tokens=day.reserved_tokens),
        )
    )  # fmt: skip


def step_report(step: Step | Literal["silent"], pressure: Pressure, text: Callable[..., str]) -> str:
    """What is done without now, and the limit that comes nearest."""
    limit = text(f"limit_{pressure.limit}") if pressure.limit else ""
    near = text("budget_now_limit", limit=limit, share=f"{pressure.share:.0%}") if limit else ""
    return text("budget_now", step=text(f"step_{step}"), limit=near)
