"""How many things every container of an installation holds. It walks objects and changes nothing."""

import gc
import sys
from collections import deque
from types import BuiltinFunctionType, FrameType, FunctionType, ModuleType

from tests.world import World

Where = tuple[int, str]
"""A container: its address, and whose it is."""

SIZED = (dict, set, list, deque)


def largest(root: object, world: World) -> dict[Where, int]:
    """The length of each container that can be reached, by where it is; what belongs to the test is left out."""
    tests = (
        world,
        vars(world),
        world.model,
        vars(world.model),
        world.log,
        world.log.lines,
        world.talk,
        world.talk.said,
        world.clock,
        vars(world.clock),
    )
    return contained(root, "app", *tests)


def contained(root: object, name: str, *without: object) -> dict[Where, int]:
    """The same of any object, which is called `name`."""
    known = {id(vars(module)) for module in list(sys.modules.values()) if isinstance(module, ModuleType)}
    known |= {id(one) for one in without}
    found: dict[Where, int] = {}
    todo: list[tuple[object, str]] = [(root, name)]
    while todo:
        one, whose = todo.pop()
        if id(one) in known or isinstance(one, type | ModuleType | BuiltinFunctionType | FrameType | str | bytes | int):
            continue
        known.add(id(one))
        if isinstance(one, FunctionType):
            todo += [(cell, whose) for cell in one.__closure__ or ()]
            continue
        if isinstance(one, SIZED):
            found[(id(one), whose)] = len(one)
        else:
            whose = type(one).__qualname__
        names = {id(value): name for name, value in getattr(one, "__dict__", {}).items()}
        for other in gc.get_referents(one):
            todo.append((other, f"{whose}.{names[id(other)]}" if id(other) in names else whose))
    return found
