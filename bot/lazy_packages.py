"""Less of a library: the parts of packages that gather hundreds of names load when one is asked for, and what a library
only loads in case it is used is not there for it."""

import ast
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType

_HIDING = threading.RLock()
"""What one thread hides from its imports is hidden from all: one at a time."""


def load_parts_when_asked(*packages: str) -> None:
    """For these packages and all inside them from now on; call it before they are imported."""
    finder = next((each for each in sys.meta_path if isinstance(each, _Finder)), None)
    if finder is None:
        sys.meta_path.insert(0, finder := _Finder())
    finder.packages |= set(packages)


@contextmanager
def loading_without(*modules: str) -> Iterator[None]:
    """What is imported inside finds none of these, as if they were not installed: libraries load them in case they are
    used."""
    with _HIDING:
        before = {name: sys.modules.get(name) for name in modules}
        sys.modules.update(dict.fromkeys(modules))  # type: ignore[arg-type]  # an import of None fails
        try:
            yield
        finally:
            for name, module in before.items():
                if module is None:
                    del sys.modules[name]
                else:
                    sys.modules[name] = module


class _Finder(MetaPathFinder):
    def __init__(self) -> None:
        self.packages: set[str] = set()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not any(f"{fullname}.".startswith(f"{package}.") for package in self.packages):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.submodule_search_locations and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _LazyLoader(fullname, spec.loader.path)
        return spec


class _LazyLoader(SourceFileLoader):
    """Loads a package; where it only gathers names of its parts, each part when a name of it is asked for."""

    def exec_module(self, module: ModuleType) -> None:
        gathered: dict[str, tuple[str, str]] = {}
        for statement in ast.parse(self.get_data(self.path)).body:
            match statement:
                case ast.ImportFrom(module="__future__"):
                    pass
                case ast.ImportFrom(module=str(part), names=names, level=level) if self._is_inside(part, level):
                    where = f"{self.name}.{part}" if level else part
                    gathered |= {each.asname or each.name: (where, each.name) for each in names}
                case _:
                    super().exec_module(module)
                    return

        def load(name: str) -> object:
            if name not in gathered:
                raise AttributeError(f"module {self.name!r} has no attribute {name!r}")
            part, inside = gathered[name]
            value: object = getattr(import_module(part), inside)
            setattr(module, name, value)
            return value

        module.__dict__["__getattr__"] = load

    def _is_inside(self, part: str, level: int) -> bool:
        return level == 1 or (level == 0 and part.startswith(f"{self.name}."))
