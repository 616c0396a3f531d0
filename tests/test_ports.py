"""What an adapter or a model can do beyond its duty is asked as isinstance asks it, only faster."""

import inspect

from hypothesis import given
from hypothesis import strategies as st

from bot.core import ports
from bot.core.ports import implements

PROTOCOLS = [
    protocol
    for _, protocol in inspect.getmembers(ports, inspect.isclass)
    if getattr(protocol, "_is_runtime_protocol", False)
]
NAMES = sorted(
    {name for protocol in PROTOCOLS for name in dir(protocol) if not name.startswith("_")}
    | {name for protocol in PROTOCOLS for name in protocol.__annotations__}
)
VALUES = [0, "", len]
ON_CLASS = st.dictionaries(st.sampled_from(NAMES), st.sampled_from([*VALUES, None, property(lambda self: 1)]))
ON_INSTANCE = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(VALUES))


def test_every_protocol_that_is_asked_for_is_found() -> None:
    assert {"Edits", "Drafts", "Typing", "Splits", "Streams"} <= {one.__name__ for one in PROTOCOLS}


@given(on_class=ON_CLASS, on_instance=ON_INSTANCE)
def test_it_says_what_isinstance_says(on_class: dict[str, object], on_instance: dict[str, object]) -> None:
    one = type("One", (), on_class)()
    own = {name: value for name, value in on_instance.items() if not isinstance(on_class.get(name), property)}
    for name, value in own.items():
        setattr(one, name, value)
    for protocol in PROTOCOLS:
        assert implements(one, protocol) == isinstance(one, protocol), protocol.__name__


def test_nobody_offers_nothing() -> None:
    assert not any(implements(None, protocol) for protocol in PROTOCOLS)
