"""A table of cases as one test: pytest takes longer to count, hand out and report a case than reading a text takes."""

from collections.abc import Callable, Iterable
from typing import Any


def all_cases(
    names: str | tuple[str, ...], cases: Iterable[Any]
) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """As `pytest.mark.parametrize`, for a test without fixtures; it fails with every case that fails, and names them."""
    kept = [{names: case} if isinstance(names, str) else dict(zip(names, case, strict=True)) for case in cases]

    def decorate(test: Callable[..., None]) -> Callable[[], None]:
        def tried() -> None:
            failed = []
            for case in kept:
                try:
                    test(**case)
                except Exception as error:
                    error.add_note(f"case: {case}")
                    failed.append(error)
            if failed:
                raise ExceptionGroup(f"{len(failed)} of {len(kept)} cases", failed)

        tried.__module__, tried.__name__, tried.__doc__ = test.__module__, test.__name__, test.__doc__
        return tried

    return decorate
