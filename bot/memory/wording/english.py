"""English words of memory commands, lower case. Each table is part of a regular expression; `,` is any soft break."""

POLITE = (
    "please|pl[sz]|plz|thanks?(?: you)?|thx|kindly|okay|ok|from now on|in (?:the )?future|if you (?:can|could"
    "|would|do ?n[o']t mind)|for me"
)
GREETING = "hi(?: there)?|hey(?: there)?|hello|yo|good (?:morning|evening|afternoon|night)|ai|bot|morning"
FILLER = (
    "ps|btw|by the way|oh|well|anyways?|so|now|also|actually|and|lol|permanently|one more thing|for the record"
    "|hmm+|um+|right|alright|yes|yeah|no(?! need| more| longer)|nah|sorry|quick note|fyi|just so you know|update(?=:)"
)
"""But is missing: "but remember, …" argues."""
ASKING = (
    "would you(?: mind| just)?(?: like to)?|can u|(?:can|could|will) you(?: just| maybe)?|can we|could i ask you to"
    "|may i ask you to"
    "|is it (?:ok|okay|possible) (?:for you )?to|i wonder if you (?:can|could)"
)
ADDRESSEE = (
    "just|kindly|simply|really|feel free to|how about you|why do ?n[o']t you|why not|it(?:['’]s| is) important that you"
    "|there(?:['’]s| is)(?= no need)|(?:do )?make sure (?:you|to|that you)|be sure to|go ahead and|know and"
    "(?= remember)"
    "|it would be (?:nice|great|good) if you(?: could| would)?|let['’]?s(?: have you)?|(?:do|would) you mind"
    "|try to|remember to(?= call me [a-z])|for now on"
    "|i(?:['’]d|['’]ll| would| will| shall)(?: (?:really|also|just|much|now))*(?: (?:like|love|prefer|rather|appreciate"
    "|want|have))?(?: (?:it|for))*(?: (?:if|that))?(?: to)?"
    "|i (?:really |just |do |hereby )*(?:want|wanna|wish|need|expect|prefer|like|think|ask|order|beg|command|have|gotta"
    "|would like)(?: (?:it|for))*(?: (?:if|that))?(?: to)?|i(?:['’]m| am) (?:now )?(?:gonna|going to|to)(?: need)?"
    "|you(?:['’]re| are) (?:welcome|free|allowed) to|may i|can i|could i|let me|have you"
    "|you(?:['’](?:ll|d)| (?:can|may|should|shall|must|might|could|would|will|have to|need to|are to|ought to|to"
    "|['’]d better))?|u|can|could|would|will"
)
"""Who is asked to do it and how it is wished for; only with you, or to be called so, does it ask for anything."""
OF_ONESELF = r"\b(?:i|we)\b(?!.*\b(?:you|u|let)\b)"
"""A lead whose subject is the speaker: "I need to remember" tells."""
FROM_NOW = (
    "from (?:now|here|today|this point) on(?:wards?)?|starting (?:now|today)|start|begin|always"
    "|henceforth(?= i shall)?|going forward|instead|in (?:the )?future"
)

SAVE = (
    "(?:make|take|keep|write|add|create)(?: me)? a (?:mental |new )?(?:note|memo)(?: that| of| about)?"
    "|take note(?: that| of)?|(?:save|store|note|record|remember) the fact that|(?:note|reminder) (?:to|for) "
    "(?:self|yourself)|memo(?=:)|(?:add|create|new|save"
    "|store) (?:a |another |new )*memory(?=:)|update (?:your )?memory(?=:)"
    "|jot (?:this |that |it )?down(?: that)?|write (?:this|that|it) down|(?:write|note) down(?: that|(?=:)"
    "|(?= (?:my|our|i|we)\\b))|note (?:this |that |it )down|note(?= my|:)"
    "|(?:add|save|put|store|commit|write)(?: (?:it|this|that|the following))?(?: (?:in|to|into|on)) (?:your |my "
    "|the |long[- ]term )*memory(?: that)?"
    "|(?:add|save|put|store|write)(?: (?:it|this|that))? (?:in|to|into|on) (?:your |my |the )*(?:notes?|records?"
    "|profile)"
    "(?=:| that)(?: that)?|(?:save|store|record|log)(?: (?:this|it|the following)(?=:)| that(?= (?:i|my|we|our)\\b)"
    "|(?=:))|(?:save"
    "|store) this(?=,)"
    "|(?:save|store|record|note|write down|keep)(?= what i(?: just|['’]ve| have)* (?:said|told|wrote|mentioned))"
    "|for (?:future reference|your records|later)(?=,)|remember the following(?: about me)?|remember (?:for me"
    "|for later)(?: that)?"
    "|remember (?:one thing|this|something|(?:these|those|two|three|four|a few|some|the following)(?: things?"
    "| facts?| points?)?)(?=:)"
)
"""These ask to keep whatever follows."""
REMEMBER = "(?:remember(?:ed)?|memori[sz]e)(?: that(?! (?:was|is|time|one|day|epic|trip|night|thing|guy)\\b))?"
"""These may also be advice."""
REMIND = (
    "(?:(?:do ?n[o']t|never)(?: you)?(?: ever)? forget|keep in mind|bear in mind|note(?= that| i\\b| my\\b| we\\b|:))"
    "(?: that)?"
)
"""Only before a fact about the speaker."""

BACK = "(?:that|this|it|them|those|these)"
TAIL_SAVE = (
    f"keep {BACK} in mind|make (?:a )?(?:mental )?note of {BACK}|make (?:a )?note|take note(?: of {BACK})?"
    f"|note {BACK}(?: down)?"
    f"|(?:write|jot) {BACK} down|(?:save|store|record) {BACK}|(?:add|save|put|store|commit|write) {BACK} (?:to|in"
    "|into) (?:your |the )?(?:long[- ]term )?memory"
    f"|(?<=please )remember(?: {BACK})?(?: for me)?|(?<=pls )remember(?: {BACK})?|(?<=please )note"
    f"|remember {BACK}(?: for me)|bear {BACK} in mind"
)
TAIL_REMEMBER = f"remember {BACK}|do ?n[o']t (?:ever )?forget(?: {BACK})?|never forget (?:{BACK})"

STOPPING = (
    "(?:please )?(?:stop(?:ped)?|would ?n[o']t|quit|did ?n[o']t|did not|cease|avoid|not|do ?n[o']t|do not|never"
    "|no more|no need to"
    "|(?:you )?(?:do ?n[o']t|do not) (?:have|need) to|do ?n[o']t you dare(?: to)?|cut it out with|(?:i (?:asked"
    "|told) you )?(?:not to|to stop)|enough with|enough of|(?:i(?:['’]m| am) )?(?:tired|sick) of|(?:it )?(?:annoys"
    "|bothers|hurts) me when|no longer|knock off|refrain from|ca ?n[o']t you stop)"
    "(?: you)?(?: ever| keep| always| again)?"
)
"""The negative imperative before calling."""

DROP = "(?:delete|strike|remove|erase|drop|wipe|clear|purge|scrub|scratch|discard|get rid of|take|lose)"
STORED = "(?:memory|memories|records?|notes?|data|database|log|history of me|mind|head|file)"
KEEP_NOT = (
    "(?:remember|save|keep(?: track of| a (?:record|note) of)?|track|make a (?:note|record) of|take (?:a )?note of"
    "|store|record|log|memori[sz]e|note(?: down)?|write(?: down)?|hold on to|retain)"
)
"""What is not to be done in a do-not-store."""
OTHERWISE = r".*\b(?:games?|files?|photos?|pictures?|documents?|changes|drafts?|seat|videos?|posts?|receipts?|ticket)\b"
"""What is kept elsewhere than in a memory."""
