"""The keys for backups: when, where, and how many are kept."""

from pydantic import Field

from bot.config.section import Section


class BackupRules(Section):
    """Copies of the database, made by `nuan backup` and, with backup.daily, by nuan itself."""

    daily: bool = Field(
        default=False,
        description="Whether nuan makes one each day; what somebody tells it to forget stays in them until they go.",
    )
    hour: int = Field(default=4, ge=0, le=23, description="Local hour at which it does, 0 to 23.")
    keep: int = Field(default=7, ge=1, le=10_000, description="Newest backups that are kept.")
    days: int = Field(
        default=30,
        ge=1,
        le=36_500,
        description="Age at which a backup goes, in days, and a copy that a migration or a restore left beside the "
        "database; the newest backup always stays.",
    )
    folder: str = Field(default="", description="Their folder; backups in the data folder unless given.")
