"""Where the files shipped with nuan lie: prompts, personas, the example configuration."""

from pathlib import Path


def resource_dir(name: str) -> Path:
    """The folder or file `name` ("prompts", "data/persona", "data/nuan.example.toml"), installed or in a checkout.

    Raises FileNotFoundError when the installation is incomplete.
    """
    package = Path(__file__).resolve().parents[1]
    for root in (package / "_resources", package.parent):
        found = root / name
        if found.exists():
            return found
    raise FileNotFoundError(f"{name!r} is not part of this installation of nuan; please install it again")


class PromptFiles:
    """Finds prompt files: the operator's own first, then the shipped one of the same name."""

    def __init__(self, own: Path | None) -> None:
        self._own = own
        self._shipped = resource_dir("prompts")

    def path(self, name: str) -> Path:
        """The file called `name`, for example "digest/en.txt"."""
        if self._own is not None and (self._own / name).exists():
            return self._own / name
        return self._shipped / name
