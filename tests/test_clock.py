"""The real clock when the machine's is changed or the machine sleeps, and deadlines that fire at their millisecond."""

from collections.abc import Callable
from dataclasses import dataclass

from bot.core.clock import POLL_S, SystemClock
from tests.conftest import NewWorld
from tests.fakes.clock import SimClock, let_others_run
from tests.world import World

GROUP = "闲聊"
HOUR_MS = 3_600_000


@dataclass
class Machine:
    """A machine's two clocks, ms; `wall` can be set, and stands for what people see."""

    wall: int = 1_781_226_000_000
    steady: int = 500

    def clock(self) -> SystemClock:
        return SystemClock(lambda: self.wall * 1_000_000, lambda: self.steady * 1_000_000)

    def goes_on(self, ms: int) -> None:
        self.wall += ms
        self.steady += ms


def test_the_time_is_the_machines() -> None:
    machine = Machine()
    clock = machine.clock()
    for ms in (0, 1, 999, 60_000, HOUR_MS):
        machine.goes_on(ms)
        assert clock.now() == machine.wall


def test_a_clock_set_forward_and_a_machine_that_slept_are_followed_at_once() -> None:
    machine = Machine()
    clock = machine.clock()
    machine.wall += HOUR_MS
    assert clock.now() == machine.wall
    machine.goes_on(10)
    assert clock.now() == machine.wall


def test_a_clock_set_back_an_hour_never_runs_backwards_and_is_caught_up() -> None:
    machine = Machine()
    clock = machine.clock()
    before = clock.now()
    machine.wall -= HOUR_MS
    assert clock.now() == before
    machine.goes_on(10_000)
    assert clock.now() == before + 9_000, "a follow-up that is due in five seconds is late by less than one"
    for _ in range(10 * 360):
        machine.goes_on(10_000)
        assert clock.now() >= before
    assert clock.now() == machine.wall


async def test_an_alarm_looks_at_the_clock_every_five_seconds_and_fires_once() -> None:
    machine = Machine()
    clock, fired = machine.clock(), list[int]()
    alarm = clock.at(machine.wall + HOUR_MS, lambda: fired.append(1))
    await let_others_run()
    assert alarm._timer.when() <= alarm._timer._loop.time() + POLL_S  # type: ignore[attr-defined]
    alarm._look()  # type: ignore[attr-defined]
    assert fired == []
    machine.wall += HOUR_MS  # the machine slept: its timers stood still
    alarm._look()  # type: ignore[attr-defined]
    assert fired == [1]
    clock.at(machine.wall + 1, lambda: fired.append(2)).cancel()
    assert fired == [1]


def test_a_clock_set_forward_is_followed_when_what_waits_was_moved_along() -> None:
    machine, told = Machine(), list[int]()
    clock = machine.clock()
    clock.on_jump(lambda: told.append(1))
    before = clock.now()
    machine.goes_on(2_000)
    machine.wall += HOUR_MS
    assert clock.now() == before + 2_000
    machine.goes_on(3_000)
    assert (clock.now(), clock.jump) == (before + 5_000, HOUR_MS)
    clock.warn()
    assert told == [1]
    clock.follow()
    assert (clock.now(), clock.jump) == (machine.wall, 0)
    machine.goes_on(HOUR_MS)  # the machine slept: the time that is never set knows
    assert (clock.now(), clock.jump) == (machine.wall, 0)
    machine.wall += 900
    assert (clock.now(), clock.jump) == (machine.wall, 0), "it was a little slow"


class Settable(SimClock):
    """A clock that can be set forward, as the machine's."""

    jump = 0
    call: Callable[[], None] = print

    def on_jump(self, call: Callable[[], None]) -> None:
        self.call = call

    def follow(self) -> None:
        self._now, self.jump = self._now + self.jump, 0

    def set_forward(self, ms: int) -> None:
        self.jump = ms
        self.call()


async def test_an_hour_forward_leaves_a_follow_up_and_a_window_as_long_as_they_were(new_world: NewWorld) -> None:
    world = await new_world()
    await world.close()
    world.clock = clock = Settable(world.clock.now())
    await world.open()
    await world.say("一个小时后提醒我收衣服")
    await world.say("小暖，在吗", "阿明", GROUP)
    await world.say("我想说", "阿明", GROUP)
    replies = len(world.replies)
    await world.wait(2)
    clock.set_forward(HOUR_MS)
    await world.app.settled()
    assert any("收衣服" in reply for reply in world.replies[replies:]), "an hour of the day has come"
    replies = len(world.replies)
    await world.wait(2.999)
    assert len(world.replies) == replies
    await world.wait(0.001)
    assert len(world.replies) == replies + 1
    await world.wait(54.9)
    assert world.peek.windows.count() == 2
    await world.wait(0.1)
    assert world.peek.windows.count() == 1, "the group's began again with the follow-up"
    await world.wait(5)
    assert world.peek.windows.count() == 0
    assert [line["ms"] for line in world.log.named("clock_set_forward")] == [HOUR_MS]


async def test_a_follow_up_is_due_to_the_millisecond(world: World) -> None:
    await world.say("小暖，在吗", "阿明", GROUP)
    await world.say("我想说", "阿明", GROUP)
    await world.wait(4.999)
    assert len(world.replies) == 1
    await world.wait(0.001)
    assert len(world.replies) == 2


async def test_a_window_ends_to_the_millisecond_with_nobody_speaking(world: World) -> None:
    await world.say("小暖，在吗", "阿明", GROUP)
    await world.wait(59.999)
    assert world.peek.windows.count() == 1
    await world.wait(0.001)
    assert world.peek.windows.count() == 0


async def test_silence_and_four_in_the_morning_close_to_the_millisecond(new_world: NewWorld) -> None:
    idle, day = await new_world(), await new_world(session={"idle_seconds": 999_999})
    for world, ms, why in ((idle, 1_800_000, "idle"), (day, 19 * HOUR_MS, "day")):
        await world.say("你好")
        begun = world.clock.now()
        await world.wait((ms - 1) / 1000)
        assert world.peek.sessions("close_reason", "closed_at") == [("", None)]
        await world.wait(0.001)
        assert world.peek.sessions("close_reason", "closed_at") == [(why, begun + ms)]


async def test_what_was_set_while_the_clock_was_ahead_does_not_wait_for_it(new_world: NewWorld) -> None:
    world = await new_world(speak={"paced": True})
    world.model.script = lambda request: "一\n\n二"
    await world.say("小暖，在吗", "阿明", GROUP)
    await world.say("我想说", "阿明", GROUP)
    await world.close()
    world.clock = SimClock(world.clock.now() - HOUR_MS)
    await world.open()
    await world.wait(10)
    assert world.replies == ["一", "一", "二"]
    assert world.log.named("clock_was_ahead") == [{"deadlines": 3}]
    await world.wait(120)
    assert world.peek.windows.count() == 0
    await world.wait(1_900)
    assert world.peek.sessions("state", "close_reason") == [("closed", "idle")]
