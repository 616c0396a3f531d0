"""Keys that decide when the bot speaks: [speak], [speak.join], [heartbeat], [limits] and [remind]."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from bot.config.base import Hour, Seconds, SettingsTable, Share
from bot.core.speaking import BusyPolicy, GroupMode

MOST_ANSWERS = 1_000_000
DAY_S = 86_400
Answers = Annotated[int | None, Field(ge=1, le=MOST_ANSWERS)]

Domain = Annotated[
    str, StringConstraints(strip_whitespace=True, to_lower=True, max_length=253, pattern=r"^(\*|[\w-]+(\.[\w-]+)*)$")
]


class HeartbeatRules(SettingsTable):
    """When nuan writes first; only in direct messages, groups are left out for now."""

    on: bool = False
    """Whether nuan may write first, in direct messages of people who talked with it before; in groups it does not yet.
    A model decides each time (HEARTBEAT.md of the persona), which costs a full call."""
    silence_hours: int = Field(default=24, ge=1, le=8_760)
    """How long nothing must have been said in a chat, in hours; each time there was nothing to say twice as long, up to
    a week. A day that something is dated to is not waited past."""
    per_day: int = Field(default=1, ge=1, le=24)
    """Most first messages per chat and local day; what is skipped is none."""
    quiet_from: Hour = 22
    """Local hour of the person at which the quiet hours begin, 0 to 23."""
    quiet_until: Hour = 9
    """Local hour at which they end, 0 to 23; the same as heartbeat.quiet_from means no quiet hours."""
    most_ignored: int = Field(default=2, ge=1, le=50)
    """First messages without an answer after which nuan waits until the person writes."""
    day_tokens: int = Field(default=20_000, ge=1, le=1_000_000_000)
    """Limit of all these calls per day, in tokens; the limits of budget.* hold as well."""


class JoinRules(SettingsTable):
    """When nuan enters a group's talk by itself, where speak.mode or `.ai mode` says join.

    Its score is the weighed sum of relevance, an open question and rest, less pace, each from 0 to 1.
    """

    lull_seconds: int = Field(default=20, ge=1, le=3_600)
    """Silence after which nuan looks at what was said, in seconds."""
    question_seconds: int = Field(default=60, ge=1, le=3_600)
    """After so long a question without an answer counts in full, in seconds."""
    stale_seconds: Seconds = 300
    """Older talk is let go, in seconds since its last line."""
    dialogue_seconds: int = Field(default=90, ge=60, le=3_600)
    """How long two people who reply to each other are left alone after their last lines, in seconds."""
    rest_seconds: Seconds = 600
    """After so long without a word of nuan rest counts in full, in seconds."""
    fast_per_minute: int = Field(default=10, ge=1, le=1_000)
    """So many lines within 60 seconds are the fastest pace."""
    weight_relevance: Share = 0.6
    """Weight of what the last lines share with memories and persona, 0 to 1."""
    weight_persona: Share = 0.5
    """What a word of the persona counts beside one of a memory, 0 to 1."""
    weight_question: Share = 0.3
    """Weight of a question nobody answered, 0 to 1."""
    weight_rest: Share = 0.2
    """Weight of the time since nuan spoke, 0 to 1."""
    weight_pace: Share = 0.2
    """Weight of the chat's pace, 0 to 1; it counts against entering."""
    threshold: float = Field(default=0.5, gt=0, le=2)
    """Score from which nuan asks the model, which may still decline."""
    backoff_seconds: Seconds = 15
    """Pause after nobody answered an entry, or the model declined, in seconds; it doubles each time."""
    backoff_most_seconds: Seconds = 300
    """Longest such pause, in seconds."""
    per_hour: int = Field(default=4, ge=1, le=60)
    """Most entries into one chat within 60 minutes, with those that were declined."""
    quiet_from: Hour = 22
    """Local hour at which nuan enters no more, 0 to 23 (bot.timezone)."""
    quiet_until: Hour = 9
    """Local hour at which that ends, 0 to 23; the same as speak.join.quiet_from means never quiet."""
    day_tokens: int = Field(default=100_000, ge=1, le=1_000_000_000)
    """Limit of all these calls per day, in tokens; the limits of budget.* hold as well."""


class TalkLimits(SettingsTable):
    """How often people are answered; owners only count for all together. `.ai limit` changes it while nuan runs."""

    cooldown_seconds: int | None = Field(default=None, ge=1, le=DAY_S)
    """Pause between two answers to one person, in seconds; none means none."""
    person_minute: Answers = None
    """Answers to one person within 60 seconds; none means no limit."""
    person_day: Answers = None
    """Answers to one person per local day; none means no limit."""
    global_minute: Answers = None
    """Answers to all together within 60 seconds; none means no limit."""
    global_day: Answers = None
    """Answers to all together per local day; none means no limit."""
    notify: bool = True
    """Whether who meets a limit is told so, once a minute or a day; off means silence."""


class RemindRules(SettingsTable):
    """What people ask to be reminded of."""

    most_open: int = Field(default=50, ge=1, le=10_000)
    """Open reminders that one person may have."""
    ask_seconds: Seconds = 600
    """How long nuan waits for the answer when it asked back for a time, in seconds."""
    late_minutes: int = Field(default=5, ge=1, le=10_080)
    """A reminder that is said later than this, in minutes, says so."""
    hour: Hour = 9
    """Local hour of the person at which nuan reminds of a day without a time, 0 to 23."""
    quiet_from: Hour = 22
    """Local hour at which the quiet hours begin, 0 to 23: a reminder without a time of day (in three days) waits for
    their end; one with a time is said then."""
    quiet_until: Hour = 8
    """Local hour at which they end, 0 to 23; the same as remind.quiet_from means no quiet hours."""
    commitments: bool = True
    """Whether nuan reminds people of what they promised, or have still to do, on its day."""
    commitment_hour: Hour = 9
    """Local hour of the person at which nuan reminds of a promise that names a day and no time, 0 to 23; in the quiet
    hours it waits for their end. What is due before it, or within an hour after it, comes an hour before it is due."""


class SpeakRules(SettingsTable):
    """When and how nuan speaks."""

    mode: GroupMode = "window"
    """In groups: window (whoever calls, and their follow-ups), called (whoever calls, nothing else) or join (as window,
    and nuan may enter a talk by itself). `.ai mode` sets it for one group."""
    window_seconds: int = Field(default=60, ge=0, le=86_400)
    """How long a person need not call again, in seconds."""
    followup_seconds: int = Field(default=5, ge=0, le=3_600)
    """Silence before a follow-up is answered, in seconds."""
    backlog_seconds: int = Field(default=600, ge=0, le=604_800)
    """Messages older than this, in seconds, are read but not answered."""
    late_seconds: int = Field(default=600, ge=1, le=604_800)
    """How old a message may get, in seconds, while others are answered and every call of model.slots is taken; then one
    line says so in the place of an answer."""
    paced: bool = False
    """Whether a reply may go out as several messages, with pauses and typing time between them, where the persona wants
    it (a file PACED.md); such replies are not shown while they are written."""
    busy: BusyPolicy = "collect"
    """Messages that come while nuan answers in that chat: collect (answered together afterwards), interrupt (a new
    message of the person being answered cancels the running call, once, and both are asked together) or queue (one
    after the other, together only when more than 3 wait)."""
    debounce_seconds: float = Field(default=0.6, ge=0, le=3)
    """Wait for a person's next message where the first looks unfinished (it ends with a comma or a word that joins, or
    is a fragment) or follows another within a second, in seconds, up to 3 while they are still typing. A whole sentence
    is asked at once; what follows it within a second is asked together with it. Unset the terminal does not wait, and
    queue never does."""
    reply_chars: int | None = Field(default=None, ge=60, le=100_000)
    """Longest reply that is sent, in characters, cut at the end of a sentence; none means no limit."""
    bots: Literal["never", "limited"] = "limited"
    """Other bots in groups: never answered, or limited (when they mention nuan, at most 20 times in 60 seconds, then
    silence for 60)."""
    links: tuple[Domain, ...] = ()
    """Domains, each with its subdomains, to which a reply may link though nobody in the chat, no memory and no text of
    the persona named the address; of any other address only the host is said, as example[.]org. "*" lets every address
    through."""
    join: JoinRules = JoinRules()
