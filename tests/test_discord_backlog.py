"""What happened to messages on Discord while nuan was away: deletions and edits are found in the history."""

from tests.discord_support import RecordingSink, Scene, Town, running
from tests.fakes.discord_world import Channel


def changes(sink: RecordingSink, label: str = "delete") -> list[str]:
    """The messages that the sink was told of as deleted (or edited), in order."""
    return [one.target for one in sink.stored if one.label == label]


def asked(town: Town, place: Channel) -> int:
    """How often the history of a channel was read."""
    path = f"/channels/{place.id}/messages"
    return sum(one.path == path and one.method == "GET" for one in town.server.requests)


async def test_what_was_deleted_while_away_is_told_before_what_is_new(town: Town, scene: Scene) -> None:
    async with running(town.server, scene):
        said = [town.say(place, town.lin, f"{n}") for place in (town.hall, town.dm) for n in range(5)]
        await scene.sink.until(lambda: len(scene.sink.stored) == 10)
    town.server.people.delete(said[1])
    town.server.people.delete(said[4])
    town.server.people.delete(said[5])
    town.say(town.hall, town.ann, "missed")
    async with running(town.server, scene):
        await scene.sink.until(lambda: len(scene.sink.stored) == 14)
    assert sorted(changes(scene.sink)) == sorted(str(said[n].id) for n in (1, 4, 5))
    assert scene.sink.of(town.hall)[5:] == ["", "", "missed"]
    gone = next(one for one in scene.sink.stored if one.target == str(said[1].id))
    assert gone.delivery_key == f"{town.server.world.bot.id}:{said[1].id}:delete"
    assert (gone.kind, gone.place.external_id, gone.sender) == ("event", str(town.hall.id), None)


async def test_a_deletion_is_told_once_however_often_nuan_comes_back(town: Town, scene: Scene) -> None:
    async with running(town.server, scene):
        said = town.say(town.hall, town.lin, "oops")
        town.say(town.hall, town.lin, "well")
        await scene.sink.until(lambda: len(scene.sink.stored) == 2)
    town.server.people.delete(said)
    for number in range(3):
        async with running(town.server, scene):
            town.say(town.hall, town.lin, f"{number}")
            await scene.sink.until(lambda count=number: len(scene.sink.stored) == 4 + count)  # type: ignore[misc]
    assert changes(scene.sink) == [str(said.id)]


async def test_what_is_merely_older_than_the_history_shows_is_not_deleted(town: Town, scene: Scene) -> None:
    async with running(town.server, scene):
        old = town.say(town.hall, town.lin, "old")
        await scene.sink.until(lambda: len(scene.sink.stored) == 1)
    async with running(town.server, scene):
        said = [town.say(town.hall, town.lin, f"{n}") for n in range(130)]
        await scene.sink.until(lambda: len(scene.sink.stored) == 131)
    # The sink knows only some of what the channel holds, so its newest hundred reach further back than one request.
    scene.sink.stored = [one for n, one in enumerate(scene.sink.stored) if n % 3 == 0]
    last = int(scene.sink.stored[-1].external_id)
    town.server.people.delete(old)
    town.server.people.delete(*(one for one in said if one.id == last))
    async with running(town.server, scene):
        await scene.sink.until(lambda: bool(changes(scene.sink)))
        town.say(town.hall, town.lin, "end")
        await scene.sink.until(lambda: scene.sink.texts[-1] == "end")
    assert changes(scene.sink) == [str(last)]


async def test_a_channel_that_was_emptied_is_empty_to_nuan(town: Town, scene: Scene) -> None:
    async with running(town.server, scene):
        said = [town.say(town.hall, town.lin, f"{n}") for n in range(150)]
        await scene.sink.until(lambda: len(scene.sink.stored) == 150)
    town.server.people.delete(*said, bulk=True)
    async with running(town.server, scene):
        await scene.sink.until(lambda: len(scene.sink.stored) == 250)
    assert changes(scene.sink) == [str(one.id) for one in said[50:]]


async def test_a_channel_that_may_not_be_read_any_more_is_not_taken_to_be_empty(town: Town, scene: Scene) -> None:
    async with running(town.server, scene):
        for place in (town.dm, town.hall):
            town.say(place, town.lin, "there")
        await scene.sink.until(lambda: len(scene.sink.stored) == 2)
    town.dm.readable = town.hall.remembers = False
    async with running(town.server, scene):
        town.say(town.other, town.lin, "now")
        await scene.sink.until(lambda: "now" in scene.sink.texts)
        await town.server.until(lambda: asked(town, town.dm) == 1)
    assert changes(scene.sink) == []


async def test_a_look_that_fails_deletes_nothing_and_is_taken_again_next_time(town: Town, scene: Scene) -> None:
    async with running(town.server, scene):
        said = [town.say(town.hall, town.lin, f"{n}") for n in range(2)]
        await scene.sink.until(lambda: len(scene.sink.stored) == 2)
    town.server.people.delete(said[0])
    town.server.misbehave("reset", times=2, method="GET", path=r"/channels/\d+/messages")
    async with running(town.server, scene):
        town.say(town.hall, town.lin, "goes on")
        await scene.sink.until(lambda: scene.sink.texts[-1] == "goes on")
    assert changes(scene.sink) == []
    async with running(town.server, scene):
        await scene.sink.until(lambda: changes(scene.sink) == [str(said[0].id)])


async def test_a_resumed_connection_reads_no_history(town: Town, scene: Scene) -> None:
    async with running(town.server, scene):
        town.say(town.hall, town.lin, "before")
        await scene.sink.until(lambda: scene.sink.texts == ["before"])
        town.server.gateway.drop(4000, resumable=True)
        town.say(town.hall, town.lin, "meanwhile")
        await scene.sink.until(lambda: len(scene.sink.stored) == 2)
    assert asked(town, town.hall) == 0


async def test_what_was_said_in_channels_and_threads_never_seen_is_read_from_when_their_guild_was_seen_last(
    town: Town, scene: Scene
) -> None:
    stranger = town.server.world.add_guild("别处", town.lin)
    elsewhere = town.server.world.add_channel(stranger, "elsewhere")
    town.say(town.other, town.lin, "long ago")
    async with running(town.server, scene):
        town.say(town.hall, town.lin, "before")
        await scene.sink.until(lambda: scene.sink.texts == ["before"])
    town.say(town.other, town.lin, f"{town.server.world.bot.mention} 在吗")
    thread = town.server.people.thread(town.hall, town.ann, "新话题", "new thread")
    town.say(thread, town.ann, "second")
    town.say(elsewhere, town.lin, "a guild nobody knows")
    async with running(town.server, scene):
        town.say(town.hall, town.lin, "now")
        await scene.sink.until(lambda: "now" in scene.sink.texts and len(scene.sink.of(thread)) == 2)
        await scene.sink.until(lambda: bool(scene.sink.of(town.other)))
    assert [one.mentions_bot for one in scene.sink.stored if one.place.external_id == str(town.other.id)] == [True]
    assert scene.sink.of(thread) == ["new thread", "second"]
    assert scene.sink.of(elsewhere) == []


async def test_being_put_out_of_a_guild_is_told_for_each_of_its_places(town: Town, scene: Scene) -> None:
    async with running(town.server, scene):
        for place in (town.hall, town.other, town.dm):
            town.say(place, town.lin, "hi")
        await scene.sink.until(lambda: len(scene.sink.stored) == 3)
        town.server.people.leave(town.guild, town.server.world.bot)
        await scene.sink.until(lambda: len(scene.sink.stored) == 5)
    told = {(one.place.external_id, one.label) for one in scene.sink.stored[3:]}
    assert told == {(str(town.hall.id), "gone"), (str(town.other.id), "gone")}


async def test_a_place_costs_one_request_more_and_an_unknown_place_one_if_there_is_news(
    town: Town, scene: Scene
) -> None:
    async with running(town.server, scene):
        town.say(town.hall, town.lin, "before")
        await scene.sink.until(lambda: len(scene.sink.stored) == 1)
    town.say(town.hall, town.lin, "missed")
    async with running(town.server, scene):
        await scene.sink.until(lambda: len(scene.sink.stored) == 2)
        town.say(town.other, town.lin, "new")
        await scene.sink.until(lambda: len(scene.sink.stored) == 3)
    assert (asked(town, town.hall), asked(town, town.other)) == (2, 1)


async def test_what_was_edited_while_away_reads_anew_and_is_told_once(town: Town, scene: Scene) -> None:
    async with running(town.server, scene):
        said = town.say(town.hall, town.lin, "at five")
        town.say(town.hall, town.lin, "yes")
        await scene.sink.until(lambda: len(scene.sink.stored) == 2)
    town.server.people.edit(said, "at six")
    for number in range(2):
        async with running(town.server, scene):
            town.say(town.hall, town.lin, f"{number}")
            await scene.sink.until(lambda count=number: len(scene.sink.stored) == 4 + count)  # type: ignore[misc]
    (edit,) = [one for one in scene.sink.stored if one.label == "edit"]
    assert (edit.text, edit.target, edit.sender and edit.sender.name) == ("at six", str(said.id), "林")
    assert changes(scene.sink) == []
