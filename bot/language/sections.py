"""Which memory section a text belongs to or names, and what a slot's name says of its value."""

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from bot.core.memories import MemoryKind
from bot.core.recall import SectionWords
from bot.text.fold import fold


def _words(key: str, *lines: str) -> SectionWords:
    return SectionWords(key, tuple(word.strip() for line in lines for word in line.split(",")))


ME, PERSON, LESSON, RECENT = "me", "person", "lesson", "recent"

SHIPPED_SECTIONS: tuple[SectionWords, ...] = (
    _words(ME, "你是谁,你叫什么,你的名字,关于你,你的主人,你会什么,who are you,about yourself,your owner"),
    _words(
        PERSON,
        "我叫,我的名字,我是谁,关于我,生日,岁,星座,属相,住在,搬家,搬到,地址,电话,手机号,身高,体重,老家,家乡,母语,性格,护照,证件",
        "my name,birthday,years old,i live,live in,lives in,moved to,address",
        "phone number,hometown,grew up,personality",
        "identity,nickname,passport",
    ),
    _words(
        "decision",
        "决定,选择,选了,定了,打算,考虑好,下定决心,同意,拒绝,放弃,辞职,签约,改主意,方案,约定",
        "decide,decided,decision,chose,choose,choice,agreed,made up my mind,quit,resign,settled on,signed,commitment",
    ),
    _words(
        "todo",
        "待办,要做,还没做,没做完,记得,提醒,截止,到期,计划,安排,清单,任务,预约,报名,明天要,下周要,要交,要去,准备",
        "to-do,todo,need to,have to,must,remind,reminder,deadline,due,task",
        "checklist,appointment,plan,planning,schedule",
        "sign up,going to,prepare",
    ),
    _words(
        LESSON,
        "教训,经验,学到,学会,吸取,下次,后悔,踩坑,失误,搞错,弄错,发现原来,明白了,心得,总结,别再,不要再",
        "lesson,learned,learnt,mistake,regret,next time,realized,realised,experience,never again,takeaway,advice",
    ),
    _words(
        "family",
        "妈,爸,父母,爷爷,奶奶,外婆,外公,姥姥,姥爷,哥哥,弟弟,姐姐,妹妹,儿子,女儿,孩子,老公,老婆,丈夫,妻子,男友,女友,男朋友,女朋友",
        "朋友,闺蜜,室友,同学,亲戚,舅舅,姑姑,叔叔,阿姨,表哥,表弟,表姐,表妹,侄,邻居,结婚,婚礼,约会,猫,狗,宠物",
        "mom,mum,mother,dad,father,parent,grandma,grandpa,grandmother,grandfather",
        "brother,sister,son,daughter,kid,child",
        "children,husband,wife,boyfriend,girlfriend,partner,friend,roommate,relative",
        "uncle,aunt,cousin,neighbor,neighbour",
        "family,wedding,married,dating,cat,dog,pet,puppy,kitten,baby,adopt,adoption",
    ),
    _words(
        "health",
        "过敏,生病,感冒,发烧,头疼,头痛,胃,牙,医院,医生,体检,吃药,药,手术,失眠,睡眠,血压,血糖,怀孕,受伤,疼,减肥,健身,跑步,锻炼,瑜伽",
        "心理咨询,焦虑,抑郁",
        "allergy,allergic,sick,ill,illness,flu,fever,headache,stomach,tooth,dentist,hospital,doctor,medicine,surgery",
        "insomnia,sleep,blood pressure,pregnant,injury,injured,pain,diet,gym,workout",
        "exercise,run,running,yoga,therapy",
        "therapist,mental health,anxiety,stress,wellness,health",
    ),
    _words(
        "work",
        "工作,上班,公司,同事,老板,领导,会议,开会,项目,客户,出差,加班,工资,薪水,面试,升职,职位,职业,上学,学校,大学,老师,考试,作业,论文,课程,专业",
        "毕业,奖学金,实习,学习,教育",
        "work,job,company,colleague,coworker,boss,manager,meeting,project",
        "client,business trip,overtime,salary,interview",
        "promotion,career,school,college,university,teacher,exam,homework,thesis",
        "course,major,graduate,internship,study",
        "studying,class,education,business,office,startup",
    ),
    _words(
        "taste",
        "喜欢,最爱,讨厌,爱吃,不吃,爱喝,好吃,口味,吃辣,爱好,兴趣,电影,音乐,歌,书,小说,游戏,画画,摄影,跳舞,唱歌,弹,球,运动,茶,咖啡,餐厅,做饭",
        "动漫,演唱会,乐队,歌手,评论,书籍,颜色",
        "i like,likes,i love,favorite,favourite,hate,dislike,prefer,enjoy,taste,hobby,hobbies",
        "interest,movie,film,music,song,book",
        "novel,game,gaming,paint,painting,draw,photo,photography,dance,dancing",
        "sing,guitar,piano,violin,football,basketball",
        "soccer,tea,coffee,restaurant,cook,cooking,recipe,food,concert,band,art",
        "pottery,read,reading,color,colour,hike",
    ),
    _words(
        "travel",
        "旅行,旅游,出国,机票,航班,飞机,火车,高铁,酒店,民宿,签证,景点,海边,爬山,露营,自驾,行程,度假,去过,城市,地点,地方",
        "travel,trip,journey,flight,plane,train,hotel,visa,sightseeing,beach",
        "camping,road trip,itinerary,vacation,holiday",
        "tour,abroad,country,city,park,mountain,museum,visit,visited",
    ),
    _words(
        "tech",
        "技术,电脑,手机,代码,程序,编程,软件,服务器,数据库,网络,网站,模型,接口,报错,调试,部署,配置,版本,算法,硬盘,路由器,人工智能,密码,账号",
        "computer,laptop,code,coding,program,programming,python,software,server,database",
        "network,website,api,bug,debug",
        "deploy,config,version,algorithm,linux,windows,docker,git,password,account",
        "app,blog,online,video,channel,tech",
    ),
    _words(
        RECENT,
        "最近,近期,近来,今天,昨天,前天,今早,今晚,刚刚,刚才,这周,这个月,这几天,上周,上个月,周末,心情,时间,什么时候,几点,几号",
        "recently,lately,today,yesterday,tonight,this morning,this week,this month",
        "last week,last month,last night,weekend",
        "mood,just now,these days",
    ),
)
"""In the order in which one is taken of two that fit a text alike."""


READ_CHARS = 2_000
"""Characters of a text that are looked at: its subject stands at its beginning."""

_KINDS: dict[MemoryKind, str] = {"experience": LESSON, "event": RECENT, "emotion": RECENT}
"""Where a memory belongs that holds none of the words."""


@dataclass(frozen=True, slots=True)
class SectionRegistry:
    """The sections that there are, in the order in which one is taken of two that fit alike."""

    sections: tuple[SectionWords, ...] = SHIPPED_SECTIONS

    @property
    def keys(self) -> tuple[str, ...]:
        """Their keys in that order."""
        return tuple(section.key for section in self.sections)

    def assign(self, text: str, kind: MemoryKind, *, owned: bool) -> str:
        """The section of a memory: the one with most of its words, else the one of its kind, else of who has it.

        "" where that one is not there.
        """
        found = self._counted(text)
        if found:
            places = {key: place for place, key in enumerate(self.keys)}
            return min(found, key=lambda key: (-found[key], key == RECENT, places[key]))
        usual = _KINDS.get(kind, PERSON if owned else ME)
        return usual if usual in self.keys else ""

    def named(self, text: str) -> frozenset[str]:
        """All sections of which a message holds a word."""
        return frozenset(self._counted(text))

    def to_json(self) -> str:
        """As it is stored."""
        return json.dumps([[each.key, each.words] for each in self.sections], ensure_ascii=False)

    def _counted(self, text: str) -> Counter[str]:
        pattern, keys = _compiled(self.sections)
        if pattern is None:
            return Counter()
        words = {match.group() for match in pattern.finditer(fold(text[:READ_CHARS]))}
        return Counter(key for word in words for key in keys.get(word) or keys[_single(word, keys)])


def section_registry(own: Iterable[SectionWords]) -> SectionRegistry:
    """An operator's sections, then the shipped: one of the same key replaces its words, one without words is off."""
    shipped = frozenset(each.key for each in SHIPPED_SECTIONS)
    # Of two that fit a text alike the operator's is meant.
    found = {each.key: each for each in (_shipped_key(each, shipped) for each in own)}
    rest = (each for each in SHIPPED_SECTIONS if each.key not in found)
    return SectionRegistry(tuple(each for each in (*found.values(), *rest) if each.words))


def _shipped_key(own: SectionWords, shipped: frozenset[str]) -> SectionWords:
    key = own.key.casefold()
    return SectionWords(key, own.words) if key in shipped else own


def read_registry(text: str | None) -> SectionRegistry:
    """A stored registry; the shipped one where nothing is stored, or nothing that can be read."""
    try:
        rows = json.loads(text or "")
        sections = tuple(SectionWords(str(key), tuple(map(str, words))) for key, words in rows)
    except (ValueError, TypeError, RecursionError):
        return SectionRegistry()
    return SectionRegistry(sections)


def _single(word: str, keys: dict[str, tuple[str, ...]]) -> str:
    """The word that this one is the plural of."""
    return word[:-1] if word[:-1] in keys else word[:-2]


@lru_cache(maxsize=8)
def _compiled(sections: tuple[SectionWords, ...]) -> tuple[re.Pattern[str] | None, dict[str, tuple[str, ...]]]:
    keys: dict[str, tuple[str, ...]] = {}
    for section in sections:
        for word in filter(None, (fold(word).strip() for word in section.words)):
            if section.key not in keys.get(word, ()):
                keys[word] = (*keys.get(word, ()), section.key)
    longest = sorted(keys, key=lambda word: (-len(word), word))
    latin = "|".join(re.escape(word) for word in longest if word.isascii())
    others = "|".join(re.escape(word) for word in longest if not word.isascii())
    parts = [*([rf"(?<![a-z0-9])(?:{latin})(?:e?s)?(?![a-z0-9])"] if latin else []), *([others] if others else [])]
    return (re.compile("|".join(parts)) if parts else None), keys


_DATA = tomllib.loads(files("bot.language").joinpath("slots.toml").read_text("utf-8"))
_LASTING, _MANY, _GUARDED = (
    frozenset(map(fold, words))
    for words in (_DATA["words"]["lasting"], _DATA["other"]["many"], _DATA["other"]["guarded"])
)
_ONE: dict[str, str] = {fold(name): slot for slot, names in _DATA["one"].items() for name in (slot, *names)}
SLOT_QUESTION_WORDS: dict[str, str] = _DATA["asked"]
"""Words by which people ask for what a slot holds and which its text need not say: 我在哪上班 for 在云栖科技做前端."""

_BY_NAME = ("favourite ", "favorite ", "current ", "最喜欢的", "最爱的", "当前", "目前的")


def slot_of(name: str) -> str:
    """The one name of a slot that has several: home for residence and 住址."""
    folded = " ".join(fold(name).replace("_", " ").split())
    return _ONE.get(folded, folded)


def is_lasting(slot: str) -> bool:
    """Whether it is of health, death, birth, relations, home, work, names, birthdays or allergies."""
    return fold(slot) in _LASTING or slot_of(slot) in _LASTING


def is_single_valued(slot: str) -> bool:
    """Whether somebody has one value of it at a time; a favourite or current thing is one."""
    return slot in _ONE or slot.startswith(_BY_NAME)


def is_multi_valued(slot: str) -> bool:
    """Whether a new value of it never takes another's place by itself."""
    return slot in _MANY or slot in _GUARDED


def is_guarded(slot: str) -> bool:
    """Whether it is of somebody's health: what is lost of it may do harm."""
    return slot in _GUARDED
