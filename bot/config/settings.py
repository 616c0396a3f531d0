"""The whole configuration as one immutable value, its keys, and its smaller tables (media, backups, web page, …)."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field, SecretStr, StringConstraints
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from adapters.discord import DiscordSettings
from adapters.telegram import TelegramSettings
from bot.config.base import (
    Count,
    Days,
    Hour,
    PlatformSettings,
    Seconds,
    SettingsTable,
    help_of,
    region,
    value_error,
    zone,
)
from bot.config.mcp import AgentRules
from bot.config.memory import MemoryRules, NoteRules, SectionRules
from bot.config.models import (
    Budget,
    CapabilityRule,
    Fallback,
    ImageServer,
    ModelServer,
    ModelSettings,
    ModelUse,
    SecondFallback,
    SmallModel,
    VoiceServer,
)
from bot.config.speaking import HeartbeatRules, RemindRules, SpeakRules, TalkLimits
from bot.core.people import Script
from bot.core.sessions import LightPolicy

BackgroundSource = Literal["digest", "heartbeat", "join", "embedding", "flush", "rewrite"]

Level = Literal["debug", "info", "warning", "error"]
BotName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=32)]
OwnerAccount = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^[a-z0-9_]+:\S.*$")]

PREFIX = "NUAN_"

UNSET = ("session.idle_seconds", "session.log_tokens", "prompt.warm_seconds", "speak.debounce_seconds")
"""Keys that are not their default while nobody sets them: provider or platform say what they are."""


OF_ONE_PROCESS = ("prompts_dir", "backup.folder", "discord.shards", "store", "log", "metrics", "reload", "web")
"""Keys and tables of which each of several processes on a database may have its own, beside proxies and secrets."""


class BackgroundRules(SettingsTable):
    """Model calls that nobody waits for; without them rules do the same, less well. `.ai calls` shows them."""

    on: bool = True
    """Whether the model is called in the background at all."""
    sources: tuple[BackgroundSource, ...] = ("digest", "heartbeat", "join", "embedding", "flush", "rewrite")
    """What may call it: digest, which sums up a conversation when it ends, heartbeat, with which nuan writes first
    ([heartbeat]), join, with which it enters a group's talk ([speak.join]), embedding, which makes vectors of memories
    ([memory.embedding]), flush, which keeps notes of a long talk (memory.flush), rewrite, which puts what it was asked
    to keep into clean statements (memory.rewrite)."""


class BackupRules(SettingsTable):
    """Copies of the database, made by `nuan backup` and, with backup.daily, by nuan itself."""

    daily: bool = False
    """Whether nuan makes one each day; what somebody tells it to forget stays in them until they go."""
    hour: Hour = 4
    """Local hour at which it does, 0 to 23."""
    keep: int = Field(default=7, ge=1, le=10_000)
    """Newest backups that are kept."""
    days: Days = 30
    """Age at which a backup goes, in days, and a copy that a migration or a restore left in the data folder; the
    newest backup always stays."""
    folder: str = ""
    """Their folder; backups in the data folder unless given."""


def database_url(url: SecretStr) -> SecretStr:
    """The address as it is, or an error that says what is wrong with it."""
    if not url.get_secret_value().startswith(("postgresql://", "postgres://")):
        raise value_error("must be like postgresql://user:password@host/name")
    return url


class StoreRules(SettingsTable):
    """Where everything lies that nuan knows."""

    url: Annotated[SecretStr, AfterValidator(database_url)] | None = None
    """A database of a PostgreSQL server, like postgresql://user:password@host/name; without it the file nuan.db in the
    data folder. It needs the extra postgres, and a start anew when it changes; logs stay in the data folder,
    notes and what was forgotten lie in the schema nuan_kept, which no backup holds."""
    pooler: bool = False
    """Whether that address leads to a pooler in transaction mode, such as pgbouncer. Then statements are not prepared, other
    processes are not woken but look each second, and `nuan backup`, `restore` and `move` need the server's own address."""
    writers: int = Field(default=4, ge=1, le=16)
    """Connections to that server that write at once, each for another chat, 1 to 16."""
    lease_seconds: float = Field(default=15.0, ge=3, le=300)
    """How long after a process on that server's database died, or was cut off, another takes over what it had, in seconds:
    everything where one answers and others stand by, its chats, platforms and upkeep where several share the work."""

    copy_before_update: bool = True
    """Whether a database of a server is copied into the data folder by pg_dump before a newer nuan changes its tables; off
    where there is no pg_dump and you copy it yourself. The file is copied always."""


class MediaRules(SettingsTable):
    """Pictures, voice messages and files that people send along; only what is being answered is looked at."""

    images: str = ""
    """Name of a model on the same server that sees pictures; its calls cost model.price_* where they are set, else what
    the public table says; empty looks at none."""
    voice: str = ""
    """Name of a model on the same server that transcribes voice messages; counted like media.images; empty hears
    none."""
    files: bool = True
    """Whether text files are read; that needs no model."""
    max_megabytes: float = Field(default=10.0, gt=0, le=100)
    """Largest picture, voice message or file that is fetched, in megabytes."""
    max_per_message: int = Field(default=4, ge=1, le=9)
    """Attachments of one message that are looked at, 1 to 9."""
    file_chars: Count = 4000
    """How much of a text file is read, in characters."""
    description_tokens: int = Field(default=300, ge=16, le=2_000)
    """Longest description of one picture, in tokens."""


class MetricsPage(SettingsTable):
    """What `nuan run` shows to instruments: /metrics for Prometheus and /health, red (503) when something is wrong."""

    on: bool = False
    """Whether /metrics (needs nuan[metrics]) and /health are served."""
    host: str = Field(default="127.0.0.1", min_length=1, max_length=253)
    """Address to listen on. There is no password: let only this machine or your own network reach it."""
    port: int = Field(default=9464, ge=1, le=65_535)
    """Port to listen on."""


class ReloadRules(SettingsTable):
    """Taking changed files while nuan runs; SIGHUP and `.ai reload` do it, too."""

    watch_seconds: float = Field(default=2.0, ge=0, le=3_600)
    """How often configuration, persona, prompts and notes are looked at, in seconds; 0 never looks."""


class WebPage(SettingsTable):
    """The operator's web page; `nuan run` serves it when it is on, `nuan web` always."""

    on: bool = False
    """Whether `nuan run` serves the web page."""
    host: str = Field(default="127.0.0.1", min_length=1, max_length=255)
    """Address it listens at; anything but this machine's own lets others on the network try the token, and what is
    shown then travels unencrypted."""
    port: int = Field(default=8390, ge=0, le=65_535)
    """Port it listens at; 0 takes a free one."""
    session_hours: int = Field(default=12, ge=1, le=720)
    """How long a login lasts, in hours."""


class BotSettings(SettingsTable):
    """Who nuan is, and where and whom it belongs to."""

    names: tuple[BotName, ...] = Field(default=("小暖", "暖暖", "nuan"), min_length=1)
    """Names that call the bot; the first is what it calls itself."""
    prefix_trigger: bool = False
    """Whether the first three characters of a name call the bot, too."""
    owner: str = Field(default="", max_length=64)
    """The owner's name as shown to the model; empty shows none."""
    owners: tuple[OwnerAccount, ...] = ("console:local",)
    """The owner's accounts, each "platform:id"; they alone have the owner's rights."""
    language: Script = "zh-Hans"
    """Language of the bot's own notices: zh-Hans, zh-Hant or en."""
    timezone: Annotated[str, AfterValidator(zone)] = ""
    """Time zone, for example Asia/Shanghai; empty takes the machine's."""
    holidays: Annotated[str, AfterValidator(region)] = "CN"
    """Two-letter country whose public holidays the bot knows; empty for none."""


class SessionRules(SettingsTable):
    """When a conversation is closed and digested."""

    idle_seconds: int = Field(default=1800, ge=1, le=2_592_000)
    """Silence that closes a session, in seconds; unset it is as long as the provider's cache lives, 600 to 21,600."""
    log_tokens: int = Field(default=6000, ge=500, le=1_000_000)
    """Log size that closes a session, in tokens; unset it follows the provider's prices."""
    reserve_tokens: int = Field(default=1024, ge=0, le=1_000_000)
    """Part of the model's window kept free, in tokens."""
    close_hour: Hour = 4
    """Local hour at which every session is closed, 0 to 23."""
    heard_lines: int = Field(default=60, ge=0, le=1_000)
    """Lines of a group that nobody addressed to the bot which one digest may read; 0: none."""


class SceneRules(SettingsTable):
    """What an adapter or plug-in says about the place."""

    include: bool = True
    """Whether the model is told about the place."""
    max_chars: int = Field(default=300, ge=1, le=4_000)
    """Longest description of the place, in characters."""


class ContextRules(SettingsTable):
    """What the model is told of what happened."""

    recent: int = Field(default=10, ge=0, le=5_000)
    """Newest lines of a chat that open a session; 0 means none."""
    recent_told: int = Field(default=2, ge=0, le=5_000)
    """Of these, the newest lines of talks that a model's digest tells already."""
    window_seconds: int = Field(default=86_400, ge=1, le=31_536_000)
    """Oldest line that opens a session, in seconds."""
    bus_max: int = Field(default=200, ge=1, le=5000)
    """Newest events of a chat that one prompt looks at, 1 to 5000."""
    gap_seconds: Seconds = 300
    """Pause that is shown as a gap, in seconds."""
    delta_tokens: int = Field(default=1200, ge=1, le=1_000_000)
    """Other people's new lines per turn, in tokens."""
    opening_tokens: int = Field(default=600, ge=1, le=1_000_000)
    """Size of the block that opens a session, in tokens."""
    carry_tokens: int = Field(default=1500, ge=0, le=1_000_000)
    """Lines taken over when the log begins anew, in tokens."""
    scene: SceneRules = SceneRules()


class PromptRules(SettingsTable):
    """How much of the bootstrap a request brings."""

    tools: bool = True
    """Whether the model may use tools; without them what people ask for in words still works."""
    light: LightPolicy = "auto"
    """Small talk without tools and memories: auto (whenever that is cheaper), per_message, sticky (until the talk is
    about something) or off."""
    warm_seconds: int = Field(default=300, ge=0, le=2_592_000)
    """How long the provider keeps a prompt that it has seen, in seconds; unset as is known of it."""
    light_hint_turns: int = Field(default=15, ge=0, le=1_000)
    """After so many replies to a person that were small talk alone, the next one is told so, once: something may be
    worth keeping or asking about. 0 never says it."""


class InputRules(SettingsTable):
    """What people send."""

    max_chars: Count = 8000
    """Longest message the model sees, in characters; the rest is cut."""


class RetentionRules(SettingsTable):
    """How long things are kept."""

    ids_days: Days = 30
    """Platform ids of handled messages, in days."""
    transcript_days: Days = 90
    """What was said, with pictures' descriptions and what replies were told from memory, in days; memories and notes
    stay until they are forgotten."""
    dialogue_days: Days = 30
    """Summaries of talks, by themselves and rolled up, in days."""
    counts_days: int = Field(default=400, ge=367, le=36_500)
    """Rows without text (who spoke when, how a turn went), in days; what calls cost stays as one sum a month."""
    log_days: Days = 7
    """What the model saw, in days after its session was digested."""


class LogFile(SettingsTable):
    """The operator's log, logs/nuan.jsonl in the data folder."""

    text: bool = False
    """Whether people's text is logged, too; off means ids and numbers only."""
    level: Level = "info"
    """Least level that is logged: debug, info, warning or error."""
    max_megabytes: float = Field(default=10.0, gt=0, le=100_000)
    """Size at which the file is rotated, in megabytes."""
    keep: int = Field(default=5, ge=1, le=100)
    """Rotated files that are kept."""


class Settings(BaseSettings):
    """The whole configuration; made by `load`, or directly in a test. Reads no file, no environment."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, enable_decoding=False)

    persona: str = Field(default="default", pattern=r"^[\w-]+$")
    """Persona folder under data/persona."""
    prompts_dir: str = ""
    """Own folder whose files replace shipped prompts of the same name."""
    capabilities: tuple[CapabilityRule, ...] = ()
    """Own rules about model servers, as [[capabilities]]; data/providers.toml shows the form."""
    bot: BotSettings = BotSettings()
    model: ModelServer = ModelServer()
    fallback: Fallback = Fallback()
    second_fallback: SecondFallback = SecondFallback()
    small: SmallModel = SmallModel()
    budget: Budget = Budget()
    background: BackgroundRules = BackgroundRules()
    speak: SpeakRules = SpeakRules()
    limits: TalkLimits = TalkLimits()
    heartbeat: HeartbeatRules = HeartbeatRules()
    remind: RemindRules = RemindRules()
    # The registry of platforms: everything else that needs a list of them asks `platforms`.
    telegram: TelegramSettings = TelegramSettings()
    discord: DiscordSettings = DiscordSettings()
    session: SessionRules = SessionRules()
    context: ContextRules = ContextRules()
    prompt: PromptRules = PromptRules()
    input: InputRules = InputRules()
    media: MediaRules = MediaRules()
    voice: VoiceServer = VoiceServer()
    image: ImageServer = ImageServer()
    memory: MemoryRules = MemoryRules()
    sections: SectionRules = SectionRules()
    notes: NoteRules = NoteRules()
    mcp: AgentRules = AgentRules()
    retention: RetentionRules = RetentionRules()
    backup: BackupRules = BackupRules()
    store: StoreRules = StoreRules()
    log: LogFile = LogFile()
    metrics: MetricsPage = MetricsPage()
    reload: ReloadRules = ReloadRules()
    web: WebPage = WebPage()

    @property
    def platforms(self) -> dict[str, PlatformSettings]:
        """The table of each platform, by its name."""
        return {name: value for name, value in self if isinstance(value, PlatformSettings)}

    @property
    def allow_list(self) -> frozenset[str]:
        """Who and which groups may use nuan without being approved, as "platform:id"."""
        return frozenset(f"{name}:{each}" for name, platform in self.platforms.items() for each in platform.allow)

    @property
    def models(self) -> dict[ModelUse, ModelSettings]:
        """The table of each model that may answer, by its name; one without a name of a model is not used."""
        return {
            "model": self.model,
            "fallback": self.fallback,
            "second_fallback": self.second_fallback,
            "small": self.small,
        }

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        *_: PydanticBaseSettingsSource,
        **__: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what is passed in: `load` brings file and environment."""
        return (init_settings,)


@dataclass(frozen=True, slots=True)
class SettingKey:
    """One key: where it stands and what it is."""

    path: tuple[str, ...]
    field: FieldInfo
    table: type[BaseModel]

    @property
    def help(self) -> str:
        """What it does, as its table says."""
        return help_of(self.table).get(self.path[-1], "")

    @property
    def dotted(self) -> str:
        """The path as problems name it: model.base_url."""
        return ".".join(self.path)

    @property
    def variable(self) -> str:
        """The environment variable that sets it: NUAN_MODEL__BASE_URL."""
        return PREFIX + "__".join(self.path).upper()

    def value(self, settings: Settings) -> object:
        """What it is set to."""
        return attrgetter(self.dotted)(settings)


def differing(one: Settings, other: Settings) -> tuple[str, ...]:
    """The keys that have another value in one than in the other, or are set in one only where that matters."""
    return tuple(key.dotted for key in keys() if _value_of(one, key) != _value_of(other, key))


def shared_values(settings: Settings) -> dict[str, str]:
    """What processes that share a database must agree on: by key each value that is not the default; no secrets."""
    found, plain = dict[str, str](), Settings()
    for key in keys():
        value = _value_of(settings, key)
        own = key.path[0] in OF_ONE_PROCESS or key.dotted in OF_ONE_PROCESS or key.path[-1] == "proxy"
        if value != _value_of(plain, key) and not own and not isinstance(value, SecretStr):
            found[key.dotted] = repr(sorted(value.items()) if isinstance(value, dict) else value)
    return found


@cache
def keys() -> tuple[SettingKey, ...]:
    """Every key in the order of the models."""
    return tuple(_keys(Settings, ()))


def _keys(section: type[BaseModel], path: tuple[str, ...]) -> Iterator[SettingKey]:
    shared = PlatformSettings.model_fields if issubclass(section, PlatformSettings) else {}
    for name, field in sorted(section.model_fields.items(), key=lambda each: each[0] in shared):  # its own come first
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from _keys(kind, (*path, name))
        else:
            yield SettingKey((*path, name), field, section)


def _value_of(settings: Settings, key: SettingKey) -> object:
    """The value of a key, None while it is unset and not its default."""
    if key.dotted in UNSET and key.path[-1] not in getattr(settings, key.path[0]).model_fields_set:
        return None
    return key.value(settings)
