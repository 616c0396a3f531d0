"""Whether a message is nothing but small talk, by vocabulary."""

import re
import unicodedata
from functools import lru_cache

from bot.text.fold import fold

SAID = """
    等一下再说 等会再说 现在要说再见 想问你最近好吗 问你最近好吗
    冲 可 否 呀 呃 呐 呜 呵 咦 哇 哈 哎 哟 哦 哼 唉 唔 啊 啦 啧 啵 喂 喔 喵 嗨 嗯 嗷 嘘 嘛
    嘤 嘻 嘿 噗 噢 囧 天 好 妙 妥 对 帅 强 恩 懂 拜 掰 早 昂 是 晕 欸 汗 汪 牛 美 耶 行 诶
    赞 逗 酷 靠 额 万岁 万福 下了 不了 不必 不怕 不急 不用 不碍 不谢 举手 久违 么么 也好 也对 也是
    也行 了解 亲亲 人呢 优秀 你好 你忙 佩服 保重 借过 先忙 先睡 冲鸭 刚起 别急 到了 劳驾 午安 卧槽
    厉害 去吧 同意 呃呃 呜呜 呵呵 咋了 咋啦 咋样 咯咯 哇呜 哇哦 哇喔 哇噻 哇塞 哇靠 哈哈 哈啰 哈喽
    哈囉 哈罗 哎呀 哎呦 哎哟 哦了 哦哦 哦好 哼哼 啊啊 啧啧 啵啵 喔喔 喵喵 嗨喽 嗨嗨 嗯呢 嗯哪 嗯哼
    嗯啊 嗯嗯 嗯好 嗯对 嗷嗷 嘀嘀 嘎嘎 嘟嘟 嘤嘤 嘻嘻 嘿嘿 噗嗤 噗噗 噢噢 回聊 回见 在么 在吗 在嘛
    在忙 在的 天呐 天哪 天啊 失礼 失陪 好了 好勒 好叭 好吗 好吧 好呀 好咧 好哒 好哦 好啊 好啦 好喔
    好嘞 好噢 好好 好帅 好棒 好滴 好玩 好的 好笑 好耶 好运 好逗 好那 妈呀 妙啊 妥了 安好 安安 完美
    客气 对吧 对呀 对哦 对啊 对喔 对头 对对 对滴 对的 就是 尴尬 已阅 干杯 当然 很酷 得令 忙吗 忙吧
    恩呢 恩恩 恭候 您好 您忙 想你 慢走 懂了 懂啦 我去 我在 我懂 我擦 我靠 打扰 打搅 抱抱 抱歉 拜了
    拜谢 搞笑 摸摸 撤了 收到 无妨 无语 早上 早呀 早晨 明白 是么 是吗 是吧 是呀 是哒 是哦 是啊 是喔
    是噢 是滴 是的 晓得 有趣 服了 服气 木马 来啦 棒棒 欧了 欧克 欧耶 正是 正确 比心 汪汪 没事 没啥
    没啦 没错 清楚 溜了 滴滴 漂亮 点赞 爱了 爱你 牛哇 牛啊 牛逼 的确 真帅 真强 真美 真逗 真酷 睡了
    睡啦 睡觉 知悉 知晓 知道 确定 确实 笑了 笑哭 笑喷 笑死 精彩 给力 绝了 老天 耶耶 聪明 肯定 蟹蟹
    行吧 行啊 行的 谢啥 谢过 贴贴 赞同 赞成 走啦 辛苦 还好 还行 这样 遵命 那好 那行 都好 都行 闪了
    问候 阔以 阿哈 鞠躬 额额 一会聊 一会见 一般般 上午好 下午见 下周见 下次聊 下次见 不会吧 不妨事 不客气
    不必了 不打扰 不是吧 不用了 不用急 不用谢 不着急 不碍事 不聊咯 不要紧 不说了 不辛苦 不麻烦 中午好
    举高高 久违了 么么哒 了不起 了解了 了解啦 亲一个 休息吧 你们好 你先忙 你好吗 你忙吧 做得好 傍晚好
    先下了 先吃饭 先睡了 先走了 先走啦 先这样 再联系 再联络 再说吧 刚睡醒 刚起床 别介意 别客气 别担心
    别难过 厉害了 原谅我 去忙了 去忙吧 去睡了 叨扰了 可以呀 可以啊 可以的 吃了吗 吃了没 吃饭没 各位好
    后天见 周一见 周末见 哈哈哈 哦哦好 啦啦啦 喜欢你 嗯嗯嗯 嗯好的 嘤嘤嘤 嘿嘿嘿 回头聊 回头见 回来了
    回来啦 在不在 在干啥 在干嘛 在忙吗 在忙啥 在这儿 在这里 在那儿 在那里 大家好 太强了 太逗了 太酷了
    失礼了 失陪了 奥利给 奥力给 好了啦 好厉害 好可爱 好多了 好好好 好好的 好好笑 好尴尬 好有趣 好样的
    好滴呢 好聪明 客气了 客气啥 对不住 对不起 对对对 小意思 就是啊 就这些 就这样 干啥呢 干嘛呢 干得好
    应该的 当然了 当然啦 待会聊 待会见 很不错 很好笑 很抱歉 很有趣 得走了 必须的 忙不忙 忙去了 忙去吧
    忙啥呢 快去吧 怎么了 怎么啦 怎么样 恭喜你 您先忙 您好吗 想你了 想睡觉 想问候 慢慢来 我在忙 我很好
    我想你 我撤了 我来了 我来啦 我爱你 我的天 我的妈 我睡了 我笑了 我走了 我走啦 我错了 打扰了 打扰啦
    打搅了 抱一个 抱抱你 挺不错 摸摸你 摸摸头 改天聊 改天见 新年好 早上见 早早早 早晨好 早点睡 明儿见
    明天见 明白了 明白啦 是这样 晓得了 晚上见 晚点聊 晚点见 有人吗 有意思 有空聊 有道理 木问题 棒呆了
    棒棒的 没事儿 没事的 没什么 没关系 没毛病 没问题 清晨好 清楚了 爱你哟 甭客气 真不错 真厉害 真可爱
    真好玩 真好笑 真有趣 真漂亮 真的吗 真的呀 真聪明 睡了吗 睡了没 睡觉了 知道了 知道啦 祝贺你 稍后聊
    稍后见 笑死了 等下见 等会聊 等会见 绝绝子 老样子 要走了 该睡了 该走了 说得好 说得对 说得是 说的对
    说的是 请原谅 谢什么 起了吗 起来了 辛苦了 辛苦啦 过年好 过得好 还不错 还可以 还在吗 还好吗 还好吧
    还好啊 还好啦 这样呀 这样啊 这样子 那好吧 那就好 那就行 那必须 那行吧 都可以 都挺好 醒了吗 问个好
    问候你 阿哈哈 麻烦了 一个好梦 一会儿聊 一会儿见 一切都好 一言为定 一路平安 一路顺风 下次再聊 下次再说
    不好意思 不怎么好 不怎么样 不怎么的 不成问题 不用客气 不用担心 不错不错 中秋快乐 举手之劳 久仰久仰
    久仰大名 你也一样 你好你好 你是对的 你辛苦了 做个好梦 做得不错 做得很好 先不聊了 先去忙了 先就这样
    先这样吧 再见再见 别来无恙 加油加油 原来如此 去睡觉了 可以可以 吃过了吗 吃饭了吗 吃饭了没 吃饭去了
    后会有期 周末快乐 周末愉快 哈哈好的 哈喽哈喽 哭笑不得 回头再说 圣诞快乐 在做什么 在干嘛呢 在忙什么
    在这儿吗 在这里吗 在那儿吗 在那里吗 多多关照 多多指教 多谢多谢 太厉害了 太可爱了 太好笑了 太客气了
    太有趣了 好久没见 好好休息 好有意思 好的收到 客气什么 小睡一下 就先这样 就是就是 就这些了 就这样吧
    干得漂亮 当然可以 彼此彼此 待会儿见 心情好吗 心情如何 忙什么呢 怎么样了 恭喜恭喜 您也一样 您辛苦了
    想听你笑 想问问你 感激不尽 感谢感谢 我先撤了 我先睡了 我先走了 我刚起来 我去忙了 我喜欢你 我回来了
    我很抱歉 我得走了 我的天哪 我的妈呀 我睡觉了 我要睡了 我要离开 我要走了 我该睡了 我该走了 打声招呼
    打扰你了 抱歉抱歉 拜拜拜拜 收到收到 改天再说 改日再聊 新年快乐 早上好呀 早些休息 早点休息 明白明白
    是这样啊 晚点再聊 最近好吗 最近如何 最近忙吗 最近怎样 有个好梦 有人在吗 有空再聊 木有问题 欢迎光临
    欢迎回来 没事没事 没什么了 没关系的 没别的了 没有没有 没有问题 没错没错 没问题了 甘拜下风 生日快乐
    真有意思 真的假的 睡个好觉 祝你晚安 笑cry 笑死人了 笑死我了 等会儿见 继续加油 节日快乐 要说再见
    言之有理 许久不见 说对不起 说得不错 请多关照 谢谢谢谢 起床了吗 路上小心 过得好吗 过得如何 近况不错
    近况如何 近来好吗 近来如何 还在不在 还在那儿 还好还好 这样子啊 那就这样 那待会见 问候一下 马马虎虎
    麻烦你了 不要再说了 你太客气了 你最近好吗 原来是这样 吃饭了没有 大家辛苦了 好那就这样 完全没问题 已经在这里
    心情怎么样 您太客气了 想说对不起 我去吃饭了 我去睡觉了 我要吃饭了 我要睡觉了 我要离开了 我说对不起
    晚点再叫你 暂时没有了 最近你好吗 最近怎么了 最近怎么样 最近还不错 最近还好吗 最近还好啊 有机会再聊
    没什么问题 没其他的了 没有问题了 要说再见了 觉得很抱歉 跟你说晚安 过得怎么样 近来怎么样 还在对不对
    那就这样吧 下次再有机会 不用这么客气 你最近还好吗 刚从床上起来 完全没有问题 我想说对不起 我觉得很抱歉
    最近在忙什么 最近心情好吗 最近过得好吗 没事儿没事儿 没有什么问题 相见不如偶遇 给你打个招呼 要跟你说再见
    谢谢你的帮助 跟你打个招呼 跟我客气什么 不会有什么问题 今天过得怎么样 晚上过得怎么样 没有其他问题了
    这段时间还好吗 只想给你打个招呼 希望下次再有机会
"""
"""What is small talk wherever it stands."""

WARM = """
    与君一席话 胜读十年书 与君一席话胜读十年书
    棒 谢 不错 久仰 兴奋 再会 再见 加油 可爱 多好 多棒 多谢 太好 太棒 好梦 安睡 幸会 开心 很好 很棒
    快乐 恭喜 惊喜 愉快 感动 感恩 感激 感谢 拜拜 挺好 掰掰 早安 晚安 有幸 欢迎 温暖 特好 真好 真棒
    知己 祝好 祝贺 美好 荣幸 谢了 谢啦 谢谢 问好 顺利 高兴 下午好 不聊了 多美好 太好了 太棒了 好开心
    好感动 好极了 好温暖 好激动 好高兴 很开心 很感动 很有幸 很荣幸 很高兴 打招呼 早上好 晚上好 棒极了
    特别好 真开心 真惊喜 真感动 真温暖 真荣幸 真高兴 说再见 说晚安 谢谢啦 再见到你 再见到您 十分感谢
    太感动了 好久不见 感谢推荐 感谢提醒 感谢解答 我的荣幸 打个招呼 期待见面 相见恨晚 真是太好 知己难求
    祝你好梦 祝你好运 荣幸之至 谢谢建议 谢谢推荐 谢谢提醒 谢谢解答 再次见到你 有一个好梦 有个愉快的 有个美好的
    真是太好了 聊得很愉快 认识你真好 谢谢你帮我 谢谢你能来 谢谢你陪我 很开心认识你 很高兴见到你 很高兴认识你
    感谢你的回答 有一个愉快的 有一个美好的 真是太高兴了 祝你一个好梦 谢谢你听我说 谢谢你告诉我 谢谢你的回复
    谢谢你的回答 谢谢你的建议 谢谢你的推荐 谢谢你的提醒 谢谢你的解答 多美好的一件事 祝你有一个好梦
    是一件多美好的事
"""
"""The same, and what it is about is still small talk: 见到你真高兴, 谢谢你的帮助."""

ABOUT = """
    令 聊 能 见 遇 一个 一件 一切 一天 一直 上午 下午 下次 不久 中午 交谈 今天 今早 今晚 你们 使我
    倾听 偶遇 关心 再次 可以 合作 听你 听到 听您 多久 夜晚 大忙 夸奖 家里 帮助 帮忙 很久 心情 心里
    惦记 感到 感觉 指教 支持 早晨 时候 晚上 最近 有个 服务 机会 热情 照顾 现在 理解 相见 相识 相遇
    看到 真心 真的 碰到 碰头 碰面 离开 结识 耐心 聊天 聊得 能够 衷心 见到 见面 觉得 认识 说话 谈天
    谈笑 谈话 过得 近来 这边 遇上 遇到 遇见 那边 陪伴 鼓励 不得了 交朋友 使我们 做朋友 帮了我 帮到我
    想着我 来看我 没想到 记得我 这么说 这样说 那样说 帮了大忙 成为朋友 耐心解答 谈天说地 谈笑风生 这个朋友
    这段时间 陪我聊天 热情的服务 跟你谈天说地
"""
"""What WARM words may be about; beside others it is a subject of its own."""

WISH = """
    愿 祝 希望 愿你 愿您 祝你 祝您 祝福 希望你 希望您 祝大家 祝福你
"""
"""How a wish begins."""

WISHED = """
    玩 一次 一段 一路 万事 事业 享受 假期 健康 全家 吉祥 周末 天天 如意 学业 学习 家庭 工作 平安 幸福
    度过 康复 成功 拥有 新年 旅程 旅行 旅途 每天 玩得 玩的 生日 生活 用餐 考试 节日 行程 路上 身体
    过个 进步 阖家 面试 天天开心 心想事成 早日康复 用餐愉快
"""
"""What may be wished; nobody who says 工作 without a wish means small talk."""

AROUND = """
    与 么 也 了 但 你 先 再 又 只 叭 吗 吧 呗 呢 和 咯 咱 哒 哩 啰 喽 嘞 地 多 太 就 很 得
    您 我 挺 捏 更 最 滴 点 的 真 着 请 超 跟 过 还 这 那 都 鸭 一下 一声 万分 不过 与你 与您
    之至 十分 和你 和您 咱们 多多 对你 已经 得很 总是 我们 所以 教人 有点 极了 死了 然后 特别 由衷
    真是 给你 而且 让人 让我 请问 超级 跟你 跟您 这么 这里 那么 那里 非常 再一次 死我了 得不得了
"""
"""Pronouns, particles and adverbs between them. 不 is missing: 不开心 is no small talk."""

CALLED = """
    亲 宝 亲们 亲爱 伙伴 伙计 你们 各位 大佬 大家 大神 宝贝 心爱 甜心 童鞋 老铁 蜜糖 亲爱的 可爱的
    家人们 小伙伴 小可爱 心爱的 小伙伴们
"""
"""Whom it may be said to, besides the bot."""

THIRD = """
    哥 姐 主人 兄弟 先生 助手 助理 同学 哥们 大哥 大姐 女士 女孩 妹妹 妹子 姐姐 姑娘 宝宝 家人 小哥
    小姐 帅哥 师傅 弟弟 朋友 爱人 男孩 美女 老兄 老公 老婆 老师 老弟 老板 哥们儿 好朋友 小助手 小哥哥
    小姐姐 小朋友 朋友们 机器人 老朋友
"""
"""Those whom it may be said to as well, but of whom news may be: only beside a greeting, thanks or good-byes."""

GREETED = """
    喂 嗨 嘿 早 你好 再见 午安 哈啰 哈喽 嗨喽 多谢 您好 感谢 拜拜 掰掰 早呀 早安 晚安 谢谢 上午好
    下午好 中午好 你好吗 哈喽呀 早上好 早晨好 晚上好 晚安啦 谢谢你 还好吗 好久不见 最近好吗 相见恨晚
    很开心认识你 很高兴见到你 很高兴认识你 见到你真高兴
"""
"""Words beside which THIRD ones are only addressed: 早上好老师, 谢谢哥."""

ENGLISH = r"""
    hi+|hiya|he+y+|hello+|helo|yo+|sup|howdy|greetings|good (?:morning|afternoon|evening|night|day)|morning|evening
    |night
    |gm|gn|nighty? ?night|sweet dreams|sleep (?:well|tight)|(?:i am |i'?m )?(?:off to|going to|heading to) bed
    |welcome(?: back)?|long time no see|how are (?:you|u|things)(?: doing| going)?|how(?:'s| is) it going|how do you do
    |(?:it'?s |it is |so )?(?:nice|good|great|lovely|pleased|glad|happy)(?: to)? (?:meet|see|talk to
    |hear from) (?:you|ya|u)
    |(?:nice|good|great|lovely) (?:meeting|seeing|talking to|hearing from) (?:you|ya|u)|how have you been
    |how(?:'s| is) (?:your day|everything|life)(?: going)?|what'?s up|wassup|whats? new|(?:are )?you there
    |(?:is )?any(?:one|body) (?:there|here|home)|still there|(?:are )?you(?: still)? (?:up|awake)
    |(?:i am |i'?m )?(?:fine|good|great|ok|okay|well|alright|not bad|pretty good|doing (?:well|good|fine|great))
    |same here|you too|and you|many thanks|no thanks|no thank you|thx|ty|tysm|tyvm|cheers|much appreciated
    |(?:thanks?|thank (?:you|u|ya))(?: a lot| so much| very much| a bunch| a million| again)?
    (?: for (?:that|this|everything|(?:the|your|all your) help|your time|helping(?: me)?))?
    |(?:i )?appreciate (?:it|that|you)|you(?:'?re| are) welcome|no problem|no worries|np|nw|my pleasure|anytime
    |don'?t mention it|never ?mind|nvm|o+k+(?:ay)?|oki+|okie|okey|k+|alright|all right|yes+|yea+h*|yep+|yup+
    |yah|ya
    |sure(?: thing)?|of course|absolutely|definitely|exactly|indeed|true|correct|agreed|fine|cool|nice(?: one)?
    |great(?: job)?|awesome|perfect|sweet|neat|amazing|excellent|wonderful|fantastic|brilliant|lovely
    |good(?: job| one| bot| girl| boy)?|well done|no+|nope|nah|not really|maybe|got it|gotcha|i see|understood
    |makes sense|roger(?: that)?|noted|will do|sounds good|that works|works for me|deal
    |bye+(?:[ -]?bye+)?|good ?bye|see (?:you|ya|u)(?: later| soon| tomorrow| around| then)?|cya|later|ttyl
    |talk (?:to you )?(?:later|soon|tomorrow)|catch you later|take care|farewell
    |have a (?:good|nice|great|lovely) (?:day|night|evening|one|weekend|time|trip)|gotta go|gtg|g2g|brb
    |(?:i am |i'?m )?(?:back|here|leaving)|(?:ha)+h?|(?:he){2,}|(?:hi){2,}|l+o+l+|lmf?ao+|rofl|xd+|lul|kek
    |wow+|whoa+|oh+|ooh+|aw+|ah+|oops|ouch|yay+|yikes|omg|oh my(?: god| gosh)?|damn|hm+|mm+|uh+|um+|er+m?|huh|meh
    |phew|ugh+|eh|sorry|my bad|apologies|(?:i am |i'?m )sorry|excuse me|pardon|congrat(?:s|ulations)
    |happy (?:birthday|new year|holidays|friday)|merry christmas|(?:i )?(?:love|like|miss) (?:you|u|ya)|hugs?|xoxo
    |good luck|you(?:'?re| are) (?:right|funny|great|awesome|the best|cute|smart|sweet|kind)
    |that'?s (?:great|good|nice|cool|awesome|funny|right|true|fine|ok|okay)|so (?:cute|funny|sweet|nice|cool|good)
    |too funny|very (?:nice|good|funny)|really|88+6?|520|6+|23{2,}|5{3,}|9{2,}|3q|3x|3ks
"""
"""Whole phrases of English small talk, and what digits laugh in Chinese; several may follow one another."""

ENGLISH_AROUND = r"""
    please|pls|plz|there|all|everyone|everybody|guys|folks|friends?|my friend|buddy|bud|pal|mate|man|bro|dude|dear
    |darling|honey
    |babe|baby
    |sweetie|love|sir|madam|ma'?am|bot|too|then|so|and|well
"""
"""What may stand around them."""


LONGEST = 40
"""Characters; what is longer is about something (seed 一般聊天 vs 主題／記憶: 30 to 50)."""

BARE = 3
"""A clause without a word of small talk may be this long beside one that has some: 谢谢，你呢？"""

_SAID, _WARM, _ABOUT, _WISH, _WISHED, _THIRD, _GREETED = 1, 2, 4, 8, 16, 32, 64
_KINDS = dict.fromkeys((*AROUND.split(), *CALLED.split()), 0)
_KINDS |= dict.fromkeys(WISHED.split(), _WISHED)
_KINDS |= dict.fromkeys(ABOUT.split(), _ABOUT)
_KINDS |= dict.fromkeys(WISH.split(), _WISH)
_KINDS |= dict.fromkeys(SAID.split(), _SAID)
_KINDS |= dict.fromkeys(WARM.split(), _SAID | _WARM)
_KINDS |= dict.fromkeys(THIRD.split(), _THIRD)
_KINDS |= {word: _KINDS.get(word, _SAID) | _GREETED for word in GREETED.split()}
_WIDEST = max(map(len, _KINDS))

_STICKER = re.compile(r"\[sticker[^\]]*\]|<a?:\w+:\d+>|:[a-z0-9_+-]+:")
_CLAUSE = re.compile(r"[,，.。!！?？;；…~～\n、:：]+")
_PART = re.compile(r"[㐀-鿿]+|[a-z0-9']+(?:[ .!?~-]+[a-z0-9']+)*")
_ASKS = re.compile(r"(?:[?？]|[吗呢嘛么])[^\w]*\Z")
_GAP = re.compile(r"[ .!?~-]+")
_LONG_VOWEL = re.compile(r"([a-z])\1{2,}")
_PHRASES, _BESIDE = ("".join(line.strip() for line in text.splitlines()) for text in (ENGLISH, ENGLISH_AROUND))
_LATIN_SAID, _LATIN_BESIDE = re.compile(_PHRASES), re.compile(_BESIDE)
_MOST_WORDS = 7
"""Words of the longest phrase: thank you so much for your help."""


def is_casual(text: str, names: tuple[str, ...] = ()) -> bool:
    """Whether `text` is only greetings, thanks, consent, goodbyes, laughter, praise, particles, emoji and stickers.

    The bot's own names are peeled off as well. A word that is in no list is about something: the costly error is to
    take a request for small talk (seed 一般聊天 vs 主題／記憶, L1-L6). An empty text is small talk; a bare name is a call,
    and what for stands elsewhere.
    """
    if len(text) > 4 * LONGEST:
        return False
    said = fold(text).replace("’", "'").strip()
    called = any(fold(name) in said for name in names)
    for name in names:
        said = said.replace(fold(name), " ")
    said = _STICKER.sub(" ", said)
    if len(said) > LONGEST:
        return False
    verdicts = [_clause(clause) for clause in _CLAUSE.split(said) if _worded(clause)]
    return None not in verdicts and True in verdicts if verdicts else not called


def asks_something(text: str) -> bool:
    """Whether the end of a text asks something of whoever reads it."""
    return bool(_ASKS.search(fold(text[-LONGEST:])))


def _clause(clause: str) -> bool | None:
    """Whether a clause has a word of small talk; None when it has anything else."""
    parts = _PART.findall(clause)
    if sum(map(len, map(_letters, parts))) != len(_letters(clause)):
        return None  # another script
    latin = [_phrases(_LONG_VOWEL.sub(r"\1\1", _GAP.sub(" ", part)).split()) for part in parts if part[0] < "㐀"]
    if None in latin:
        return None
    han = "".join(part for part in parts if part[0] >= "㐀")
    seen = _kinds(han)
    if any(_is_small_talk(kinds) for kinds in seen):
        return True
    if 0 not in seen or len(han) > BARE:
        return None
    return True in latin


def _phrases(words: list[str]) -> bool | None:
    """Whether one of the phrases that make up these words is small talk; None when they are no such phrases."""
    seen: list[set[bool]] = [{False}, *(set() for _ in words)]
    for start, before in enumerate(seen[:-1]):
        for end in range(start + 1, min(len(words), start + _MOST_WORDS) + 1 if before else 0):
            if (said := _phrase(" ".join(words[start:end]))) is not None:
                seen[end] |= {said or each for each in before}
    return max(seen[-1]) if seen[-1] else None


@lru_cache(maxsize=4096)
def _phrase(text: str) -> bool | None:
    """Whether a phrase is small talk by itself; None when it is neither that nor what may stand beside it."""
    if _LATIN_SAID.fullmatch(text):
        return True
    return False if _LATIN_BESIDE.fullmatch(text) else None


def _kinds(han: str) -> set[int]:
    """The kinds of words that a text can be read as, one number for each way to cut it; empty when there is none."""
    seen: list[set[int]] = [{0}, *(set() for _ in han)]
    for start, before in enumerate(seen[:-1]):
        for end in range(start + 1, min(len(han), start + _WIDEST) + 1 if before else 0):
            if (kind := _KINDS.get(han[start:end])) is not None:
                seen[end] |= {kinds | kind for kinds in before}
    return seen[-1]


def _is_small_talk(kinds: int) -> bool:
    needs = ((_ABOUT, _WARM), (_WISHED, _WISH), (_THIRD, _GREETED))
    return bool(kinds & _SAID) and all(kinds & other or not kinds & kind for kind, other in needs)


def _letters(text: str) -> str:
    return "".join(char for char in text if unicodedata.category(char)[0] in "LN")


def _worded(clause: str) -> bool:
    return bool(_letters(clause))
