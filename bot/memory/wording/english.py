"""English words of memory commands, lower case. Each table is part of a regular expression; `,` is any soft break."""

POLITE = (
    "please|pl[sz]|plz|thanks?(?: you)?|thx|kindly|okay|ok|from now on|in (?:the )?future|if you (?:can|could"
    "|would|do ?n[o']t mind)|for me"
)
GREETING = "hi(?: there)?|hey(?: there)?|hello|yo|good (?:morning|evening|afternoon|night)|ai|bot|morning"
FILLER = (
    "ps|btw|by the way|oh|well|anyways?|so|now|also|actually|and|lol|permanently|one more thing|for the record"
    "|hmm+|um+|right|alright|yes|yeah|no(?! need| more)|nah|sorry|quick note|fyi|just so you know"
)
"""But is missing: "but remember, …" argues."""
ASKING = (
    "would you(?: mind| just)?(?: like to)?|(?:can|could|will) you(?: just| maybe)?|can we|could i ask you to"
    "|may i ask you to"
    "|is it (?:ok|okay|possible) (?:for you )?to|i wonder if you (?:can|could)"
)
ADDRESSEE = (
    "just|kindly|feel free to|you(?:['’]re| are) (?:welcome|free|allowed) to|how about you|why do ?n[o']t you"
    "|why not|it(?:['’]s| is) important that you|there(?:['’]s| is)(?= no need)|(?:do )?make sure (?:you|to"
    "|that you)|be sure to|go ahead and|you(?: can| may| should| shall| must| have to| need to| 'd better)"
    "|you|know and(?= remember)|i(?:['’]d| would) (?:like|love)(?: it if| for)? you(?: to)?|i (?:want|need|wish"
    "|expect)(?: for)? you(?: to| would| could)?"
    "|i(?:['’]d| would) (?:rather|prefer)(?: it)?(?: if| that)?(?: have)? you|i prefer(?: that| it if)? you"
    "|i(?:['’]d| would) appreciate it if you"
    "|it would be (?:nice|great|good) if you(?: could| would)?|let['’]?s|i (?:hereby )?(?:ask|order|beg"
    "|command) you to|try to|remember to(?= call me [a-z])"
)
"""Who is asked to do it. I alone is missing: "I remember" tells."""
FROM_NOW = (
    "from (?:now|here|today|this point) on(?:wards?)?|starting (?:now|today)|start|begin|always"
    "|henceforth(?= i shall)?|going forward|instead|in (?:the )?future"
)

SAVE = (
    "(?:make|take|keep|write|add|create)(?: me)? a (?:mental |new )?(?:note|memo)(?: that| of| about)?"
    "|take note(?: that| of)?|(?:note|reminder) (?:to|for) (?:self|yourself)|memo(?=:)|(?:add|create|new|save"
    "|store) (?:a |another |new )*memory(?=:)|update (?:your )?memory(?=:)"
    "|jot (?:this |that |it )?down(?: that)?|write (?:this|that|it) down|(?:write|note) down(?: that|(?=:)"
    "|(?= (?:my|our|i|we)\\b))|note (?:this |that |it )down|note(?= my|:)"
    "|(?:add|save|put|store|commit|write)(?: (?:it|this|that|the following))?(?: (?:in|to|into|on)) (?:your |my "
    "|the |long[- ]term )*memory(?: that)?"
    "|(?:save|store|record|log)(?: (?:this|the following)(?=:)| that(?= (?:i|my|we|our)\\b)|(?=:))|(?:save"
    "|store) this(?=,)"
    "|(?:save|store|record|note|write down|keep)(?= what i(?: just|['’]ve| have)* (?:said|told|wrote|mentioned))"
    "|for (?:future reference|your records|later)(?=,)|remember the following(?: about me)?|remember (?:for me"
    "|for later)(?: that)?"
    "|remember (?:one thing|this|something|(?:two|three|four|a few|some|these) things|the following things?)(?=:)"
)
"""These ask to keep whatever follows."""
REMEMBER = (
    "(?:remember(?:ed)?|memori[sz]e|keep in mind|bear in mind|note(?= that| i\\b| my\\b| we\\b"
    "|:))(?: that(?! (?:was|is|time|one|day|epic|trip|night|thing|guy)\\b))?"
)
"""These may also be advice."""
REMIND = "(?:(?:do ?n[o']t|never)(?: you)?(?: ever)? forget)(?: that)?"
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
    "(?:please )?(?:stop|quit|did ?n[o']t|did not|cease|avoid|not|do ?n[o']t|do not|never|no more|no need to"
    "|(?:you )?(?:do ?n[o']t|do not) (?:have|need) to|do ?n[o']t you dare(?: to)?|cut it out with|(?:i (?:asked"
    "|told) you )?(?:not to|to stop)|enough with|enough of|no longer|knock off|refrain from|ca ?n[o']t you stop)"
    "(?: you)?(?: ever| keep| always| again)?"
)
"""The negative imperative before calling."""

DROP = "(?:delete|remove|erase|drop|wipe|clear|purge|scrub|scratch|discard|get rid of|take|lose)"
STORED = "(?:memory|memories|records?|notes?|data|database|log|history of me|mind|head|file)"
KEEP_NOT = (
    "(?:remember|save|keep(?: track of| a (?:record|note) of)?|track|make a (?:note|record) of|take (?:a )?note of"
    "|store|record|log|memori[sz]e|note(?: down)?|write(?: down)?|hold on to|retain)"
)
"""What is not to be done in a do-not-store."""
