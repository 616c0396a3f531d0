"""`.ai mcp`: servers of outside tools, as the owner sees, approves and revokes them; and a person's answer to whether one
may be used."""

from bot.commands.command import Invocation, command
from bot.core.events import Button, Draft
from bot.core.tools import OutsideServers
from bot.pipeline.dispatch import TurnWanted
from bot.tools.outside import review_text


@command(
    "mcp",
    "[NAME [PAGE] | approve NAME CODE | revoke NAME | yes NUMBER | no NUMBER]",
    who="anyone",
    topic="admin",
    private=True,
    example="",
)
async def mcp(call: Invocation) -> str | Draft | TurnWanted:
    """Answer a question, as anybody it was put to; all else is the owner's."""
    match call.folded:
        case ("yes" | "no") as answer, figures if figures.isascii() and figures.isdigit() and len(figures) < 16:
            return await _answer(call, answer == "yes", int(figures))
    servers = call.services.servers
    if not call.person.is_owner:
        return call.text("not_allowed")
    states = await servers.states()
    if not states:
        return call.text("mcp_none")
    if not call.words:
        return "\n".join(await server_lines(call, servers))
    match call.words:
        case (verb, name, code) if verb.lower() == "approve":
            done = await servers.approve(name, code)
            return call.text("mcp_approved" if done else "mcp_other", name=name)
        case (verb, name) if verb.lower() == "revoke":
            return call.text("mcp_revoked" if await servers.revoke(name) else "mcp_not_approved", name=name)
        case (name, *page):
            number = int(page[0]) if page and page[0].isascii() and page[0].isdigit() and len(page[0]) < 4 else 1
            return await _review(call, servers, name, max(number, 1))
    return call.text("mcp_none")


async def server_lines(call: Invocation, servers: OutsideServers) -> list[str]:
    """Where each server stands, a line each."""
    lines: list[str] = []
    for state in await servers.states():
        standing = call.text(f"mcp_standing_{state.standing}")
        counts = {"n": state.offers, "calls": state.calls_today, "most": state.day_calls}
        line = call.text("mcp_line", name=state.name, standing=standing, **counts)
        lines.append(line + (call.text("mcp_problem", problem=state.problem) if state.problem else ""))
    return lines


async def _review(call: Invocation, servers: OutsideServers, name: str, page: int) -> str | Draft:
    review = await servers.review(name)
    if review is None:
        return call.text("mcp_unknown", name=name[:32])
    text = review_text(review, call.text, page)
    waits = bool(review.code) and review.before != review.after
    says = f".ai mcp approve {name} {review.code}"
    buttons = (Button(call.text("button_approve"), says, call.account),) if waits and call.account else ()
    return Draft(text, "command", buttons=buttons)


async def _answer(call: Invocation, agrees: bool, number: int) -> str | TurnWanted:
    """What a person says to the question whether a tool may be used; after a yes the model goes on with it."""
    tool = await call.store.outside.answer(number, call.chat.id, call.person.id, agrees, call.now)
    if tool is None:
        return call.text("mcp_no_question")
    name = tool.partition(" ")[0]
    if not agrees:
        return call.text("mcp_no", tool=name)
    return TurnWanted(call.services.texts.openings.text("outside_agreed", call.script, tool=name))
