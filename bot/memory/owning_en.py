"""How English talk tells of oneself beyond a fixed vocabulary: by its frames. For folded clauses.

A frame is a subject (I, we, my), what stands between, and a predicate of a class: what somebody is, has, suffers, is
used to, is at, what befell them, what they plan. What classes cannot tell from trivia (I got it) is left out.
"""

from bot.memory import statements as s
from bot.text.lazy import LazyPattern

_AM = r"i(?:['’]m| am)"
_HAVE = r"i(?:['’]ve(?: got)?| have(?: got)?)"
_A = (
    r"(?:(?:just|also|still|really|actually|only|already|always|currently|mostly|usually|basically|finally|recently"
    r"|literally|now|even|kinda|kind of|sort of|both|all|always|absolutely|totally|secretly|honestly|officially) )*"
)
_THING = r"(?:it|that|this|them|him|her|you|so|one|some|there|here|what|how|something|nothing|anything|everything)\b"
_NO_FOLK = (
    r"(?!a (?:bit|little|lot|total loser|loser|monster|disaster|failure|joke|ghost|vampire|pirate|wizard|zombie|robot"
    r"|winner|fighter|burden|number|matter|better|few|genius|god|liar)\b|(?:[a-z]+ )*(?:better|older|bigger|other"
    r"|whatever|sucker|loser|monster|disaster|matter|millionaire|billionaire|superhero|ninja)\b)"
)
_FOLK = (
    r"(?:[a-z]{3,}(?:er|or|ist|ian|eer|ast|yst|edic|grapher|maid|man|woman|smith|wright)|nurse|chef|cook|vet|coach"
    r"|pilot"
    r"|paramedic|medic|clerk|intern|student|freshman|sophomore|junior|senior|grad|undergrad|phd|accountant|assistant"
    r"|consultant|agent|guide|judge|priest|monk|nun|temp|freelance|mechanic|architect|model|artist|mom|mum|dad|mother"
    r"|father|parent|grandma|grandpa|aunt|uncle|twin|widow|widower|veteran|expat|immigrant|introvert|extrovert"
    r"|vegetarian|vegan|pescatarian|only child|morning person|night owl|cat person|dog person|homebody|atheist|catholic"
    r"|muslim|christian|buddhist|jew|hindu|libra|leo|virgo|taurus|aries|gemini|scorpio|pisces|aquarius|capricorn)"
)
_LAND = (
    r"(?:dutch|german|french|italian|spanish|portuguese|british|english|scottish|irish|welsh|american|canadian|mexican"
    r"|brazilian|argentinian|chinese|japanese|korean|taiwanese|vietnamese|thai|indonesian"
    r"|malaysian|filipino|filipina|indian|pakistani|iranian|turkish|greek|polish|czech"
    r"|ukrainian|russian|finnish|swedish|norwegian|danish|swiss|austrian|egyptian|moroccan|nigerian"
    r"|australian|israeli|jewish)"
)
_LASTING = (
    r"(?:left-?handed|married|divorced|separated|single|widowed|pregnant|engaged|retired|unemployed|self-employed"
    r"|colou?r-?blind|near-?sighted|short-?sighted|bilingual|gluten[- ]free|lactose intolerant|diabetic|asthmatic"
    r"|anemic|dyslexic|autistic|deaf|gay|bi|trans|queer|lesbian|freelance|between jobs|an only child|sober"
    r"|on parental leave|on maternity leave|on a diet|on (?:[a-z]+ )?(?:medication|antibiotics|antidepressants|insulin)"
    r"|the (?:oldest|youngest|eldest|middle)\b.*|(?:afraid|terrified|scared) of (?!you|losing|th)\w+.*"
    r"|(?:into|obsessed with|addicted to|hooked on|bad at|good at|terrible at|used to) (?!it|that|this|you)\w+.*"
    r"|a (?:big |huge |massive |lifelong )?fan of .+|originally from .+|half .+|(?:1[0-9]|[2-9][0-9])(?: now)?)"
)
IDENTITY = LazyPattern(
    s.any_of(
        rf"{_AM} {_A}{_NO_FOLK}an? (?:[a-z'-]+ ){{0,3}}?{_FOLK}(?=$|[ ,](?!than|you|right|if))",
        rf"{_AM} {_A}(?:(?:half|part|originally|actually) )*{_LAND}\W*(?:$|,| and| so)",
        rf"{_AM} (?:turning |almost )?(?:1[0-9]|[2-9][0-9])(?: years old| now)?\W*$",
        r"i (?:just |recently )?turned (?:1[0-9]|[2-9][0-9])\b",
    )
)
_KIN = (
    r"(?:kids?|sons?|daughters?|brothers?|sisters?|siblings?|children|child|twins|husband|wife|fianc[eé]e?|girlfriend"
    r"|boyfriend|partner|roommates?|grandkids|grandchildren|dogs?|cats?|puppy|puppies|kittens?|rabbits?|hamsters?"
    r"|horses?"
    r"|parrots?|chickens|ferrets?|guinea pigs?|tortoise|goldfish|snake)"
)
_ILL = (
    r"(?:asthma|diabetes|migraines?|adhd|celiac(?: disease)?|insomnia|arthritis|anxiety|depression|epilepsy|eczema"
    r"|anemia|hay fever|high blood pressure|high cholesterol|tinnitus|psoriasis|ibs|scoliosis|dyslexia|ptsd|ocd"
    r"|a (?:bad|weak) (?:knee|back|stomach|heart|shoulder|hip|memory)|a sweet tooth|stage fright|a peanut allergy"
    r"|an? \w+ allergy|a fear of \w+|a mortgage|a driver['’]?s licen[sc]e|a stutter)"
)
_DOES = (
    r"(?:study|studied|teach|share|rent|manage|sell|design|tutor|foster|snore|blush|sleepwalk|babysit|breed|brew"
    r"|speak (?!of|from|up|to|with)|play|run (?!late|out|away|into|it)|own|drive|commute|collect"
    r"|coach|volunteer|practi[cs]e|train|garden|bake|paint|knit|sew|sing|dance|swim|climb|surf|ski|cycle|bike|hike|jog"
    r"|meditate|journal|fish|hunt|sail|box|row|write (?:poetry|songs|novels|stories|for)|read (?:a lot|mostly|before)"
    r"|cook (?:for|a lot|every|most)|walk (?:to|my|the dog)|sleep (?:with|on|badly|terribly|like)|wake up|get up"
    r"|go to (?:the gym|church|school|uni|college|yoga|therapy|bed)|eat (?:mostly|only|meat|fish|a lot)"
    r"|drink (?:only|a lot"
    r"|tea|coffee|decaf)|wear (?:glasses|contacts|hearing)|take (?:insulin|pills|medication|meds|the (?:bus|train"
    r"|subway)))"
)
_SPAN = (
    r"(?:since|for (?:about |almost |over |nearly )?(?:\d+|a|one|two|three|four|five|six|seven|eight|nine|ten|years))"
)
KNOWLEDGE = LazyPattern(
    s.any_of(
        rf"{_AM} {_A}{_LASTING}(?:\W*$|,| (?:and|so|but|now|for|with|since|to)\b)",
        rf"i {_A}(?:prefer|dislike|despise|detest|avoid|collect|can['’]?t (?:stand|handle|eat|drink|swim|drive"
        rf"|cook|whistle)"
        rf"|don['’]?t (?:like|eat|drink|smoke|drive|cook|own|have (?:a|any) (?:car|kids|pets|siblings|licen[sc]e))"
        rf"|hate|love|adore|enjoy|like) (?!{_THING}|(?:to (?:see|know|hear|say|have|get|be)|when|being|having"
        rf"|your?|th[eo]\w*)\b)"
        r"\w+",
        rf"i {_A}(?:don['’]?t|never|can['’]?t|no longer) (?:eat|drink|smoke|drive|swim|cook)\W*(?:$|anymore|any more)",
        rf"i {_A}(?:live|lived|grew up|was raised|was born|come from|rent|own an?)"
        rf" (?!in (?:fear|hope|denial)|a lie|there|here|for\b)(?:\w+)",
        rf"i {_A}work (?:from|night|nights|days|early|late shifts?|in|with|at|for|as an?|part|full|remotely"
        rf"|weekends|two|three"
        rf"|four|shifts|freelance)\b(?! (?:progress|it|this|that|peace|vain)\b)",
        rf"i {_A}{_DOES}(?! (?:it|that|this|along|dumb|dead|with (?:you|me))\b)(?: |$)[^?]*",
        rf"(?:{_HAVE}|i got) (?:a |an |no |only |just |one |two |three |four |five |six |\d "
        rf"|both )(?:[a-z-]+ ){{0,3}}?{_KIN}\b",
        rf"{_HAVE} (?:\w+ )?{_ILL}\b",
        rf"i(?:['’]ve| have) (?:\w+ )?(?:been|lived|worked|played|had|known|taught|owned|studied) .{{0,40}}\b{_SPAN}\b",
        r"i(?:['’]ve| have) never (?:been|had|seen|tried|learned|owned|eaten|flown|left|liked) (?!so|this|it|that"
        r"|you)\w+",
        rf"{_AM} {_A}(?:studying|learning|training for|majoring|saving (?:up )?for|writing (?:a|my)|doing (?:a"
        rf"|my) (?:phd|master"
        rf"|internship|degree)|raising|teaching|renovating|trying to (?:quit|lose|learn|save|cut|get pregnant)|taking"
        rf" (?:\w+ )?(?:lessons|classes)|seeing a (?:therapist|doctor|specialist)|looking for a (?:new )?(?:job|flat"
        rf"|apartment|place|house)|job hunting|in my (?:\w+ )year|in (?:grade|high school|college|law school"
        rf"|med school))\b"
        rf"(?! {_THING})",
        r"my (?:\w+ )?(?:dog|cat|puppy|kitten|daughter|son|wife|husband|baby|rabbit|girlfriend|boyfriend|partner"
        r"|kid|kids)"
        r"(?:['’]s name is|s? (?:is|are) (?:called|named)|['’]s (?:called|named)|(?: is|['’]s) (?:\d+|one|two"
        r"|three|four|five"
        r"|six|seven|eight|nine|ten)\b) ?[^?]{0,30}$",
        r"my (?:favou?rite \w+|birthday|hometown|job|major|blood type|native language|first language|star sign"
        r"|shoe size)"
        r"(?: is|['’]s) (?!so|too|not|really|killing|the)\w+",
    )
)
_PAST = (
    r"(?:went|flew|moved|travel+ed|met|visited|passed|failed|graduated|quit|broke|celebrated|adopted|gave|saw|got"
    r"|had|lost"
    r"|found|bought|sold|started|finished|won|fell|hurt|ran|took|made|signed|booked|cooked|baked|cleaned|watched|called"
    r"|joined|tried|helped|drove|walked|hiked|swam|spent|stayed|slept|missed|wrote|submitted|argued|fought|cried"
    r"|applied"
    r"|talked to my|told my|asked my|picked up|dropped|attended|interviewed|hosted|planted|painted|repaired|crashed)"
)
_PRIZE = (
    r"(?:jobs?|offers?|promotion|raise|puppy|kitten|dogs?|cats?|car|house|flat|apartment|tattoo|scholarship|visa"
    r"|licen[sc]e"
    r"|degree|divorce|diagnosis|ticket|tickets?|bike|piano|guitar|tent|place|baby|tooth|teeth|braces|surgery|stitches"
    r"|covid|flu|cold|food poisoning|concussion|ticket|fine|internship|grant|award)"
)
_FATE = (
    r"(?:laid off|fired|dumped|mugged|scammed|rejected|robbed|promoted|hired|accepted|married|engaged|divorced|evicted"
    r"|diagnosed|vaccinated|ghosted|suspended|transferred|demoted|stood up|injured|infected)"
)
_BODY = r"(?:arm|leg|ankle|wrist|knee|back|foot|toe|finger|hand|shoulder|neck|hip|nose|head|rib|tooth|elbow|hamstring)"
_GOING = (
    r"(?!running late|coming|thinking|feeling|trying|kidding|looking|wondering|hoping|guessing|saying|telling|asking"
    r"|talking|being|dying|losing|sitting|waiting|watching|reading)[a-z]{2,}ing"
)
_IRREGULAR = (
    r"(?:went|flew|met|quit|broke|gave|saw|got|had|lost|found|bought|sold|won|fell|hurt|ran|took|made|drove|swam"
    r"|spent|slept"
    r"|wrote|fought|caught|built|grew|taught|chose|rode|drew|wore|ate|drank|sang|shot|left|began|became|woke"
    r"|forgot|paid|sent"
    r"|hit|cut|froze|burnt|burst|tore|threw|stole|won)"
)
_IDLE_PAST = (
    r"(?:needed|wanted|liked|used|hoped|wished|tried|supposed|asked|guessed|thought|said|told|meant|knew|felt"
    r"|seemed|realized"
    r"|realised|noticed|checked|looked|laughed|agreed|deserved|wondered|expected|figured|heard|mentioned|talked"
    r"|called you"
    r"|been|promised|paid|sent|got (?:to|it|that|you|to|the (?:joke|point|idea)|a (?:question|feeling|point|bad"
    r"|good|hunch|minute|sec))|had (?:to|no|a (?:thought|feeling"
    r"|dream|question|hunch|lot|good|great|bad)|enough|it|fun)|saw (?:that|your|an? (?:guy|man|woman|movie|dog"
    r"|cat))|forgot (?:to|what|how)"
    r"|made (?:it|up|a (?:mistake|joke|typo))|took (?:it|that|your)|found (?:it|out|that)|went (?:with|for it)"
    r"|gave (?:it|up on)|saved"
    r"|need|indeed|lied|joked|kidded|died|swear|sent you|scared|bored|tired|never)\b"
)
_IDLE_ING = (
    r"(?:using|getting (?!a\b|my\b|married)|having (?:trouble|fun|issues|a (?:hard|good|bad|great|rough))"
    r"|doing (?:fine|well|good|ok|great|it)"
    r"|going to (?:be|say|bed|sleep|need|have)|being|making (?:it|fun|sure)|literally|joking|bringing (?:it|that)"
    r"|starting to|beginning to"
    r"|not|nothing|something|wasting|asking|calling (?:it|you)|blaming|missing (?:you|something|the)|sorry"
    r"|sleeping|eating (?!out|at)|bored"
    r"|staring|dreading|screaming|crying|freezing|starving|sweating|laughing|shaking|hanging|holding|giving up)\b"
)
_IDLE_NOW = (
    r"(?:think|feel|know|guess|hope|wish|want|need|mean|swear|bet|say|see|hear|agree|believe|wonder|suppose|doubt"
    r"|remember|forget"
    r"|understand|care|mind|get|got|have|had|was|were|am|are|will|would|could|should|might|may|must|can|did|does"
    r"|don|just|miss|die|lose)\b"
)
_IDLE_HAD = (
    r"(?:an? |no |the |some |any |two |three |so |such |many |much |too |\w+ )?(?:\w+ )?(?:ideas?|questions?"
    r"|feelings?|points?|problems?|doubts?|clue"
    r"|minutes?|seconds?|plans?|suggestions?|favou?r|things?|hunch|theory|reasons?|choices?|time|fun|faith|respect"
    r"|news|requests?|confession"
    r"|thoughts?|life|crush|words|memory|sense|clues|energy|nothing|something|everything|anything|enough|been"
    r"|headache|look|chance|good|bad"
    r"|nice|great|rest|trouble|issue|luck|mercy|opinions?|access|error|version|same|your|this|that|these|those"
    r"|zero|idea)\b"
)
_NUM = (
    r"(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty"
    r"|many|several)"
)
_TIMED = (
    rf"(?=.*(?:{s.EN_TIME}|\b(?:this|last|on|in) (?:weekend|week|morning|afternoon|evening|monday|may|june|july)\b))"
)
EVENT = LazyPattern(
    s.any_of(
        rf"{_TIMED}(?:{s.EN_TIME},? )?(?:i|we) {_A}{_PAST}(?! (?:it|that|this|you|to (?:think|say|know))\b) \w+",
        rf"{_TIMED}(?:{s.EN_TIME},? )?(?:{_AM}|we(?:['’]re| are)) {_A}{_GOING}\b",
        rf"{_TIMED}(?:{s.EN_TIME},? )?(?:i|we) {_A}(?:start|leave|fly|have|see|meet|move|graduate|turn|get|go"
        rf"|finish|compete|retire)"
        rf" (?!to\b|no\b|{_THING})\w+",
        rf"i(?:['’]ve| have)? (?!always|never){_A}(?:got|bought|won|adopted|found|lost|landed|received|caught|had)"
        rf" (?:a |an |my |the |into |two |new |covid|tickets|food)?(?:[a-z'’-]+ ){{0,2}}?{_PRIZE}\b(?! (?:of|for you))",
        rf"i(?:['’]ve| have)? {_A}(?:lost|broke|dropped|crashed|forgot) my (?:\w+ )?(?:phone|wallet|keys?|passport"
        rf"|glasses|job"
        rf"|laptop|car|bike|purse|bag|ring|luggage|{_BODY})\b",
        rf"i(?:['’]ve| have)? {_A}(?:sprained|twisted|broke|fractured|hurt|injured|pulled|burned|burnt|cut|tore) my"
        rf" (?:\w+ )?{_BODY}\b",
        rf"i(?:['’]ve| have)?(?: was|['’]ve been| been)? ?{_A}(?:got|was|been) {_A}{_FATE}\b",
        rf"i(?:['’]ve| have)? {_A}(?:got into|signed up for|enrolled in|joined|applied (?:to|for)|dropped out of"
        rf"|started"
        rf"|quit|gave up|stopped|graduated from|moved (?:in|out|to|into)|came out|signed (?:a|the|my)"
        rf"|finished (?:a|my))"
        rf" (?!{_THING}|to (?:think|wonder|feel|realize)|thinking|feeling|wondering)\w+",
        rf"(?:{_AM}|we(?:['’]re| are)) {_A}(?:planning (?:to|on|a)|moving (?:to|in|out|into)|getting (?:married"
        rf"|divorced|a)"
        rf"|expecting (?:a|our|my|twins)|having (?:a baby|surgery)|flying to|travel+ing to|due in)\b(?! (?:it|that"
        rf"|this)\b)[^?]*",
        rf"(?:i|we)(?:['’]ve| have)? {_A}(?:decided to|plan to|plan on|are planning to) (?!{_THING}|not|be\b"
        rf"|go with)\w+",
        r"(?:my|our) (?:\w+ )?(?:mom|mum|dad|mother|father|grandma|grandpa|grandmother|grandfather|brother|sister"
        r"|uncle|aunt"
        r"|cousin|dog|cat|best friend|wife|husband|son|daughter) (?:just )?(?:died|passed away|was diagnosed"
        r"|is in (?:the )?hospital"
        r"|had (?:a|her|his) (?:stroke|heart attack|surgery|baby))\b[^?]*",
    )
)
OPEN_EVENT = LazyPattern(
    s.any_of(
        rf"(?:i|we)(?:['’]ve| have)? {_A}(?!{_IDLE_PAST})(?:[a-z]{{2,}}ed|{_IRREGULAR}) (?!{_THING}|(?:up|out|off"
        rf"|on|down|in|back) {_THING})"
        r"(?:[a-z0-9'’-]+ )+?[a-z0-9'’-]{2,}",
        rf"(?:{_AM}|we(?:['’]re| are)) {_A}(?!{_IDLE_ING}){_GOING} (?:him|her|them) (?=.*\b(?:at|on|tomorrow"
        rf"|tonight|this|next|from)\b)\w+",
        rf"(?:{_AM}|we(?:['’]re| are)) {_A}(?!{_IDLE_ING}){_GOING} (?!{_THING}"
        rf"|to you)(?:[a-z0-9'’-]+ )*[a-z0-9'’-]{{3,}}",
        rf"{_AM} {_A}(?:stuck (?:at|in|on) (?:home|bed|the hospital)|(?:home|sick|recovering|quarantined|off work"
        rf"|out of town|laid up|in bed"
        r"|in (?:the )?hospital|down|on (?:vacation|holiday|leave|crutches)) (?:with (?!you)|from|until|for|in|at)).+",
        rf"my (?:mom|mum|dad|mother|father|boss|husband|wife|girlfriend|boyfriend|partner|sister|brother|friends?"
        rf"|landlord|company|manager)"
        rf" {_A}(?:gave|got|bought|surprised|took|invited|fired|promoted|dumped|left|proposed to|offered|lent"
        rf"|kicked) me(?! (?:that|this|the (?:look|finger)|a (?:look|hint)|to)\b).*",
        rf"my (?:{_BODY}|cholesterol|blood pressure|throat|stomach|eyes?|teeth|skin|sugar)(?: (?:really|still"
        rf"|also))?(?: (?:hurts?|aches?|itch(?:es)?|is|are|has been|have been)|['’]s)"
        r" ?(?!you|that|it|like)[^?]*",
        rf"(?:{_HAVE}|we have) (?:an? |my |our |the |two |three )?(?:[a-z-]+ ){{0,2}}?(?:wedding|party|exams?"
        rf"|meeting|appointment|interview"
        r"|flight|game|concert|date|funeral|class|practice|rehearsal|recital|shift|trip|surgery|deadline|dentist"
        r"|visitors|guests"
        r"|finals|midterms|jury duty|(?:mon|tues|wednes|thurs|fri|satur|sun)days? off)\b",
    )
)
"""Deeds of any kind, with what they were done to."""
OPEN_KNOWLEDGE = LazyPattern(
    s.any_of(
        rf"(?:i|we)(?:['’]ve| have) (?:been|lived|worked|known) [^?]{{0,30}}?\b{_NUM} (?:years|months|decades)\b",
        rf"{_AM} {_NUM} (?:years|months|weeks|days) (?:sober|clean|pregnant|old|married|in|into|post|cancer)\b.*",
        rf"(?:i|we) haven['’]?t [^?]{{3,40}} (?:since|in (?:years|months|weeks|{_NUM}))\b.*",
        r"i get (?:[a-z]+sick|migraines|hives|nosebleeds|stage fright|sunburned|dizzy|panic attacks|seizures)\b.*",
        rf"i {_A}(?!{_IDLE_NOW})[a-z]{{3,}} (?!{_THING})(?:[a-z]+ )?[a-z]{{3,}}s(?=\W*$| (?:so|and|but|for|in|at"
        rf"|with|on|though|too|now)\b)",
        rf"i was an? [^?]{{3,30}} for {_NUM} years\b.*|we {_A}have (?:a |an |two |three "
        rf"|four )?(?:[a-z-]+ ){{0,2}}?{_KIN}\b",
        rf"(?:i|we)(?:['’]ve| have) {_A}(?!{_IDLE_PAST})[a-z]{{2,}} .{{0,40}}\bsince\b",
        rf"(?:i|we) {_A}(?!{_IDLE_NOW})[a-z]{{3,}} (?=.*\b(?:every|each|once a|twice a|times a|on (?:mon|tues"
        rf"|wednes|thurs|fri|satur|sun)days"
        rf"|in the (?:mornings?|evenings?)|at night|on weekends|for a living|since)\b)(?!(?!her \w){_THING})\w+",
        rf"(?:{_HAVE}|we {_A}have) (?!to\b|got\b|{_IDLE_HAD})(?:(?:an?|no|two|three|four|my|our"
        rf"|only) )?(?:[a-z0-9-]+ ){{0,3}}?(?!{_IDLE_HAD})[a-z-]{{4,}}"
        r"(?=$|[ ,](?!to\b|about|for you))",
        rf"i(?:['’]ve| have) (?:always|never) (?!{_IDLE_PAST})[a-z]{{3,}} (?!{_THING}|(?:so|this) )\w+|i(?:['’]ve"
        rf"| have) {_A}had (?:an? )?bad \w+",
        rf"i(?:['’]ve| have) {_A}been to (?!you|bed|hell|the (?:toilet|bathroom)|there)\w+",
        rf"i {_A}[a-z]{{3,}} (?:easily|slowly|badly|poorly|too much)\W*$",
        rf"i {_A}(?:don['’]?t|never|no longer) (?:really )?(?:speak|watch|own|play|wear|celebrate|trust|read"
        rf"|travel|sleep|work|have)"
        rf" (?!{_THING}|to\b|{_IDLE_HAD}|(?:well|much|enough|right|out)\b)\w+",
        rf"{_AM} {_A}(?:\d+ (?:weeks|months) pregnant|tone[- ]deaf|[a-z]+phobic|[a-z]+holic|[a-z-]+ intolerant"
        rf"|clumsy|shy|tall|short"
        rf"|gluten[- ]free|terrible with \w+|a (?:terrible|bad|good|decent|great|horrible) \w+er)\b",
        rf"i can['’]?t (?:play|speak|cook|drive|swim|ski|sing|dance|read|ride|knit|bake|juggle|whistle)"
        rf" ?(?!{_THING})[a-z ]{{0,24}}$|i {_A}sing (?:alto|soprano|tenor|bass|in)\b",
    )
)
EMOTION = LazyPattern(
    s.any_of(
        rf"(?:{_AM}|i feel|feeling|i(?:['’]ve| have) been(?: feeling)?|i felt) (?:(?:so|very|really|pretty|a bit"
        rf"|a little|kinda"
        r"|kind of|quite|just|super|extremely|absolutely|totally|honestly|still|also|too|incredibly|feeling|more"
        r"|all) )*"
        rf"{s.EN_FEEL}(?! (?:to|you|with you|of you|that you|by)\b)(?: (?:about|for|because|since|after|that|of"
        rf"|over|at|with"
        r"|today|tonight|now|right|lately|again|all|these|this|though|and|but|so|tbh|anymore|already|before"
        r"|when)\b.*)?\W*$",
        r"i (?:really |still |just |do |already )*(?P<tag2>miss) (?!(?:you|it|this|that|the (?:bus|train|point"
        r"|call))\b)\w+.{0,30}$",
        r"i (?:just |actually |really )*(?P<tag3>cried)\b(?! laughing).{0,30}$",
    )
)
