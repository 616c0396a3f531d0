"""Whose a memory is stands there once, wherever it is told."""

import pytest

from bot.text.clean import named_once
from tests.tables import all_cases
from tests.test_digest_changes import after
from tests.test_shared_digests import answering
from tests.world import World


@all_cases(
    ("who", "text", "told"),
    [
        ("慧敏", "慧敏：慧敏：住在杭州", ("慧敏", "住在杭州")),
        ("慧敏", "慧敏住在杭州", ("", "慧敏住在杭州")),
        ("Jordan", "Jordan: Jordan works nights", ("", "Jordan works nights")),
        ("Jordan", "works nights", ("Jordan", "works nights")),
        ("Jo", "Jordan works nights", ("Jo", "Jordan works nights")),
        ("Jo", "Jo's cat is old", ("", "Jo's cat is old")),
        ("", "慧敏：住在杭州", ("", "慧敏：住在杭州")),
    ],
)
def test_a_name_that_a_text_begins_with_comes_once(who: str, text: str, told: tuple[str, str]) -> None:
    assert named_once(who, text) == told


@pytest.mark.parametrize("text", ["小王：小王在苏州当护士", "小王在苏州当护士", "在苏州当护士"])
async def test_opening_and_list_tell_a_name_once(world: World, text: str) -> None:
    await after(world, "我在苏州当护士", statements=[{"text": text, "from": [1], "slot": "job", "lasting": True}])
    await world.wait(7_200)
    await world.say("帮我想想我平时上班要带什么东西")
    await world.say(".ai mem 苏州")
    for told in (world.last_user, world.replies[-1]):
        row = next(row for row in told.split("\n") if "苏州当护士" in row and "我在" not in row)
        assert row.count("小王") <= 1, row
    whole = [
        message.content
        for request in world.model.requests
        if request.prompt.tools
        for message in request.prompt.messages
    ]
    assert "小王：小王" not in "\n".join(whole)


async def test_a_group_tells_a_name_once(world: World) -> None:
    told = {"小王": 1, "阿兰": 3}
    statements = [
        {"text": f"{who}：{who}在{city}当护士", "from": [told[who]], "slot": "job", "lasting": True}
        for who, city in (("小王", "苏州"), ("阿兰", "成都"))
    ]
    answering(world, {"summary": "两位护士", "statements": statements})
    await world.say("小暖，我在苏州当护士", "小王", "朋友")
    await world.say("小暖，我在成都当护士", "阿兰", "朋友")
    await world.say("/new", "小王", "朋友")
    assert world.peek.memories("text") == [("小王在苏州当护士",), ("阿兰在成都当护士",)]
    await world.wait(7_200)
    await world.say("小暖，帮我们想想护士节要不要一起做点什么", "小王", "朋友")
    rows = [row for row in world.last_user.split("\n") if "苏州当护士" in row]
    assert rows
    assert all(row.count("小王") == 1 for row in rows if "<p " not in row)
