"""Looks for model servers on this machine's own ports. It never asks a remote one."""

import contextlib
import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Thread

PORTS = {"Ollama": 11434, "LM Studio": 1234, "llama.cpp": 8080}
"""Where local servers listen unless told otherwise, by their own documentation."""
PROBE_SECONDS, MOST_BYTES = 0.5, 1_000_000


@dataclass(frozen=True, slots=True)
class Offer:
    """A model of a server that listens on this machine."""

    server: str
    base_url: str
    model: str


def find_models(ports: Mapping[str, int]) -> tuple[Offer, ...]:
    """The models of the servers that listen on these ports of 127.0.0.1, asked at the same time, half a second each."""
    found: dict[str, tuple[str, ...]] = {}
    # A server that drips for ever keeps its thread, so nobody may have to wait for the thread's end.
    threads = [Thread(target=_probe, args=(name, port, found), daemon=True) for name, port in ports.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PROBE_SECONDS)
    return tuple(
        Offer(server, f"http://127.0.0.1:{port}/v1", model)
        for server, port in ports.items() for model in found.get(server, ())
    )  # fmt: skip


def _probe(name: str, port: int, found: dict[str, tuple[str, ...]]) -> None:
    """Plain http.client: it takes no proxy from the environment and follows no redirect off this machine."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PROBE_SECONDS)
    with contextlib.closing(connection), contextlib.suppress(OSError, http.client.HTTPException, ValueError):
        connection.request("GET", "/v1/models")
        response = connection.getresponse()
        if response.status == 200:
            found[name] = models_in(response.read(MOST_BYTES))


def models_in(body: bytes) -> tuple[str, ...]:
    """The model names in a server's list; none when the body is no such list, whatever it is."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return ()
    entries = content.get("data") if isinstance(content, dict) else None
    names = [entry.get("id") for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    return tuple(dict.fromkeys(name for name in names if isinstance(name, str) and model_name(name)))


def model_name(answer: str) -> str | None:
    """The answer when it can be the name of a model, None otherwise."""
    return answer if answer.isprintable() and 0 < len(answer) <= 200 else None
