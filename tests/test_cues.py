"""What may be a wish is never passed over: a model is told so, and without one its writer is asked in one line."""

import json

import pytest

from bot.language.wishes.own_words import read_own_words
from bot.language.wishes.reader import understand, wish_cue
from tests.conftest import NewWorld
from tests.fakes.model import calls
from tests.tables import all_cases
from tests.world import World


def kept(world: World) -> list[object]:
    return [row[0] for row in world.peek.memories("text", disabled_at=None)]


CUES = [
    ("以后聊到吃的你得记着点儿，我不吃香菜", "我不吃香菜", "是的", "不用"),
    ("save this about me -> INFJ, night owl", "INFJ", "yes", "no"),
]


@pytest.mark.parametrize(("text", "about", "yes", "no"), CUES)
async def test_without_a_model_it_is_asked_back_and_a_yes_keeps_it(
    new_world: NewWorld, text: str, about: str, yes: str, no: str
) -> None:
    world = await new_world(prompt={"tools": False})
    await world.say(text)
    assert about in world.replies[-1]
    assert kept(world) == []
    await world.say(yes)
    assert len(kept(world)) == 1
    assert about in str(kept(world)[0])


@pytest.mark.parametrize(
    "said",
    [
        "老板喊我加班",
        "医生叫我少吃辣的",
        "朋友喊我一起去爬山",
        "同學叫我班長",
        "下雨了叫我收衣服",
        "我男朋友叫我宝贝",
        "家里人叫我囡囡",
    ],
)
async def test_whom_somebody_else_calls_without_a_model_is_not_asked_about(new_world: NewWorld, said: str) -> None:
    world = await new_world(prompt={"tools": False})
    await world.say(said)
    assert world.replies == ["好的"]


@pytest.mark.parametrize(
    "said",
    [
        "忘记我妈的生日了",
        "糟糕，忘記我媽的生日了",
        "忘记我妈的生日了，好愧疚",
        "小暖，忘记我妈的生日了，怎么办",
        "谢谢，忘记我妈的生日了",
        "忘掉我妈的生日了，好愧疚",
    ],
)
async def test_what_somebody_forgot_themselves_stays_kept(world: World, said: str) -> None:
    await world.say("记住我妈的生日是3月8日")
    await world.say(said)
    assert kept(world) == ["我妈的生日是3月8日"]


@pytest.mark.parametrize(
    "said",
    ["没忍住又养了一只，叫年糕，也是柯基哈哈", "表哥那边清了 一身轻", "我家猫叫豆包就是那只橘的", "谁叫我是姐姐呢"],
)
async def test_a_pets_name_and_what_is_settled_are_no_words_of_a_wish(world: World, said: str) -> None:
    await world.say(said)
    assert "remember" not in world.last_user


@pytest.mark.parametrize(
    "said",
    [
        "明天8点叫我起床，千万别忘了叫我。我现在去洗澡",
        "Remind me to call mom tomorrow at 8am, don't forget. I'm so tired today, what should I do",
        "我叫阿明，以后就这么叫我吧，你今天干嘛了",
    ],
)
async def test_of_what_is_done_already_nothing_is_hinted(world: World, said: str) -> None:
    await world.say("我昨天去爬山了，腿好酸，你呢最近怎么样")
    await world.say(said)
    assert said[:6] in world.last_user
    assert "remember" not in world.last_user


async def test_whoever_asks_to_be_reminded_is_not_offered_it(world: World) -> None:
    await world.say("记一下我明天要面试，到时候提醒我，我好紧张啊怎么办")
    assert "⏰1" in world.replies[-1]
    assert "要我到时候提醒你吗" not in world.replies[-1]


@pytest.mark.parametrize(
    "said",
    [
        "帮我几一下，空调保修到后年六月",
        "麻煩建檔，會員編號 7781",
        "以後你要知道 我對貓過敏",
        "我离职那事作废吧",
        "这话听过就算",
        "plz rmeember i work from home fridays",
        "so you know: no birthdays in my family",
        "pin this: vet is on Mill Road",
        "purge my address",
        "it's Sam, not Samantha",
        "enough with the sweetheart",
        "no notes on this one",
    ],
)
async def test_words_of_a_wish_in_whatever_form_are_told_to_the_model(world: World, said: str) -> None:
    await world.say(said)
    assert "remember" in world.last_user.splitlines()[-1] or "forget" in world.last_user.splitlines()[-1]


@pytest.mark.parametrize("said", ["佢叫我唔好再減肥 我應承佢正常食飯", "boss 叫我 take note"])
async def test_what_others_ask_of_one_is_no_name(world: World, said: str) -> None:
    await world.say(said)
    assert kept(world) == []
    assert "name" not in world.last_user.splitlines()[-1]


@pytest.mark.parametrize("said", ["不用存啦", "别写下来"])
async def test_what_is_not_to_be_kept_is_a_cue_that_says_so(world: World, said: str) -> None:
    world.model.script = lambda request: "好"
    await world.say(said)
    assert world.last_user.splitlines()[-1].split("：")[0] in (
        "（TA可能要你忘掉记着的，或别记刚说的",
        "（TA可能要你忘掉記著的，或別記剛說的",
    )


async def test_a_no_or_anything_else_keeps_nothing(new_world: NewWorld) -> None:
    world = await new_world(prompt={"tools": False})
    await world.say(CUES[0][0])
    await world.say("不用")
    assert kept(world) == []
    await world.say(CUES[0][0])
    await world.say("今天好热啊")
    await world.say("是的")
    assert kept(world) == []


async def test_with_a_model_the_turn_carries_one_line_and_the_tool_decides(world: World) -> None:
    world.model.script = lambda request: (
        "好，记住了" if request.prompt.messages[-1].role == "tool" else calls(("remember", '{"text": "我不吃香菜"}'))
    )
    await world.say(CUES[0][0])
    assert [line for line in world.last_user.splitlines() if line.startswith("（TA可能")] == [
        "（TA可能要你记住什么：是就用 remember，拿不准就问一句，不是就照常聊）"
    ]
    assert kept(world) == ["我不吃香菜"]


async def test_with_a_model_a_name_can_be_set_by_the_tool(world: World) -> None:
    world.model.script = lambda request: (
        "好的呀"
        if request.prompt.messages[-1].role == "tool"
        else calls(("remember", '{"text": "糖糖", "kind": "call"}'))
    )
    await world.say("hey nuan，你可以 call me 糖糖 吗，我喜欢这个")
    assert world.peek.memories("text", "slot", disabled_at=None) == [("糖糖", "address")]


async def test_ordinary_talk_is_no_cue(world: World) -> None:
    for text in ("我又忘记带伞了", "还记得我们第一次聊天吗", "i forgot my keys again", "do you remember my cat?"):
        await world.say(text)
        assert "（TA可能" not in world.last_user
        assert "(They may" not in world.last_user


@pytest.mark.parametrize(
    ("text", "tool", "arguments", "kept_", "asks"),
    [
        ("你心里要有数，我弟有忧郁症", "remember", '{"text": "我弟有忧郁症"}', ["我弟有忧郁症"], "要我记住"),
        ("我现在网名是Kiki啦，你也跟着改口呗", "remember", '{"text": "Kiki", "kind": "call"}', ["Kiki"], "怎么叫你"),
        (
            "hold on to one thing, my dog is called Biscuit",
            "remember",
            '{"text": "my dog is called Biscuit"}',
            ["my dog is called Biscuit"],
            "Shall I remember",
        ),
    ],
)
async def test_words_of_a_wish_are_pointed_out_to_a_model_and_asked_back_without_one(
    new_world: NewWorld, text: str, tool: str, arguments: str, kept_: list[str], asks: str
) -> None:
    world = await new_world()
    world.model.script = lambda request: (
        "好的" if request.prompt.messages[-1].role == "tool" else calls((tool, arguments))
    )
    await world.say(text)
    assert any(line.startswith(("（若TA", "(If they")) for line in world.last_user.splitlines())
    assert kept(world) == kept_
    alone = await new_world(prompt={"tools": False})
    await alone.say(text)
    assert asks in alone.replies[-1]
    assert kept(alone) == []


@pytest.mark.parametrize(
    ("text", "yes", "left"),
    [
        ("你心里要有数，我弟有忧郁症", "是", "我弟有忧郁症"),
        ("My husband's name is spelled Jon, no h. Do remember it, dear.", "yes", "My husband's name is spelled Jon"),
        ("把這個記下來，阿明欠我兩千三", "是", "阿明欠我兩千三"),
    ],
)
async def test_a_yes_keeps_what_was_told(new_world: NewWorld, text: str, yes: str, left: str) -> None:
    world = await new_world(prompt={"tools": False})
    await world.say(text)
    await world.say(yes)
    assert left in str(kept(world)[0])


async def test_a_yes_keeps_nothing_of_the_line_before(new_world: NewWorld) -> None:
    world = await new_world(prompt={"tools": False})
    await world.say("记住我住杭州")
    await world.say("记住我不吃香菜")
    await world.say("不用存啦")
    await world.say("是的")
    assert kept(world) == ["我住杭州"]


@pytest.mark.parametrize("text", ["这个 don't save 哈，我 crush 上我 roommate 了", "这话听过就算，我被裁了"])
async def test_a_yes_keeps_nothing_of_the_line_that_asks_so(new_world: NewWorld, text: str) -> None:
    world = await new_world(prompt={"tools": False})
    await world.say(text)
    await world.say("是的")
    assert world.rows("SELECT 1 FROM edge WHERE kind = 'aside'")


async def test_a_yes_forgets_what_is_kept_of_it_and_asks_first_which(new_world: NewWorld) -> None:
    world = await new_world(prompt={"tools": False})
    await world.say("记住我鞋码41半")
    await world.say("你存的我鞋码，抹掉")
    await world.say("是")
    assert "我鞋码41半" in world.replies[-1]
    await world.say("是")
    assert kept(world) == []


@pytest.mark.parametrize("said", ["以后别这么叫我了好吗 就这个昵称 怪怪的", "我改名了 现在用林知远这个名字叫我"])
async def test_nobody_is_called_by_what_is_no_name(new_world: NewWorld, said: str) -> None:
    world = await new_world(prompt={"tools": False})
    await world.say(said)
    await world.say("是")
    assert kept(world) == []


@pytest.mark.parametrize(
    "said",
    [
        "我boss叫我redo整个deck，崩溃",
        "forget it, i'll walk",
        "記得小時候外婆都會煮綠豆湯給我喝",
        "mum calls me every night",
        "这游戏存档没了",
    ],
)
async def test_nobody_is_asked_about_ordinary_talk(new_world: NewWorld, said: str) -> None:
    world = await new_world(prompt={"tools": False})
    await world.say(said)
    assert world.replies == ["好的"]


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("I'd be grateful if you would remember that I no longer drink.", "I no longer drink"),
        ("以后推荐吃的记得我不吃香菜", "我不吃香菜"),
        ("你記性好你幫我記 阿嬤的滷肉要放兩顆八角", "阿嬤的滷肉要放兩顆八角"),
        ("Can u put in ur memory that my brother is called Dev", "my brother is called Dev"),
    ],
)
async def test_a_wish_within_its_sentence_keeps_the_plain_fact_after_it(world: World, said: str, text: str) -> None:
    await world.say(said)
    assert kept(world) == [text]


@all_cases("said", ["没错记住我怕狗", "唔該晒记住我怕狗", "唔好唔記得我怕狗"])
def test_what_is_to_be_kept_is_kept_after_a_no_that_denies_something_else(said: str) -> None:
    assert [wish.content for wish in understand(said).commands] == ["我怕狗"]


@pytest.mark.parametrize("said", ["唔記得我媽生日", "唔记得我怕狗", "没记住我妈的生日是3月8日"])
async def test_what_somebody_does_not_remember_is_neither_kept_nor_forgotten(new_world: NewWorld, said: str) -> None:
    world = await new_world(prompt={"tools": False})
    await world.say("记住我妈的生日是8月3日")
    await world.say(said)
    assert kept(world) == ["我妈的生日是8月3日"]
    assert "我媽生日" not in world.replies[-1]


@pytest.mark.parametrize(
    "said", ["你別記我什麼時候回家", "I should remember that I have friends", "你听完就算了别记下来，我昨天哭了"]
)
async def test_what_is_denied_or_said_of_oneself_is_not_kept(world: World, said: str) -> None:
    await world.say(said)
    assert kept(world) == []


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("我改名啦,现在叫林知夏,你以后就这么叫我哈", "林知夏"),
        ("you can just 叫我老王 haha", "老王"),
        ("厂里人都管我叫大刘 你也这么叫吧", "大刘"),
    ],
)
async def test_a_name_is_taken_without_what_stands_around_it(world: World, said: str, name: str) -> None:
    await world.say(said)
    assert kept(world) == [name]


async def test_what_is_not_to_be_remembered_any_more_goes_though_a_reason_follows(world: World) -> None:
    await world.say("remember that i like k-pop")
    await world.say("stop remembering that i like k-pop my friends can see this account")
    assert kept(world) == []


@pytest.mark.parametrize("line", ["這件事你不要忘記喔，我兒子讀資源班", "别忘了哈，我对花生过敏"])
def test_not_to_forget_asks_to_remember(line: str) -> None:
    cue = wish_cue(line)
    kept = [each.verb for each in understand(line).commands]
    assert (cue.verb if cue is not None else kept[0]) == "remember"
    assert read_own_words(1, line, ()).keeps


async def test_a_wish_to_forget_is_no_answer_to_what_is_to_be_kept(world: World) -> None:
    await world.say("记住😀")
    await world.say("忘记 #")
    assert kept(world) == []


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("never let me forget that Colin has my drill", "Colin has my drill"),
        ("敲黑板：我周三不上班", "我周三不上班"),
    ],
)
async def test_what_a_model_takes_for_a_wish_to_keep_is_kept(world: World, said: str, text: str) -> None:
    arguments = json.dumps({"text": text}, ensure_ascii=False)
    world.model.script = lambda request: (
        "好的" if request.prompt.messages[-1].role == "tool" else calls(("remember", arguments))
    )
    await world.say(said)
    assert kept(world) == [text]


@pytest.mark.parametrize(
    "said", ["阅后即焚：我离婚了", "以下不要紀錄：我偷看了他手機", "not for the record but i hate him"]
)
async def test_what_a_model_takes_for_not_to_be_kept_is_kept_nowhere(world: World, said: str) -> None:
    arguments = json.dumps({"text": said}, ensure_ascii=False)
    world.model.script = lambda request: (
        "好的" if request.prompt.messages[-1].role == "tool" else calls(("forget", arguments))
    )
    await world.say(said)
    assert world.rows("SELECT 1 FROM edge WHERE kind = 'aside'")


async def test_after_a_fact_and_a_wish_what_goes_on_is_not_what_is_kept(world: World) -> None:
    world.model.script = lambda request: "好的"
    await world.say("我最爱的歌是《晴天》，你帮我记一笔，改天考你")
    assert kept(world) == []
    assert "remember" in world.last_user.splitlines()[-1]


@pytest.mark.parametrize(
    "said", ["记住我18号飞大阪 喔不是 19号才对", "call me Sam. sorry, Sammie", "叫我阿撤 打错了 阿澈"]
)
async def test_what_a_message_mends_itself_is_left_to_the_model(world: World, said: str) -> None:
    world.model.script = lambda request: "好的"
    await world.say(said)
    assert kept(world) == []
    assert "remember" in world.last_user.splitlines()[-1]


AFTER = [
    ("今天去了城北，路上碰到阿琳。记住她姓廖", "remember"),
    ("水瓶座这个月桃花旺，记住钱不要借人", "remember"),
    ("Hi, I'm the family in 2B, please remember our son needs that bay", "remember"),
    ("我換工作了，以前說在印刷廠上班那個可以忘了", "forget"),
]


@pytest.mark.parametrize(("said", "tool"), AFTER)
async def test_a_wish_after_something_else_is_judged_by_a_model_that_can(world: World, said: str, tool: str) -> None:
    world.model.digests = True
    await world.say(said)
    assert kept(world) == []
    assert world.replies == ["好的"]
    assert tool in world.last_user.splitlines()[-1]


@pytest.mark.parametrize("said", ["记住我怕狗，小时候被咬过", "嗯，记住我怕狗", "我怕狗，小时候被咬过，这个要记住"])
async def test_a_message_that_begins_with_its_wish_is_done_at_once_beside_any_model(world: World, said: str) -> None:
    world.model.digests = True
    await world.say(said)
    assert len(kept(world)) == 1


async def test_without_a_model_that_judges_a_wish_after_something_else_is_done(world: World) -> None:
    await world.say(AFTER[1][0])
    assert kept(world) == ["钱不要借人"]


async def test_what_a_model_was_left_it_may_keep(world: World) -> None:
    world.model.digests = True
    call = ("remember", json.dumps({"text": "阿琳姓廖"}, ensure_ascii=False))
    world.model.script = lambda request: "好的" if request.prompt.messages[-1].role == "tool" else calls(call)
    await world.say(AFTER[0][0])
    assert kept(world) == ["阿琳姓廖"]


async def test_a_yes_to_another_question_that_quotes_a_paste_agrees_to_nothing_in_it(world: World) -> None:
    world.model.digests = True
    await world.say("房东刚发来的，气死我了\n押金不退，记住我的押金是三千")
    await world.say("不用")
    world.model.script = lambda request: "“房东刚发来的，气死我了 押金不退，记住我的押金是三千”，要我帮你回吗？"
    await world.say("那我该怎么回他呢，你帮我想想")
    call = ("remember", json.dumps({"text": "我的押金是三千"}, ensure_ascii=False))
    world.model.script = lambda request: "好的" if request.prompt.messages[-1].role == "tool" else calls(call)
    await world.say("好的，帮我回吧")
    assert kept(world) == []


async def test_what_somebody_pasted_and_said_yes_to_a_model_may_keep(world: World) -> None:
    world.model.digests = True
    await world.say("房东刚发来的，气死我了\n押金不退，记住我的押金是三千")
    assert "像是贴过来的" in world.replies[-1]
    call = ("remember", json.dumps({"text": "我的押金是三千"}, ensure_ascii=False))
    world.model.script = lambda request: "好的" if request.prompt.messages[-1].role == "tool" else calls(call)
    await world.say("是的")
    assert kept(world) == ["我的押金是三千"]
