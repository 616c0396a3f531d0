"""`nuan` and `python -m bot`."""

import gc
import signal
from importlib import import_module


def main() -> None:
    """The entry point. Until a command begins its work, Ctrl-C ends the program as if nothing had been typed."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # in the midst of an import it would be a traceback
    gc.disable()  # until everything is loaded: bot.cli.terminal.resume_collector
    import_module("bot.cli.main").main()


if __name__ == "__main__":
    main()
