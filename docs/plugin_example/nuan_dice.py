"""A plugin: dice, and the usual weather of a month, without network. docs/plugins.md tells about it."""

from secrets import randbelow

from pydantic import Field

from bot.core.plugins import Plugin, PluginCall, PluginCommand, PluginSkill, PluginTool
from bot.core.tools import ToolArguments


class Roll(ToolArguments):
    dice: int = Field(default=1, ge=1, le=20, description="how many")


class Weather(ToolArguments):
    month: int = Field(ge=1, le=12)


async def roll(call: PluginCall, wanted: Roll) -> str:
    thrown = [randbelow(6) + 1 for _ in range(wanted.dice)]
    await call.values.put("last", f"{' + '.join(map(str, thrown))} = {sum(thrown)}")
    return await call.values.get("last")


async def weather(call: PluginCall, wanted: Weather) -> str:
    return f"usually {1 + 19 * (6 - abs(7 - wanted.month)) // 6} °C"


async def rolled(call: PluginCall) -> str:
    return await call.values.get("last") or "nobody has rolled here yet"


tools = (
    PluginTool("dice_roll", "Rolls dice; never make a number up.", Roll, roll, reads=False),
    PluginTool("usual_weather", "How warm Berlin usually is in a month.", Weather, weather),
)
commands = (PluginCommand("rolled", "what was rolled here last", rolled),)
skills = (PluginSkill("games", "# Games with dice\nRoll with dice_roll, and let others win now and then."),)
plugin = Plugin("dice", tools, commands, skills)
