"""How people say in English that something is to be forgotten or not stored. The group c is what is named."""

from bot.memory.wording.english import DROP, KEEP_NOT, POLITE, STORED
from bot.memory.wording.signs import NAME, STOP

_STUFF = f"[^{STOP}]{{1,200}}?"
_E = (
    f"(?:[ ,]?(?:{POLITE}|now|anymore|any more|any longer|too|again|permanently|for good|right away|lol"
    f"|@?{NAME}+)(?![a-z]))*(?=[ ]?(?:[{STOP}:]|$)| and | but )"
)

EVERYTHING = (
    r"(?:erase|delete|forget|wipe|clear|remove) (?:everything|all|anything)(?: of)?(?: (?:that )?you(?:['’]ve| have)? "
    r"(?:have|know|remember|stored?|saved?|learned|got)(?: (?:about|on|of) me)?| about me)" + _E,
    "(?:erase|delete|forget|wipe|clear|remove|reset)(?: all| all of)?(?: (?:my|your|the|of my))? (?:memories"
    f"|memory)(?: (?:of|about) me)?{_E}",
)
"""All of them; never carried out without asking back."""

POINTED = (
    rf"keep (?:this|that|it) (?:out of|away from|off) (?:your |the )?{STORED}{_E}",
    rf"(?:delete|erase|remove|wipe|clear) my (?:personal )?(?:data|info|information){_E}",
    "forget (?:about )?(?:the|my|that) (?:old|previous|last|other) one" + _E,
    "(?:delete|remove|erase|forget|drop|scratch)(?: (?:that|this|the)(?: last| previous| latest)?)? (?:memory"
    "|memories|note about that)" + _E,
    rf"{DROP} (?:that|this|it|the last (?:one|thing|memory|note)) (?:from|off|out of) (?:your |the )?{STORED}{_E}",
    r"forget (?:what|everything|all) i(?:['’]ve| have)?(?: just)? (?:said|told you|wrote|sent|mentioned)" + _E,
    r"forget (?:that|this|the) last (?:thing|bit|part|message|one|memory)(?: i said)?" + _E,
    f"(?:do ?n[o']t|do not|never|no need to|(?:you )?(?:do ?n[o']t|do not) (?:need|have) to) {KEEP_NOT} (?:this"
    "|that|it|these|those)(?: one)?(?: down)?"
    rf"(?: (?:in|to) (?:your |the )?{STORED})?{_E}",
)
"""Something said before."""

NAMED = (
    rf"forget (?:that )?i (?:ever )?(?:told you|said|mentioned)(?: you)? (?:about )?(?P<c>my {_STUFF}){_E}",
    rf"forget (?P<c>(?:where|how|who|what|when) (?:old |much |many |tall )?(?:i|my|our) {_STUFF}){_E}",
    rf"(?:un-?learn|disregard and forget) (?P<c>{_STUFF}){_E}",
    rf"{DROP} everything (?:that )?(?:you (?:know|remember|have)|i (?:told|said)[^{STOP}]{{0,10}})(?: about)? "
    rf"(?P<c>my {_STUFF}){_E}",
    rf"{DROP} (?:the |that )?(?:memory|note|entry|fact):? (?P<c>\ue000+){_E}",
    "(?:un-?remember|forget|forgot)(?: about)?(?: that| about)?(?: (?:all )?(?:the|that|this) (?:thing|part|fact|bit"
    "|stuff)(?: i told you| i said)? (?:about|where|that))? (?P<c>(?:i|i'm|im|i've|i'd|my|our|we|what i"
    "|everything (?:about|i)"
    f"|the [^{STOP}]{{1,40}} (?:i|you|we)|the (?:thing|part|fact|bit) (?:about|where|that)? ?(?:i|my)"
    rf"|(?<=remember )\w+)(?![a-z]){_STUFF}){_E}",
    rf"(?:un-?remember) (?P<c>{_STUFF}){_E}",
    rf"stop (?:remembering|storing|saving|keeping|recording|tracking|logging)(?: that| about)? (?P<c>{_STUFF}){_E}",
    f"{DROP} (?:the )?(?:fact |info(?:rmation)? |data )?(?:that )?(?P<c>{_STUFF}) (?:from|off|out of) (?:your "
    f"|the )?{STORED}{_E}",
    f"{DROP} (?:the |that |any )?(?:memory|memories|note|notes|entry|record|records|fact|(?:info|information|data"
    r"|bit|part|everything)(?= (?:you have )?(?:about|on|of) (?:me|my|i)\\b))(?: you have)? "
    rf"(?:that|about|on|of|with|where) (?P<c>(?!it\b|this\b|that\b){_STUFF}){_E}",
    "(?:scratch|drop|ignore and forget|erase|delete) (?P<c>what (?:i (?:said|told you)|you (?:know|remember|have"
    f"|stored|saved))(?: about)? {_STUFF}){_E}",
    f"(?:do ?n[o']t|do not|never) {KEEP_NOT} (?:that )?(?P<c>(?:my|our|i|i'm|what i) ?{_STUFF}"
    f"|[^{STOP}]{{1,40}}(?= (?:in|to) your memory))"
    rf"(?: (?:in|to) (?:your |the )?(?:memory|memories|database|notes))?{_E}",
    rf"i (?:do ?n[o']t|do not) want you to {KEEP_NOT} (?:that )?(?P<c>{_STUFF}){_E}",
    "(?:no need (?:for you )?to|(?:you )?(?:do ?n[o']t|do not) (?:need|have) to|(?:you )?no longer (?:need"
    rf"|have) to|(?:you can )?stop) {KEEP_NOT} (?:that )?(?P<c>(?:my|i|our|that|what)\b{_STUFF}){_E}",
)
"""What is to go, in the group c."""
