"""Is a message a command to stop, or to be quiet? A labelled table in both scripts and English; doubt means no."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.language.stop_commands import LONGEST_COMMAND, stop_command

NAMES = ("小暖", "暖暖", "nuan")

STOP = (
    "停", "停！", "停。", "停停停", "停 停 停", "停止", "停止。", "停止回答", "停止输出", "请停止", "请停下来",
    "停一下", "停下", "停下来吧", "先停一下", "快停", "快停下", "打住", "打住打住", "好了打住", "暂停一下",
    "可以停了", "小暖停", "小暖，停", "小暖 停止！", "停，小暖", "暖暖别说了", "别说了", "别说了！", "别再说了",
    "不要说了", "不要再说了", "別說了", "別再說了", "不要再說了啦", "先别说了", "你别说了", "好了别说了",
    "行了行了，别说了", "够了，别说了", "别讲了", "別講了", "别回了", "别回复了", "不用回了", "不用回复了",
    "不用回我了", "不用回答了", "別回覆了", "别回答了，谢谢", "算了，不用回答了", "别写了", "别发了", "别念叨了",
    "别啰嗦了", "別囉嗦了", "少废话", "別繼續了", "不要继续说了", "停止生成", "请停止输出，谢谢", "麻烦停一下",
    "拜托别说了", "求求你别说了", "能不能停一下", "能停一下吗", "可以停下来吗？", "你能别说了吗", "别说了好吗？",
    "別說了好不好", "别说", "ok，停", "嗯，停吧", "喂，停！", "等等，停", "stop", "Stop!", "STOP", "stop.",
    "stop stop stop", "please stop", "stop please", "Stop it", "stop that now", "stop talking",
    "Stop typing, please", "nuan, stop", "nuan stop!", "hey nuan, stop talking", "ok stop", "ok, stop now",
    "just stop", "wait, stop", "can you stop?", "could you please stop", "can you stop talking please?",
    "you can stop now", "don't reply", "Don’t answer that", "no need to reply", "no need to answer, thanks",
    "stop generating", "stop for a moment", "enough, stop", "stop停", "停 stop", "please 停", "小暖 stop",
    "ok，别说了", "🛑 stop", "✋停", "@nuan_bot 停", "唔好講啦", "停止\n", "ｓｔｏｐ", "Do not reply",
    "stop right there", "別說了謝謝", "那就停吧", "那你别说了", "停……", "停...", "stop...", "stop…", "別說了...",
    "Stop--",    "停啦", "停止回應", "不要回覆我", "别回复我了", "無需回覆", "别说了求求你了", "never mind, stop", "hold on, stop",
    "停_", "好，停",
)  # fmt: skip

QUIET = (
    "闭嘴", "闭嘴！", "閉嘴", "閉嘴啦", "小暖闭嘴", "小暖，閉嘴", "你闭嘴", "你给我闭嘴", "请闭嘴", "快闭嘴",
    "住口", "住嘴！", "收声", "收聲", "安静", "安静点", "安靜一點", "安静一下", "小暖安静一会儿", "请安静",
    "保持安静", "能安静点吗", "你能不能安静一下？", "安靜一下好嗎", "别吵", "別吵了", "不要吵了", "别说话",
    "别说话了", "不要說話", "先别说话", "别插嘴", "別插嘴了", "别插话", "暖暖别插话", "不要出声", "停，闭嘴",
    "别说了，闭嘴", "shut up", "Shut up!", "shut up nuan", "nuan, be quiet", "please be quiet", "be quiet please",
    "Can you be quiet?", "keep quiet", "quiet please", "hush", "stop listening", "stop interrupting",
    "don't say anything", "please don't talk", "stop, be quiet", "闭上嘴", "把嘴闭上", "闭嘴……", "不要講話",
    "別講話了", "不要再讲话了", "收聲啦", "保持沉默",
    "shut the hell up", "shh", "shush!", "shut up...", "好，安静", "好了，安静",
)  # fmt: skip

TALK = (
    "别停", "别停啊", "不要停", "不要停下来", "不用停", "別停", "不要停止", "千万别停", "你别停", "小暖别停",
    "继续", "继续说", "接着说，别停", "不停", "停不下来", "别停，继续说", "请不要停止", "没让你停", "谁让你停了",
    "我没说停", "停车", "停车场在哪", "停电了", "停水了怎么办", "停课", "停工", "停战", "停留", "雨停了",
    "雨停了吗", "停了", "停了吗", "风停了", "表停了", "已经停了", "停机了", "暂停营业", "公交停哪里", "这里能停吗",
    "可以停吗", "能停吗？", "停止呼吸了怎么办", "我停止抽烟了", "停止符是什么意思", "停止键坏了", "停药可以吗",
    "药能停吗", "心跳停止", "什么时候停", "怎么停", "为什么停止", "停止是什么意思", "停还是不停", "停？", "停止？",
    "他叫我闭嘴", "他让我闭嘴，我好难过", "她说闭嘴", "老板叫我闭嘴", "我闭嘴了", "我先闭嘴", "我不该叫他闭嘴",
    "“闭嘴”用英语怎么说", "「停」这个字怎么写", "闭嘴用英语怎么说", "闭嘴鱼", "别叫我闭嘴", "别让他闭嘴",
    "叫他闭嘴", "让他们安静", "安静吗", "你安静吗", "那里很安静", "这里好安静", "安静的地方", "我想安静一下",
    "想一个人静静", "我喜欢安静", "安静了", "大家安静", "别说谢谢", "别说停", "不说了", "不说了，我去睡了",
    "不聊了", "不用谢", "不用说谢谢", "别说他了", "别说这个了，说说你", "别说，还真好吃", "别回头", "别回家",
    "别写作业了", "别发烧", "别发脾气", "别念书了", "哈哈别说了", "别说了😂", "别说了哈哈", "你别说，有道理",
    "要不要停", "取消", "取消订单", "取消闹钟", "终止合同", "够了", "够了吗", "好了", "算了", "行了", "等等",
    "别担心", "别难过", "不要紧", "没关系", "别走", "别理我", "停在路边", "慢慢停", "请勿停车", "好停吗", "停歇",
    "停下脚步看看", "停下来拍照", "停下来想想", "他停下来了", "一停一顿", "bus stop", "the bus stop",
    "Where is the bus stop?", "at the bus stop", "stop by tomorrow", "I'll stop by later", "when does it stop?",
    "does it stop here", "don't stop", "Don’t stop!", "do not stop", "please don't stop", "never stop",
    "don't you ever stop", "keep going", "keep going, don't stop", "go on", "non-stop", "nonstop", "full stop",
    "stop sign", "stop smoking", "I want to stop smoking", "how do I stop", "how to stop hiccups", "stop.sh",
    "git stop", "can't stop", "I can't stop", "it won't stop", "he told me to shut up", "she said stop",
    "stop it haha", "stop 😂", "lol stop", "stop?", "stop words", "stop loss", "pit stop", "one-stop shop",
    "stopped", "stopping", "unstoppable", "the quiet town", "quiet", "it is quiet here", "why are you quiet?",
    "be quiet about it", "silence of the lambs", "halt and catch fire", "cancel my order", "cancel", "enough",
    "not enough", "that's enough", "no", "wait", "ok", "please", "don't reply to him", "don't answer the phone",
    "should I stop?", "can we stop here?", "could it stop", "Stop the car", "stop him", "tell him to stop",
    "make it stop", "skip", "小暖", "小暖，你好", "", "   ", "！！！", "😀", "停 车", "> 停\n好的", "不停地下雨",
    "停停走走", "走走停停", "停好了", "停那吧", "好停", "好安静", "好安静啊", "好安靜呀", "stop_listen",
    "don't stop...",    "別停……", "停不下來", "取消訂閱", "請停車", "ssh", "don't be quiet", "never shut up", "怎么不说话",
    "別不說話", "刚停", "站住", "停止营业时间", "闭嘴吧他说", "安静的夜",
)  # fmt: skip


@pytest.mark.parametrize("text", STOP)
def test_a_command_to_stop_is_one(text: str) -> None:
    assert stop_command(text, NAMES) == "stop"


@pytest.mark.parametrize("text", QUIET)
def test_a_command_to_be_quiet_is_one(text: str) -> None:
    assert stop_command(text, NAMES) == "quiet"


@pytest.mark.parametrize("text", TALK)
def test_talk_and_negations_are_no_command(text: str) -> None:
    assert stop_command(text, NAMES) == ""


def test_the_table_is_large_and_no_sentence_is_in_it_twice() -> None:
    table = (*STOP, *QUIET, *TALK)
    assert len(table) == len(set(table)) >= 150


def test_another_name_is_no_name_of_hers() -> None:
    assert stop_command("阿福，闭嘴", NAMES) == ""
    assert stop_command("阿福，闭嘴", ("阿福",)) == "quiet"


@given(st.text() | st.text(st.sampled_from("停止闭嘴别不要说了吗好请 stop'-@>？?！,nuan小暖"), max_size=60))
def test_it_never_raises_and_is_the_same_in_any_case_and_width(text: str) -> None:
    assert stop_command(text, NAMES) in ("", "stop", "quiet")
    assert stop_command(f"  {text}\t", NAMES) == stop_command(text, NAMES) or len(text) + 3 > 2 * LONGEST_COMMAND


@given(st.sampled_from(("停", "闭嘴", "stop ", "别说了，", "please ")), st.integers(2 * LONGEST_COMMAND + 1, 20_000))
def test_a_long_text_is_never_a_command(word: str, size: int) -> None:
    assert stop_command((word * size)[:size], NAMES) == ""


@given(
    st.sampled_from((*STOP, *QUIET)),
    st.sampled_from(("他说", "bus ", "不想", "我", "the ")),
    st.sampled_from((" 的", "车", " sign")),
)
def test_with_anything_else_in_it_a_command_is_talk(text: str, before: str, after: str) -> None:
    assert stop_command(before + text, NAMES) == stop_command(text + after, NAMES) == ""
