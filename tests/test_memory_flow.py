"""Several wishes at once, questions asked back, 别记这个, 那条 and 撤销 as people use them in a conversation."""

import pytest

from bot.core.files import PromptFiles
from bot.model.offline import OfflineModel
from bot.text.catalogue import catalogue
from tests.conftest import NewWorld
from tests.peek import Like
from tests.world import World

GROUP = "闲聊"
DIGEST = '{"summary":"聊天","statements": [{"kind": "event","text":"我今天和老板吵架了","from":[1]}]}'


def kept(world: World) -> list[str]:
    return [str(row[0]) for row in world.peek.memories("text", disabled_at=None)]


async def answers_offline(world: World) -> None:
    world.model = OfflineModel(catalogue(PromptFiles(None).path, "offline"))  # type: ignore[assignment]
    await world.restart()


@pytest.mark.parametrize("fact", ["年糕对鸡肉过敏", "下周五之前要交报告", "小李的电话是13800001111"])
@pytest.mark.parametrize("group", ["", GROUP])
async def test_a_fact_about_somebody_or_something_else_is_kept_with_a_receipt(
    world: World, fact: str, group: str
) -> None:
    await world.say(f"{'小暖，' if group else ''}记住{fact}", group=group)
    assert [reply.partition("：")[0] for reply in world.replies] == ["记住啦 #1"]
    assert kept(world) == [fact]
    assert world.model.requests == []


async def test_several_facts_of_one_message_are_listed_in_one_reply(world: World) -> None:
    await world.say("记住：1. 我住在苏州 2. 我养了两只猫 3. 我不吃香菜")
    assert world.replies == ["记住啦 #1：我住在苏州\n记住啦 #2：我养了两只猫\n记住啦 #3：我不吃香菜"]


@pytest.mark.parametrize(
    ("text", "receipt"),
    [
        ("别叫我阿明，叫我明哥", "好，不叫你阿明了（#1），以后叫你明哥（#2）"),
        ("別叫我阿明，叫我明哥", "好，不叫你阿明了（#1），以後叫你明哥（#2）"),
        ("don't call me Bob, call me Rob", "Okay, no longer Bob (#1): I'll call you Rob (#2)"),
    ],
)
async def test_a_name_in_the_place_of_another_has_one_receipt_that_says_both(
    world: World, text: str, receipt: str
) -> None:
    await world.say(text)
    assert world.replies == [receipt]


async def test_after_a_crash_the_receipts_of_a_message_are_still_one_reply(world: World) -> None:
    world.talk.broken = True
    await world.app.ingest.accept(world.message("别叫我阿明，叫我明哥。记住我怕狗"))
    await world.crash()
    world.talk.broken = False
    await world.wait(60)
    assert len(world.replies) == 1
    assert len(world.replies[0].splitlines()) == 2
    assert sorted(kept(world)) == sorted(["阿明", "明哥", "我怕狗"])


async def test_that_points_past_small_talk_and_commands_to_what_was_told(world: World) -> None:
    await world.say("我的车停在B2层")
    await world.say("嗯嗯")
    await world.say("把这个记下来")
    assert kept(world) == ["我的车停在B2层"]


async def test_this_sentence_as_a_reply_is_the_one_replied_to(world: World) -> None:
    await world.say("周六去看外婆", external_id="m1")
    await world.say("今天好热", external_id="m2")
    await world.say("记住这句话", external_id="m3", target="m1")
    assert kept(world) == ["周六去看外婆"]


@pytest.mark.parametrize(
    ("wish", "question", "told", "receipt"),
    [
        ("记住这句话", "要我记住什么呢？再说一遍内容吧", "周三有体检", "记住啦 #1：周三有体检，要我到时候提醒你吗？"),
        (
            "remember this",
            "What should I remember? Tell me once more.",
            "my bike is blue",
            "Got it, I'll remember #1: my bike is blue",
        ),
    ],
)
async def test_what_is_told_after_the_question_what_to_remember_is_kept(
    world: World, wish: str, question: str, told: str, receipt: str
) -> None:
    await world.say(wish)
    await world.restart()
    await world.say(told)
    assert world.replies == [question, receipt]
    assert kept(world) == [told]
    assert world.model.requests == []


async def test_another_question_is_no_answer_and_ends_the_asking(world: World) -> None:
    await world.say("记住这句话")
    await world.say("今天吃什么？")
    await world.say("周三有体检")
    assert kept(world) == []
    assert len(world.model.requests) == 2


async def test_a_name_not_named_is_asked_for(world: World) -> None:
    await world.say("别这么叫我")
    assert world.replies[-1].startswith("不想被叫做什么呢")
    await world.say("阿明")
    assert world.replies[-1] == "好，以后不叫你阿明了 #1"


@pytest.mark.parametrize("text", ["/remember 好的", "/remember ok", "/remember 。。。", "帮我记一下：嗯嗯"])
async def test_what_says_nothing_is_not_stored_and_that_is_said(world: World, text: str) -> None:
    await world.say(text)
    assert kept(world) == []
    assert len(world.replies) == 1


async def coffee(world: World) -> None:
    for fact in ("我喜欢喝咖啡", "我每天喝两杯咖啡", "我怕狗"):
        await world.say(f"记住{fact}")
    await world.say("忘记关于咖啡的事")
    assert world.replies[-1].splitlines()[1:] == ["1. #2 我每天喝两杯咖啡", "2. #1 我喜欢喝咖啡"]
    assert len(kept(world)) == 3


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        ("1", ["我喜欢喝咖啡", "我怕狗"]),
        ("第二条", ["我每天喝两杯咖啡", "我怕狗"]),
        ("#1", ["我每天喝两杯咖啡", "我怕狗"]),
        ("1和2", ["我怕狗"]),
        ("全部", ["我怕狗"]),
        ("是", ["我怕狗"]),
        ("确认", ["我怕狗"]),
        ("算了", ["我喜欢喝咖啡", "我每天喝两杯咖啡", "我怕狗"]),
        ("7", ["我喜欢喝咖啡", "我每天喝两杯咖啡", "我怕狗"]),
    ],
)
async def test_which_of_several_to_forget_is_asked_and_answered(world: World, answer: str, left: list[str]) -> None:
    await coffee(world)
    await world.restart()
    await world.say(answer)
    assert kept(world) == left


async def test_an_answer_that_comes_too_late_or_after_other_talk_forgets_nothing(new_world: NewWorld) -> None:
    world = await new_world(memory={"confirm_seconds": 60})
    await coffee(world)
    await world.wait(61)
    await world.say("全部")
    await world.say("忘记关于咖啡的事")
    await world.say("今天真热")
    await world.say("全部")
    assert len(kept(world)) == 3


async def test_only_the_person_who_was_asked_can_answer_and_only_there(world: World) -> None:
    for fact in ("我喜欢喝咖啡", "我每天喝两杯咖啡"):
        await world.say(f"小暖，记住{fact}", "阿明", GROUP)
    await world.say("小暖，忘记关于咖啡的事", "阿明", GROUP)
    await world.say("小暖，全部", "阿红", GROUP)
    await world.say("全部", "阿明")
    assert len(kept(world)) == 2
    await world.say("小暖，全部", "阿明", GROUP)
    assert kept(world) == []


async def test_that_one_is_what_was_told_last(world: World) -> None:
    await world.say("记住我怕狗")
    await world.say("记住我住在苏州")
    await world.say("删掉那条")
    assert world.replies[-1].startswith("好，忘掉了 #2")
    assert kept(world) == ["我怕狗"]


async def test_everything_is_forgotten_only_after_a_yes(world: World) -> None:
    for number in range(7):
        await world.say(f"记住我的第{number}个柜子在{number}楼")
    await world.say("忘掉关于我的一切")
    assert len(kept(world)) == 7
    assert "2" in world.replies[-1].splitlines()[-2]
    await world.say("确认")
    assert kept(world) == []


async def test_undo_takes_back_the_last_wish_whatever_it_was(world: World) -> None:
    await world.say("记住：1. 我住在苏州 2. 我养了两只猫")
    await world.say("撤销")
    assert kept(world) == []
    await world.say("撤销")
    assert kept(world) == ["我住在苏州", "我养了两只猫"]
    await world.say("忘记 #1")
    await world.say("撤销")
    assert kept(world) == ["我住在苏州", "我养了两只猫"]


async def test_undoing_a_new_name_brings_the_former_one_back(world: World) -> None:
    await world.say("以后叫我阿猫")
    await world.wait(60)
    await world.say("以后叫我老虎")
    assert kept(world) == ["老虎"]
    await world.say("撤销")
    assert kept(world) == ["阿猫"]
    await world.say("/new")
    await world.say("说说看")
    assert "叫TA「阿猫」" in world.last_user


async def test_what_is_said_again_after_forgetting_is_a_new_memory_that_comes_back(world: World) -> None:
    await world.say("记住我对花生过敏")
    await world.say("忘记我对花生过敏")
    await world.say("记住我对花生过敏")
    assert world.replies[-1].startswith("记住啦 #2")
    await world.restart()
    await world.say("/new")
    await world.say("早")
    assert "我对花生过敏" in world.last_user


async def test_two_people_who_say_the_same_have_a_memory_each(world: World) -> None:
    await world.say("记住我对花生过敏", "阿明")
    await world.say("记住我对花生过敏", "阿红")
    await world.say("忘记我对花生过敏", "阿明")
    await world.say("/new", "阿红")
    await world.say("早", "阿红")
    assert "我对花生过敏" in world.last_user


@pytest.mark.parametrize(
    "lines",
    [
        ("我今天和老板吵架了", "别记这个"),
        ("我今天和老板吵架了，別記這個",),
        ("我今天和老板吵架了", "don't remember this"),
    ],
)
async def test_what_is_not_to_be_kept_is_in_no_digest_and_no_later_session(
    world: World, lines: tuple[str, ...]
) -> None:
    world.model.script = lambda request: (
        DIGEST if not request.prompt.tools else "和老板吵架" if "吵架" in request.prompt.messages[-1].content else "嗯"
    )
    await world.say("我下周三要去成都看大熊猫，好开心")
    for line in lines:
        await world.say(line)
    await world.say("我们换个话题，聊聊电影吧")
    await world.say("/new")
    digests = [request for request in world.model.requests if not request.prompt.tools]
    assert all("吵架" not in message.content for request in digests for message in request.prompt.messages)
    assert world.rows("SELECT count(*) FROM event WHERE off_record > 0 AND text LIKE '%吵架%' AND kind = 'bot'") != [
        (0,)
    ]
    assert world.peek.events.count(off_record=0, text=Like("%吵架%")) == 0


@pytest.mark.parametrize("by_model", [True, False])
async def test_a_reply_that_repeats_what_is_not_to_be_kept_comes_back_in_no_later_talk(
    world: World, by_model: bool
) -> None:
    if by_model:
        world.model.script = lambda request: (
            "你说过你昨天偷吃了蛋糕" if "吃了什么" in request.prompt.messages[-1].content else "嗯"
        )
    else:
        await answers_offline(world)
    await world.say("我昨天偷吃了蛋糕")
    await world.say("别记这个")
    await world.say("我昨天吃了什么？")
    assert by_model == ("偷吃" in world.replies[-1])
    await world.say("/new")
    await answers_offline(world)
    await world.say("我昨天吃了什么？")
    assert "偷吃" not in world.replies[-1]
    assert not any("偷吃" in path.read_text(encoding="utf-8") for path in (world.folder / "notes").rglob("*.md"))


async def test_what_nuan_repeated_before_it_was_not_to_be_kept_does_not_come_back_either(world: World) -> None:
    world.model.script = lambda request: (
        "你昨天偷吃了蛋糕" if "再说一遍" in request.prompt.messages[-1].content else "嗯"
    )
    await world.say("我昨天偷吃了蛋糕", external_id="m1")
    await world.say("再说一遍给我听听")
    await world.say("别记这个", target="m1")
    await world.say("/new")
    await answers_offline(world)
    await world.say("我昨天吃了什么？")
    assert "偷吃" not in world.replies[-1]


async def test_a_reply_that_repeats_it_is_kept_again_when_the_wish_is_taken_back(world: World) -> None:
    world.model.script = lambda request: (
        "你昨天偷吃了蛋糕" if "再说一遍" in request.prompt.messages[-1].content else "嗯"
    )
    await world.say("我昨天偷吃了蛋糕")
    await world.say("别记这个")
    await world.say("再说一遍给我听听")
    await world.say("撤销")
    await world.say("/new")
    await answers_offline(world)
    await world.say("我昨天吃了什么？")
    assert "偷吃" in world.replies[-1]


async def test_what_was_kept_from_it_goes_and_a_digest_made_before_is_made_again(world: World) -> None:
    await world.say("记住我欠小李五百块", external_id="m1")
    await world.say("/new")
    await world.say("别记这个", external_id="m2", target="m1")
    assert "#1" in world.replies[-1]
    assert kept(world) == []
    assert all("五百" not in str(row[0]) for row in world.peek.digests("summary"))
    await world.say("撤销")
    assert kept(world) == ["我欠小李五百块"]


async def test_forgetting_what_one_receipt_confirms_forgets_all_of_it(world: World) -> None:
    await world.say("记住：1. 我住在苏州 2. 我养了两只猫")
    await world.say("忘记", target=str(world.talk.said[-1].outbox_id), external_id="m9")
    assert kept(world) == []


async def test_a_refusal_without_an_object_is_no_command_to_forget(world: World) -> None:
    for text in ("记住了吗", "记得我是谁吗", "记得吃饭哦", "别记仇嘛", "不要叫我起床", "忘记密码怎么办", "别叫我"):
        await world.say(text)
    assert world.peek.memories.count() == 0
    assert len(world.model.requests) == 7


async def test_taking_back_not_to_be_called_so_lets_the_name_hold_again(world: World) -> None:
    await world.say("叫我阿明")
    await world.say("别叫我阿明")
    await world.say("撤销")
    await world.say("/new")
    await world.say("你好呀，今天有什么新鲜事？")
    assert world.peek.memories("text", slot="address", disabled_at=None) == [("阿明",)]
    assert "阿明" in world.last_user


@pytest.mark.parametrize(
    ("said", "receipt"),
    [
        ("记住我奶奶今天走了", "嗯，我记在心里了 #1：我奶奶今天走了"),
        ("記住我昨天流產了", "嗯，我記在心裡了 #1：我昨天流產了"),
        ("remember this: my grandma died today", "I'll keep that close #1: my grandma died today"),
        (
            "remember I feel devastated since the divorce",
            "I'll keep that close #1: I feel devastated since the divorce",
        ),
        ("记住我怕狗", "记住啦 #1：我怕狗"),
    ],
)
async def test_what_is_sad_gets_no_cheerful_receipt(world: World, said: str, receipt: str) -> None:
    await world.say(said)
    assert world.replies == [receipt]
    await world.say("撤销" if said[0] > "z" else "undo")
    assert world.peek.memories.count(disabled_at=None) == 0


async def test_what_shows_nothing_is_neither_kept_nor_told(world: World) -> None:
    hidden = "\u200b\xad\u2060\ufeff\u202e\u2066\U000e0041"
    await world.say(f"记住我{hidden}住在{hidden}杭州")
    await world.say(f"你好{hidden}呀👨\u200d👩\u200d👧می\u200cخواهم", quote=f"昨{hidden}天")
    assert world.peek.memories("text") == [("我住在杭州",)]
    assert not set(hidden) & set(world.sent)
    assert "你好呀👨\u200d👩\u200d👧می\u200cخواهم" in world.sent, "these joiners are needed"
    await world.say("忘记我住在杭州")
    assert world.peek.memories.count(disabled_at=None) == 0
