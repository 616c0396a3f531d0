"""`python -m docs.site`: builds README and docs/ as a site, in build/docs/site, the Chinese one in its folder zh.

`make docs` installs what it needs (zensical) and runs it. A page, a link or an anchor that is missing fails it.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
BUILD = ROOT / "build" / "docs"
READMES = {"en": "README.md", "zh": "README.zh.md"}
LINKED = ("SECURITY.md", "CHANGELOG.md", "LICENSE", "deploy/README.md", "data/providers.toml", "data/nuan.example.toml")
"""What the pages link to and lies outside docs/."""
OTHER_README = re.compile(r" ?\[[^]]+\]\(README[.\w]*\)")
"""The link between the READMEs: each is the first page of its site, and the head of the site leads to the other."""


def gather(language: str, build: Path = BUILD) -> Path:
    """Copy the pages of a language, in the same folders as here, beside the configuration of its site; gives that."""
    pages = build / language
    shutil.rmtree(pages, ignore_errors=True)
    others = [other for other in READMES if other != language]
    shutil.copytree(DOCS, pages / "docs", ignore=shutil.ignore_patterns("*.py", "__pycache__", "site.*", *others))
    for name in LINKED:
        (pages / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, pages / name)
    first = (ROOT / READMES[language]).read_text("utf-8")
    (pages / "index.md").write_text(OTHER_README.sub("", first), "utf-8")
    return Path(shutil.copy(DOCS / f"site.{language}.toml", build))


def main() -> None:
    """Build the sites of all languages; the first that does not come out whole ends it."""
    for language in READMES:
        build = (sys.executable, "-m", "zensical", "build", "--clean", "--strict", "--config-file")
        done = subprocess.run((*build, str(gather(language))), check=False)
        if done.returncode:
            raise SystemExit(done.returncode)


if __name__ == "__main__":
    main()
