"""Memories, promises and reminders, the commands about them, merges, quotas, and what feedback on a reply counts."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from bot.core.events import ChatKind
from bot.core.people import MemoryKind

Visibility = Literal["private", "chat", "public"]
NameSlot = Literal["", "address", "no_address"]
NAME_SLOTS = ("address", "no_address")
"""The slots that say how somebody is called, or not; every other slot names what its statement is the value of: home,
job, partner, birthday."""

SLOT_CHARS, SUBJECT_CHARS = 24, 40
"""Longest name of a slot, and of whom or what a statement is about."""

Dated = Literal["", "time", "day", "month", "year"]
"""How exactly the words of a statement name the day that it is about; "" when they name none."""

MemorySource = Literal["command", "digest", "tool", "mcp"]
MemoryVerb = Literal["remember", "forget", "undo", "nick_set", "nick_revoke", "let_be", "agree", "done", "off"]
WishScope = Literal[
    "", "about", "all", "aside", "ahead", "bare", "just", "line", "matter", "no_more", "thing", "unsure"
]
"""What a wish is about: what it names or points at, all that is about a name (listed and asked first), everything, only
that a message, or what its writer tells next (ahead), is not kept, nothing said, what was said of it just now, one line of its writer's, all that tells of it,
what was kept just now (else that a message is not kept), some thing that was talked of last, or what it seems to name,
so that it is asked back."""
QuestionKind = Literal["what", "name", "which", "clarify", "drop", "cue", "about", "done", "pasted"]
FORGET_QUESTIONS: tuple[QuestionKind, ...] = ("about", "which")
"""Those that show what may be forgotten; an answer in words of its own a model takes to the tool forget."""

NumberedThing = Literal["memory", "reminder", "promise"]
"""What a number that people say is of."""

STABILITY_DAYS: dict[MemoryKind, int] = {
    "identity": 999_999,
    "emotion": 365,
    "knowledge": 90,
    "event": 14,
    "experience": 90,
    "anniversary": 999_999,
}
"""Days S of vitality e^(-t/S) (seed Warm Boot: 999999 / 365 / 90 / 14); experience lasts like knowledge."""

KIND_PRIORITY: dict[MemoryKind, int] = {
    "identity": 0,
    "emotion": 1,
    "knowledge": 2,
    "event": 3,
    "experience": 2,
    "anniversary": 0,
}
"""P0 to P3, the most important first (seed Warm Boot); experience counts like knowledge."""

MOST_STABLE = 999_999.0
"""Days beyond which nothing gets more stable (seed Warm Boot)."""

RECALLED_FACTOR, BOOTED_FACTOR, FADED_FACTOR = 1.5, 1.1, 0.1
"""Factors of stability when a memory is recalled and when an opening tells it, and of vitality when its owner lets it
fade (seed Warm Boot: x1.5, x1.1, soft forget x.1)."""

MOST_IMPORTANCE = 100
"""How often a memory counts as told at most (seed Feedback)."""

MergeKind = Literal["evidence", "replace", "append", "join", "timeline", "update", "absorb", "outdo"]
"""Into the older one: nothing new, only proof of it (evidence), or its text corrected (update). The older one into what
a person asks to keep: as the same (absorb) or as disproved by it (outdo). The others are of rows of an older nuan."""

INTO_OLDER: tuple[MergeKind, ...] = ("evidence", "replace", "append", "join", "timeline", "update")

QuotaExcess = Literal["", "often", "full"]
"""Which limit a new memory would pass: that of a minute, or of all; "" none."""

Signal = Literal["thanks", "affection", "laughter", "agreement", "frustration", "correction", "confusion"]

REACTION_WEIGHTS: dict[str, float] = {"👍": 0.8, "❤": 1.5, "👎": -1.0}
"""The reactions that count, without skin tone and variation selector, weighed as agreement, affection, correction."""

SIGNAL_WEIGHTS: dict[Signal, float] = {
    "thanks": 2.0,
    "affection": 1.5,
    "laughter": 1.0,
    "agreement": 0.8,
    "frustration": -2.0,
    "correction": -1.0,
    "confusion": -0.5,
}
"""What each of them weighs (seed Feedback, C33). A task given next says nothing about what was remembered."""

SIGN_WEIGHTS: Mapping[str, float] = REACTION_WEIGHTS | {
    str(signal): weight for signal, weight in SIGNAL_WEIGHTS.items()
}

CLEAR_AVERAGE = 0.3
"""The average of somebody's signals to one reply counts beyond this, for or against (seed Feedback)."""

FEEDBACK_WINDOW_MS = 30_000
"""Words count for a reply that was said so short a time ago (seed Feedback: 30 s)."""

LATE_SIGNALS: frozenset[Signal] = frozenset(("thanks", "correction"))
LATE_SIGNAL_MS = 600_000
"""These count some minutes later, too, while nuan has said nothing else: they are about what it said last."""

MOST_CREDITED, MOST_PER_DAY = 3, 3
"""Memories that one reply's signs count for, and replies of a day that count for one (seed Warm Boot, W14)."""

CommitmentState = Literal["pending", "ongoing", "done", "failed"]
CommitmentSource = Literal["rule", "digest", "tool"]
"""Who found it: the rule on a message, the digest of a session, or the model by tool."""

SOMETHING_ELSE = -1
"""In place of a promise's number: what was spoken of is none."""

OPEN_STATES: tuple[CommitmentState, ...] = ("pending", "ongoing")

ReminderEnd = Literal["said", "cancelled", "unsaid", "deleted", "forgotten", "edited", "settled", "asked"]
"""Why a reminder is over; settled: the promise it is of ended, asked: its person asked for one of the same."""


def name_slot(slot: str) -> str:
    """The slot if it says how somebody is called, else ""."""
    return slot if slot in NAME_SLOTS else ""


@dataclass(frozen=True, slots=True)
class Memory:
    """One typed statement. `id` is the number people see (#12); times are ms since 1970 UTC.

    `observed_at` is when the thing happened or will happen, `dated` how exactly its words say so, `said_at` when it was
    said. `asked`: a person asked to keep it. Of one owner, `subject` ("" is the owner) and `slot` one is current; what
    another took the place of is former since `former_at`. `lasting`: it does not fade. `importance` counts how often
    it was told, 1 to 100. Its vitality is not stored: it follows from `stability_days`, `accessed_at` (the last recall)
    and `faded`, a factor that its owner may set. `original` is what was said when a model put it into other words.
    `agent` names the other program that had it kept (source mcp).
    """

    id: int
    owner_id: int | None
    chat_id: int
    visibility: Visibility
    kind: MemoryKind
    text: str
    observed_at: int
    created_at: int
    source: MemorySource
    slot: str = ""
    asked: bool = False
    importance: int = 1
    emotion: str = ""
    emotion_value: float = 0.0
    stability_days: float = 90
    accessed_at: int = 0
    disabled_at: int | None = None
    protected: bool = False
    updated_at: int = 0
    access_count: int = 0
    faded: float = 1.0
    helpful: int = 0
    unhelpful: int = 0
    praised_at: int = 0
    original: str = ""
    agent: str = ""
    section: str = ""
    subject: str = ""
    lasting: bool = False
    said_at: int = 0
    dated: Dated = ""
    former_at: int | None = None
    replaced_by: int | None = None

    @property
    def is_name(self) -> bool:
        """Whether it says how somebody wants to be called, or not."""
        return self.slot in NAME_SLOTS

    @property
    def lasts(self) -> bool:
        """Whether it is so still and does not fade: judged so, or who somebody is, or a day of every year."""
        return self.former_at is None and (self.lasting or self.kind in ("identity", "anniversary"))

    @property
    def wordings(self) -> tuple[str, ...]:
        """Its text and, where that is a model's, what was said: whatever is done to one is done to both."""
        return tuple(dict.fromkeys(filter(None, (self.text, self.original))))

    @property
    def teller_id(self) -> int | None:
        """Whose words it is: its owner's, but nobody's where it is a conclusion of nuan's own (experience)."""
        return None if self.kind == "experience" else self.owner_id

    @property
    def kept(self) -> bool:
        """Whether somebody asked to keep it: no tidying, no limit and no merge may take or change it."""
        return self.asked or self.protected

    @property
    def feedback(self) -> float | None:
        """What people thought of the replies that it was told to, -1 to 1; None when nobody said (seed Feedback)."""
        counted = self.helpful + self.unhelpful
        return (self.helpful - self.unhelpful) / counted if counted else None


def wordings(memories: Iterable[Memory]) -> list[tuple[int, str]]:
    """All that these memories say or said first, each with its number."""
    return [(memory.id, text) for memory in memories for text in memory.wordings]


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A statement about to be stored, with the events it came from, or the other agent that tells it.

    `said_at` 0 is the moment at which it is stored; `replaces` are the numbers of the memories
    that it makes former, what holds its slot apart.
    """

    owner_id: int | None
    chat_id: int
    visibility: Visibility
    kind: MemoryKind
    text: str
    observed_at: int
    source: MemorySource
    event_ids: tuple[int, ...]
    slot: str = ""
    asked: bool = False
    emotion: str = ""
    emotion_value: float = 0.0
    agent: str = ""
    subject: str = ""
    lasting: bool = False
    said_at: int = 0
    dated: Dated = ""
    replaces: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class OldMemory:
    """A memory of an older nuan, the lines it comes from that still stand, each with when it was said (ms), and the
    zone of its owner's days."""

    memory: Memory
    said: tuple[tuple[str, int], ...] = ()
    zone: str = ""


@dataclass(frozen=True, slots=True)
class ReviewedMemory:
    """What an older memory is by the rules of today: whether it lasts, and the moment that it is about, ms."""

    number: int
    lasting: bool
    observed_at: int


@dataclass(frozen=True, slots=True)
class MemoryCommand:
    """What a person asked of memory in a message.

    `content` is verbatim, in the person's own script; None when it points elsewhere (那条) or gives a number.
    `forever` asks for 彻底忘记: gone at once, without the days for undo. `replied` means the message replied to.
    `chosen` are the numbers of those that are meant: listed, or answering a question which of several was. `said_in` is
    the event in which it was said, where that is not the message itself. `of` is what `number` is of.
    """

    verb: MemoryVerb
    content: str | None
    number: int | None = None
    forever: bool = False
    replied: bool = False
    scope: WishScope = ""
    chosen: tuple[int, ...] = ()
    said_in: int | None = None
    of: NumberedThing = "memory"


@dataclass(frozen=True, slots=True)
class MemoryQuestion:
    """What nuan asked a person back: what to keep or to forget, which name, which memories, what one of them means,
    whether a message asked for what it seemed to (cue), all about a name, or a line, is to go (about), which promise
    is done, or whether what somebody pasted asks for something in their name (pasted).

    `memories` are the numbers that were offered, in the order in which they were shown; of a cue or a paste its message's, of
    a line its own after it, of what is done those of promises.
    """

    kind: QuestionKind
    memories: tuple[int, ...] = ()
    forever: bool = False


@dataclass(frozen=True, slots=True)
class ParsedCommands:
    """The commands of one message, in order, and what is left of it to answer ("" when nothing is); what of that
    stands before the first of them."""

    commands: tuple[MemoryCommand, ...]
    rest: str
    lead: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Merge:
    """A new statement meets an older memory; `text` is what that one says afterwards ("" where it stays as it is)."""

    older: Memory
    how: MergeKind
    text: str = ""


MergeRule = Callable[[NewMemory, tuple[Memory, ...]], tuple[Merge, ...]]
"""What becomes of a new statement beside those near it: nothing (it stands for itself), one merge into an older
memory, or for what a person asks to keep the older ones that go into it."""


def no_merge(new: NewMemory, near: tuple[Memory, ...]) -> tuple[Merge, ...]:
    """Every statement stands for itself."""
    del new, near
    return ()


@dataclass(frozen=True, slots=True)
class PastMerge:
    """One merge as it is kept: what the memory said before, and what came to it from which events, times in ms."""

    id: int
    at: int
    how: MergeKind
    before: str
    said: str
    undone_at: int | None
    event_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class KeepQuota:
    """New memories by command within 60 s, and all that were asked for; None is no limit."""

    minute: int | None
    most: int | None


@dataclass(frozen=True, slots=True)
class NudgeRules:
    """How people are reminded of what they promised: on a day without a time at that local `hour`, 0-23.

    Whoever has `most_open` open reminders gets none.
    """

    hour: int
    most_open: int


@dataclass(frozen=True, slots=True)
class Nudge:
    """When its person is to be reminded of a promise, ms since 1970 UTC, unless so many reminders are open."""

    at: int
    most_open: int


@dataclass(frozen=True, slots=True)
class NewCommitment:
    """One promise or open task about to be stored, with the events it came from.

    `changes` is the number of the open one that this is now, 0 for a new one. `made_at` is when it was said, `due_at`
    when it should be done, if a time was named (`dated`: how exactly); ms since 1970 UTC.
    `nudge` is when its person is reminded of it, if that lies ahead; `toward` whom it was promised to.
    """

    owner_id: int
    chat_id: int
    visibility: Visibility
    text: str
    made_at: int
    source: CommitmentSource
    event_ids: tuple[int, ...]
    due_at: int | None = None
    nudge: Nudge | None = None
    toward: str = ""
    dated: Dated = ""
    changes: int = 0


@dataclass(frozen=True, slots=True)
class SpokenPromise:
    """A promise as a message makes it: the person's words, and by when, ms; None where no day is named."""

    text: str
    due_at: int | None = None
    nudge: Nudge | None = None


@dataclass(frozen=True, slots=True)
class SettledCommitment:
    """What became of an open commitment by its number, as its owner said it in these messages, where they are known."""

    number: int
    state: CommitmentState
    event_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Commitment:
    """One stored promise or open task. `id` is the number people see; times are ms since 1970 UTC.

    `dated` is how exactly `due_at` is known, `toward` whom it was promised to.
    """

    id: int
    owner_id: int
    chat_id: int
    visibility: Visibility
    text: str
    state: CommitmentState
    made_at: int
    due_at: int | None
    source: CommitmentSource
    updated_at: int
    toward: str = ""
    dated: Dated = ""


@dataclass(frozen=True, slots=True)
class NewReminder:
    """A reminder about to be stored, in the person's own words ("" for none), with the messages it came from.

    `due_at` is ms since 1970 UTC; `rule` is "" for once, else one of bot/language/time/schedule.py by the person's wall
    clock. `script` is that of the request, `shared` one for all of the chat, `wall` one of a time of day, no number of
    hours; `assumed`: the time of day is not the person's.
    """

    person_id: int
    chat_id: int
    text: str
    due_at: int
    rule: str
    event_ids: tuple[int, ...]
    script: str = ""
    shared: bool = False
    wall: bool = False
    assumed: bool = False


@dataclass(frozen=True, slots=True)
class Reminder:
    """One open reminder. `id` is the number people see, `promise` that of the promise it is of, 0 for none."""

    id: int
    person_id: int
    chat_id: int
    text: str
    due_at: int
    rule: str
    made_at: int
    promise: int = 0
    script: str = ""
    shared: bool = False


@dataclass(frozen=True, slots=True)
class DueReminder:
    """A reminder whose time has come, with whom it is for and where it is said."""

    reminder: Reminder
    kind: ChatKind
    name: str
    script: str
    timezone: str


@dataclass(frozen=True, slots=True)
class IncompleteReminder:
    """A request that lacks something: what to remind of, and the words for the time so far, in the order they came.

    `wakes` is a wish to be woken, `plain` one by command; `asked_at`, ms, is when it was made. `numbers` are reminders
    that are set for an hour that was assumed: nothing is lacking, and an answer moves them.
    """

    text: str
    said: tuple[str, ...]
    wakes: bool
    plain: bool
    asked_at: int
    event_id: int
    shared: bool = False
    numbers: tuple[int, ...] = ()
