"""What casts doubt on a part of a sentence, for folded clauses: asking, not knowing, gladness where none is meant."""

from bot.text.lazy import LazyPattern

ASKING = LazyPattern(
    "不确定|不知道|不记得|要不要|能不能|会不会|有没有|怎么|什么|为何|哪[里儿个些]|谁|多少|几[点号]|咋"
    r"|\b(?:whether|could|should|what|why|how come)\b"
)
"""Part of a sentence that asks or does not know: the other parts may tell."""
UNLUCKY = LazyPattern(
    "加班|迟到|丢|坏了|掉|摔|堵[车在]|被[骂偷扣罚裁]|倒霉|下雨|停[电水]|吐|生病|考砸|挂科|又[要得]|周一上班|早起|开会|排队|通宵|涨价|进水"
    r"|\b(?:again|broken?|lost|late|crash\w*|delay\w*|cancell?ed|flat tire|mondays?|overtime|traffic|dead|stuck|taxes"
    r"|ignored|yelled|waiting|3 ?am|4 ?am|5 ?am|alarm|meetings?)\b"
)
PLEASED = LazyPattern(r"喜欢|热?爱|享受|\bi (?:\w+ )?(?:love|like|enjoy|adore)\b")
"""What nobody is glad of, and words of being glad: together they are irony more often than not."""
NO_QUESTION = LazyPattern("(?:好吗|好不好|好嘛)$")
"""我才三十五好吗 asks nothing."""
