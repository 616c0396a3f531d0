"""How people say in English how to call them, or no longer. The name follows each of them."""

from bot.memory.wording.english import STOPPING
from bot.memory.wording.signs import EDGE, STOP

WORDS = rf"(?P<name>[^{STOP}: ]{{1,24}}(?: [^{STOP}: ]{{1,24}}){{0,2}}?)"
WELL = (
    "(?: (?:from (?:now|here|today) on(?: out)?|please|pls|ok|okay|instead(?: of .{1,20})?|any ?more|any longer"
    "|again|now|thanks|thank you|or whatever|lol"
    "|for me|when (?:you (?:talk|speak|write|address)|talking|speaking|addressing)(?: to)?(?: me)?|then|will you"
    "|would you|alright|if you (?:can|would|do ?n[o']t mind)"
    r"|ever|right|to refer to me|to address me|for my name|going forward|too|at least))*"
    rf"(?=[ ]?[{STOP}:]| and | but | so | because |$)"
)
MY_NAME = r"(?:nick ?name|user ?name|display name|name|title)"

REVOKES_THAT = (
    f"{STOPPING} (?:call(?:ing)?|address(?:ing)?|refer(?:ring)? to) me (?:by )?(?:that|this|it|like that)(?: name"
    f"| again"
    f"| anymore| any more| please)*(?= |{EDGE})",
)
"""No longer by a name said before."""

REVOKES = (
    "not (?:to )?be (?:called|addressed as|known as) ",
    f"{STOPPING} (?:call(?:ing)?|refer(?:ring)? to|address(?:ing)?) me (?:as |by )?",
    f"{STOPPING} (?:us(?:e|ing)) (?:the (?:name|word|nickname) )",
    "i (?:really |just )?(?:do ?n[o']t|do not|never|no longer|would ?n[o']t) (?:want|like|wish|care"
    "|love)(?: you)? (?:to (?:be|get) (?:called|addressed as|known as|referred to as)|being called|to call me"
    "|calling me|"
    "it when you call me) ",
    "i (?:really |absolutely )?(?:hate|dislike|detest|ca ?n[o']t stand|can't stand)(?: it when| when)?(?: you"
    "| being| getting| to be)*(?: call(?:ed|ing)?)(?: me)? ",
    "i(?:['’]d| would)? (?:rather|prefer)(?: it)?(?: if)?(?: that)? you (?:did ?n[o']t|did not|not|do ?n[o']t"
    "|do not) call me ",
    "i(?:['’]d| would) (?:rather|prefer) not (?:to )?be (?:called|addressed as|known as) ",
    "i (?:do ?n[o']t|do not|no longer) (?:go by|use|answer to)(?: the name)? ",
    "(?:drop|lose|ditch) the (?:nick ?name|name|title) ",
    "(?:would you mind|could you|can you) not (?:call|calling) me ",
)
"""No longer so."""

SETS = (
    "(?:just |simply |only |try )*(?:call(?:ing|ed)?|refer(?:ring|red)? to|address(?:ing|ed)?|speak(?:ing)? to|know"
    "|respond(?:ing)? to|rename|name) (?:me|be|myself)(?: (?:from now on|now|always|only|instead|just|simply))*"
    "(?: (?:as|by|with|using))?(?: (?:the|my) (?:nick ?)?name(?: of)?)? ",
    "(?:change|set|update|switch|make|edit|modify|turn|reset|alter)(?: (?:what|how) you (?:call|address|refer to) me"
    f"| the name (?:that )?you (?:call|have for|use for) me(?: by)?| my {MY_NAME}(?: in [^,。?]{{1,20}}?(?= to ))?)"
    "(?: (?:to|as|into|be|from .{1,20} to))? (?:be )?",
    "(?:change|switch) (?:over )?to calling me ",
    "(?:us(?:e|ing)|go with|try) (?:the |my )(?:nick)?name ",
    f"my (?:new {MY_NAME} (?:is|will be|shall be)|{MY_NAME} (?:should (?:now )?be|is now|will be|shall be|must be"
    f"|needs to be|has changed to|has been changed to|changed to)(?: changed to)?|{MY_NAME} from now on is) ",
    f"my (?:preferred|chosen|real|correct) {MY_NAME} is (?=[^,。?\\n]{{1,24}}$)",
    f"(?:the |a )?{MY_NAME} (?:that )?i(?:['’]d| would)? (?:like|want|prefer|wish)(?: to)?(?: go by| be called| use)?"
    "(?: by)? is ",
    f"(?:save|store|put|register|list|keep|remember) (?:my {MY_NAME}|me) (?:as|under) ",
    f"my {MY_NAME} (?:(?:is|has) )?to be (?:changed to )?",
    f"my {MY_NAME} (?:changed to|set to) ",
    "(?:my friends|people|everyone|they all) calls? me (?=[^,。?\\n]{1,24},? ?(?:and |so )*(?:you (?:can|should"
    "|may) (?:too|as well)|please do too))",
)
"""So from now on."""

BE_CALLED = (
    "(?:please )?(?:(?:be|get) (?:now )?|to be )(?:called|known as|addressed as|referred to as|named)(?: by)? ",
    "(?:now )?go(?:ing)? by (?:the name )?",
)
"""So from now on, when it is the speaker's wish about oneself."""

NO_NAME = (
    r"(?:at|when|if|an?|later|back|tomorrow|tonight|today|on|in|by|after|before|and|or|out|for|asap|crazy|names?"
    r"|that|which|of|unless|field|without|until|while|since|something|any\w*|whatever|maybe|old|stupid|dumb"
    r"|paranoid|lazy|cynical|weird|to|with|about|up|now"
    "|please|collect"
    "|again|soon|sometime|every|right|over|ahead|around|asap|instead|directly|immediately|anytime|always|it's|is"
    "|was|are|from|via|through|cell"
    "|your(?! (?:majesty|highness|grace|honou?r|excellency))|it|this|what|whenever|as|im|i'm|i|he|she|they|but"
    "|because|next|once|first|not|ignorant|confused|or|so|then"
    "|naive|picky|dumb|insane|nuts|biased|sceptical|skeptical|pessimistic|ungrateful|bored|impressed|blind|silly"
    r"|ignorant|different|the (?:same|next|first|one|idiot|fool|liar))\b"
    r"|[0-9]|.*\b(?:a|an|different|another|when|because|but|if|at|why|who|was|names|else|that)\b"
)
"""What follows "call me" when no name does."""
