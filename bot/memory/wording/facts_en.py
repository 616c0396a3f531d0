"""What English facts look like, and what is said with "remember" and is none."""

STATEMENT = (
    r"(?:i|i'm|im|ive|i've|i'd|i'll|id|we|we're|we've)(?<!\bme) (?!told|said|mention|asked|talked|am here|will be here"
    r"|love you|already|agreed|discussed|just |did|do n|want you|need you|will always|always be)"
    r"|(?:my|our) [^,]*?(?:'s|\b(?:is|are|was|were|has|have|had|will|lives?|works?|likes?|hates?|loves?|starts?"
    "|ends?|goes|moved"
    r"|called|can't|cannot|can|does|expires?|closes?|opens?|needs?|prefers?|only|got|takes?|=)\b|:)"
)
THIRD = (
    r".*(?:'s|\b(?:is|are|has|have|was|will|lives?|works?|likes?|hates?|loves?|starts?|ends?|goes|can't|closes"
    r"|opens|=|on|at)\b|:)"
)
CONCRETE = (
    r"[0-9]|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|\b(?:january|february|march|april|june|july|august"
    "|september|october"
    "|november|december|birthday|anniversary|password|code|pin|allergic|called|named|name|lives|works|parked"
    "|vegan|vegetarian"
    "|diabetic|address|phone|number|due|meeting|appointment|flight|exam|deadline|likes|hates|loves|tomorrow"
    r"|next week|key)\b"
)
GENERIC = (
    r"\b(?:you|your|yourself|people|everyone|nobody|life|kernel|packages?|linux|ubuntu|servers?|sudo|root"
    r"|install\w*|version|distro"
    "|filesystem|drivers?|ports?|commands?|scripts?|files?|bugs?|windows|kb|mb|gb|bytes?|always|never give|it's"
    "|there|these|those|they"
    r"|one|success|happiness|love is|time is)\b|^(?:what|who|why|how|when|where|if|the time|that time|to|not to"
    r"|and|or)\b"
)
NOT_FACT = (
    r"did ?n['o]?t (?:we|i)|(?:always )?here (?:for|if)|to.?do list|shopping list|calendar|reminder|alarm"
    r"|playlist|as (?:i|we) (?:said|told)|\bi(?:'m| am) (?:doing|not asking|just|still waiting|counting|talking"
    "|here|with you|proud)"
    r"|(?:love|miss|thinking of|proud of|believe in|waiting for|counting on|rooting for) you|\byou\b.*\bright\b"
    r"|\bi (?:will|'ll|can|could|would|was|had|have been|think|thought|know|guess|said|saw|used|don't know"
    r"|tried)\b(?=.*\byou\b)"
)
"""Addressed to the listener for its own sake: comfort, argument, a to-do list."""
