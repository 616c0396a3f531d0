"""Every key of the configuration with its type, unit, default and one sentence of help. Reads no file."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from bot.config.agents import AgentRules
from bot.config.background import Background
from bot.config.backup import BackupRules
from bot.config.budget import Budget
from bot.config.capabilities import CapabilityRule
from bot.config.heartbeat import HeartbeatRules
from bot.config.kinds import region, zone
from bot.config.limits import TalkLimits
from bot.config.media import Media
from bot.config.memory import MemoryLimits
from bot.config.metrics import MetricsPage
from bot.config.model import Fallback, ModelServer, SecondFallback, Small
from bot.config.notes import NoteRules
from bot.config.platforms import Discord, Telegram
from bot.config.reload import ReloadRules
from bot.config.remind import RemindRules
from bot.config.section import Section
from bot.config.sections import SectionRules
from bot.config.speak import Speak
from bot.config.web import WebPage
from bot.types.session import LightPolicy

Language = Literal["zh-Hans", "zh-Hant", "en"]
Level = Literal["debug", "info", "warning", "error"]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=32)]
Owner = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^[a-z0-9_]+:\S.*$")]


class Bot(Section):
    """Who nuan is, and where and whom it belongs to."""

    names: tuple[Name, ...] = Field(
        default=("小暖", "暖暖", "nuan"),
        min_length=1,
        description="Names that call the bot; the first is what it calls itself.",
    )
    prefix_trigger: bool = Field(
        default=False, description="Whether the first three characters of a name call the bot, too."
    )
    owner: str = Field(
        default="", max_length=64, description="The owner's name as shown to the model; empty shows none."
    )
    owners: tuple[Owner, ...] = Field(
        default=("console:local",),
        description="The owner's accounts, each \"platform:id\"; they alone have the owner's rights.",
    )
    language: Language = Field(
        default="zh-Hans", description="Language of the bot's own notices: zh-Hans, zh-Hant or en."
    )
    timezone: Annotated[str, AfterValidator(zone)] = Field(
        default="", description="Time zone, for example Asia/Shanghai; empty takes the machine's."
    )
    holidays: Annotated[str, AfterValidator(region)] = Field(
        default="CN", description="Two-letter country whose public holidays the bot knows; empty for none."
    )


class SessionLimits(Section):
    """When a conversation is closed and digested."""

    idle_seconds: int = Field(
        default=1800,
        ge=1,
        le=2_592_000,
        description="Silence that closes a session, in seconds; unset it is as long as the provider's cache lives, "
        "600 to 21,600.",
    )
    log_tokens: int = Field(
        default=6000,
        ge=500,
        le=1_000_000,
        description="Log size that closes a session, in tokens; unset it follows the provider's prices.",
    )
    reserve_tokens: int = Field(
        default=1024, ge=0, le=1_000_000, description="Part of the model's window kept free, in tokens."
    )
    close_hour: int = Field(default=4, ge=0, le=23, description="Local hour at which every session is closed, 0 to 23.")
    heard_lines: int = Field(
        default=60,
        ge=0,
        le=1_000,
        description="Lines of a group that nobody addressed to the bot which one digest may read; 0: none.",
    )


class Scene(Section):
    """What an adapter or plug-in says about the place."""

    include: bool = Field(default=True, description="Whether the model is told about the place.")
    max_chars: int = Field(default=300, ge=1, le=4_000, description="Longest description of the place, in characters.")


class Context(Section):
    """What the model is told of what happened."""

    recent: int = Field(
        default=10, ge=0, le=5_000, description="Newest lines of a chat that open a session; 0 means none."
    )
    window_seconds: int = Field(
        default=86_400, ge=1, le=31_536_000, description="Oldest line that opens a session, in seconds."
    )
    bus_max: int = Field(
        default=200, ge=1, le=5000, description="Newest events of a chat that one prompt looks at, 1 to 5000."
    )
    gap_seconds: int = Field(default=300, ge=1, le=86_400, description="Pause that is shown as a gap, in seconds.")
    delta_tokens: int = Field(
        default=1200, ge=1, le=1_000_000, description="Other people's new lines per turn, in tokens."
    )
    opening_tokens: int = Field(
        default=600, ge=1, le=1_000_000, description="Size of the block that opens a session, in tokens."
    )
    carry_tokens: int = Field(
        default=1500, ge=0, le=1_000_000, description="Lines taken over when the log begins anew, in tokens."
    )
    scene: Scene = Scene()


class PromptRules(Section):
    """How much of the bootstrap a request brings."""

    tools: bool = Field(
        default=True,
        description="Whether the model may use tools; without them what people ask for in words still works.",
    )
    light: LightPolicy = Field(
        default="auto",
        description="Small talk without tools and memories: auto (whenever that is cheaper), per_message, sticky "
        "(until the talk is about something) or off.",
    )
    warm_seconds: int = Field(
        default=300,
        ge=0,
        le=2_592_000,
        description="How long the provider keeps a prompt that it has seen, in seconds; unset as is known of it.",
    )
    light_hint_turns: int = Field(
        default=15,
        ge=0,
        le=1_000,
        description="After so many replies to a person that were small talk alone, the next one is told so, once: "
        "something may be worth keeping or asking about. 0 never says it.",
    )


class Input(Section):
    """What people send."""

    max_chars: int = Field(
        default=8000, ge=1, le=100_000, description="Longest message the model sees, in characters; the rest is cut."
    )


class Retention(Section):
    """How long things are kept."""

    ids_days: int = Field(default=30, ge=1, le=36_500, description="Platform ids of handled messages, in days.")
    transcript_days: int = Field(
        default=90,
        ge=1,
        le=36_500,
        description="What was said, with pictures' descriptions and what replies were told from memory, in days; "
        "memories and notes stay until they are forgotten.",
    )
    dialogue_days: int = Field(
        default=30, ge=1, le=36_500, description="Summaries of talks, by themselves and rolled up, in days."
    )
    counts_days: int = Field(
        default=400,
        ge=367,
        le=36_500,
        description="Rows without text (who spoke when, how a turn went), in days; what calls cost stays as one sum a "
        "month.",
    )
    log_days: int = Field(
        default=7, ge=1, le=36_500, description="What the model saw, in days after its session was digested."
    )


class LogFile(Section):
    """The operator's log, logs/nuan.jsonl in the data folder."""

    text: bool = Field(
        default=False, description="Whether people's text is logged, too; off means ids and numbers only."
    )
    level: Level = Field(default="info", description="Least level that is logged: debug, info, warning or error.")
    max_megabytes: float = Field(
        default=10.0, gt=0, le=100_000, description="Size at which the file is rotated, in megabytes."
    )
    keep: int = Field(default=5, ge=1, le=100, description="Rotated files that are kept.")


class Settings(BaseSettings):
    """The whole configuration; made by `load`, or directly in a test. Reads no file, no environment."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    persona: str = Field(default="default", pattern=r"^[\w-]+$", description="Persona folder under data/persona.")
    prompts_dir: str = Field(default="", description="Own folder whose files replace shipped prompts of the same name.")
    capabilities: tuple[CapabilityRule, ...] = Field(
        default=(),
        description="Own rules about model servers, as [[capabilities]]; data/providers.toml shows the form.",
    )
    bot: Bot = Bot()
    model: ModelServer = ModelServer()
    fallback: Fallback = Fallback()
    second_fallback: SecondFallback = SecondFallback()
    small: Small = Small()
    budget: Budget = Budget()
    background: Background = Background()
    speak: Speak = Speak()
    limits: TalkLimits = TalkLimits()
    heartbeat: HeartbeatRules = HeartbeatRules()
    remind: RemindRules = RemindRules()
    telegram: Telegram = Telegram()
    discord: Discord = Discord()
    session: SessionLimits = SessionLimits()
    context: Context = Context()
    prompt: PromptRules = PromptRules()
    input: Input = Input()
    media: Media = Media()
    memory: MemoryLimits = MemoryLimits()
    sections: SectionRules = SectionRules()
    notes: NoteRules = NoteRules()
    mcp: AgentRules = AgentRules()
    retention: Retention = Retention()
    backup: BackupRules = BackupRules()
    log: LogFile = LogFile()
    metrics: MetricsPage = MetricsPage()
    reload: ReloadRules = ReloadRules()
    web: WebPage = WebPage()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what is passed in: `load` brings file and environment."""
        return (init_settings,)
