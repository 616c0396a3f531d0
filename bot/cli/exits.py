"""How a command of `nuan` ends: the one table of exit codes. docs/commands.md is written from it."""

from enum import IntEnum


class Exit(IntEnum):
    """An exit code, and in `meaning` what a script may conclude from it."""

    DONE = 0
    FAILED = 1
    WRONG = 2
    DEFECT = 70
    """EX_SOFTWARE of sysexits.h."""
    INTERRUPTED = 130
    """128 and SIGINT, as every shell tells it."""

    @property
    def meaning(self) -> str:
        """One cell of a table."""
        return MEANINGS[self]


MEANINGS = {
    Exit.DONE: "done; `nuan run` and `nuan web` were stopped by a signal",
    Exit.FAILED: (
        "failed or not wanted, and nothing half done: data folder, backup, person, chat, model, platform, "
        "another nuan, a finding of `nuan doctor`"
    ),
    Exit.WRONG: "the command line or the configuration is wrong, each problem in a line, and nothing was changed",
    Exit.DEFECT: "a defect of nuan; the line says where",
    Exit.INTERRUPTED: "Ctrl-C during a command that does not end well by it",
}
