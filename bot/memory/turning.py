"""The vocabulary of what turns in a life, told without a day: moves, new jobs, partings. For folded clauses."""

_OTHERS = "[你您他她它]"
_NEWS = "(?:已经|刚刚?|最近|终于|又|都|现在|上(?:周|个?星期|个?礼拜|个?月)|昨天|前[天几]天?|去年|今年)"  # never what is to come
_PLACED = "(?:工作|公司|专业|学校|手机号码?|号码)"
_EN_NEWS = r"i(?:['’]ve| have)? (?:just |recently |finally )*"

CHANGES = (
    f"我(?!.*(?:下[周个]|明[天年]|后天|打算|准备))(?:们家?|家)?{_NEWS}*+搬(?:家)?[到去来回]"
    f"(?:了[^,你您他她]{{1,12}}$|[^,你您他她了]{{1,10}}了)",
    f"我{_NEWS}*+换(?:了一?[份个家]?新?{_PLACED}|{_PLACED}了)",
    f"我家在(?![这那装开吃办搞打睡做等]|{_OTHERS})[^,]{{2,10}}$",
    rf"{_EN_NEWS}moved to (?!(?:the|an?|my|this|that|it)\b)\w+",
    rf"{_EN_NEWS}(?:changed|switched) (?:my )?(?:jobs?|careers?|schools?|majors?)\b",
    r"i now (?:live|work) (?:in|at|for|as) \w+",
)
"""Changes of where somebody lives or works: knowledge, which takes the place of what was known before."""

TURN = (
    "(?:分手|离婚|结婚|领证|订婚|毕业|离职|辞职|升职|失业|怀孕|出院|发烧|感冒|生病|住院|受伤|入职|退休|买房|买车"
    "|(?:考上|收养|领养)了?[^,吗你您他她]{1,10}?|换了新[^,吗你您他她]{1,6}?)"
)
EN_TURN = (
    r"(?:broke up with \w+|got (?:married|engaged|divorced|fired|laid off|promoted)|(?:quit|lost) my job|graduated"
    r"|(?:passed|failed) (?:my|the) \w+|adopted an? \w+|gave birth|retired)"
)
"""What happens to somebody: events."""
