"""The files that a nuan is configured by: read, looked at for changes, compared. It changes nothing."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.cli.house import Place, find_place, text_problems
from bot.config.load import load
from bot.resources import resource_dir
from bot.store.settings import said_in
from bot.store.store import DATABASE
from bot.types.said import Wish

ENDINGS = (".md", ".txt", ".toml", ".json", ".j2")
"""What a persona and prompts are written in; what editors leave beside them is none of it."""

Stamps = Mapping[Path, tuple[int, int, int]]
"""Of each file when it was changed, ns, its size and its number: a new file of the same name has another."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where configuration and texts come from: a file (nuan.toml of this folder when None), data folder, variables."""

    config: Path | None
    data: Path
    env: Mapping[str, str]

    @property
    def file(self) -> Path:
        """The configuration file, whether it is there or not."""
        return self.config or Path("nuan.toml")

    def read(self, *, whole: bool = False, wish: Wish | None = None) -> Place:
        """Everything, checked; ConfigError with all problems. `whole`: the file must be there, also without a name.

        What was set in chats comes before the file, and a `wish` that is not stored yet before that.
        """
        config = self.file if whole else self.config
        said = {one.key: one.value for one in said_in(self.data / DATABASE)} | dict(wish or {})
        known = {key: value for key, value in said.items() if value is not None}
        settings = load(config, self.env, lambda settings: text_problems(settings, self.data), known)
        return find_place(settings, self.data)

    def stamps(self, place: Place) -> Stamps:
        """How the files stand now; one that is not there, or cannot be looked at, has no stamp."""
        found: dict[Path, tuple[int, int, int]] = {}
        for path in self._files(place):
            try:
                stat = path.stat()
            except OSError:
                continue
            found[path] = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
        return found

    def _files(self, place: Place) -> Iterator[Path]:
        yield from (self.file, self.file.parent / ".env")
        folders = [self.data / "persona", place.persona, resource_dir("prompts")]
        if place.settings.prompts_dir:
            folders.append(Path(place.settings.prompts_dir).expanduser())
        for folder in folders:
            yield from _texts_in(folder)


def texts_of(place: Place) -> Mapping[str, str]:
    """What the persona and each prompt file say, as a hash by name, like persona/SOUL.md and prompts/light.txt."""
    shipped = resource_dir("prompts")
    names = [path.relative_to(shipped).as_posix() for path in _texts_in(shipped)]
    files = {f"prompts/{name}": place.prompts.path(name) for name in names}
    for path in _texts_in(place.persona):
        files[f"persona/{path.relative_to(place.persona).as_posix()}"] = path
    for name, folder in place.personas.items():
        if folder != place.persona:
            files |= {f"personas/{name}/{path.relative_to(folder).as_posix()}": path for path in _texts_in(folder)}
    return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()}


def _texts_in(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.suffix in ENDINGS and not path.name.startswith("."))
