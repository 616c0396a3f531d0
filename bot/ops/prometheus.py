"""The figures for Prometheus and their labels: no person or chat, and only so many values of each."""

import re
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from bot.core.inspection import HealthSnapshot, PaidCall
from bot.ops.health import PARTS

OTHER = "other"
FIELDS = ("fault", "error.type", "limit", "fate", "platform", "cause", "why")
"""Where the cause of a line stands, the surest first."""

_KIND = re.compile(r"[A-Z][A-Za-z]{2,39}", re.ASCII)
_TOLD = re.compile(r"([A-Z][A-Za-z]{0,34}(?:Error|Exception)): ", re.ASCII)
"""The kind of an exception before what it said."""

_WORD = re.compile(r"[A-Za-z][A-Za-z_]{0,39}(?: [a-z_]{1,40}){0,2}", re.ASCII)

TOKENS = tuple(4**power for power in range(14))
SECONDS = tuple(0.01 * 2**power for power in range(14))
"""Bounds of the histograms, as the OpenTelemetry conventions for generative AI want them."""

MODEL = ("gen_ai_operation_name", "gen_ai_provider_name", "gen_ai_request_model")
MOST_MODELS, MOST_CAUSES = 32, 200
DELIVERIES = ("pending", "sending", "unknown", "failed")


def cause_of(fields: Mapping[str, object]) -> str:
    """The cause of a warning or an error: a fault, the kind of an exception; "other" for what only a text says."""
    match fields.get("exc_info"):
        case BaseException() as error:
            return type(error).__name__
        case (_, BaseException() as raised, _):
            return type(raised).__name__
    logger = fields.get("logger")
    if isinstance(logger, str):
        return logger.split(".")[0][:40] or OTHER
    said = (fields.get(name) for name in FIELDS)
    known = next((value for value in said if isinstance(value, str) and _WORD.fullmatch(value)), "")
    what = fields.get("error")
    kind = what if isinstance(what, str) else ""
    kind = told[1] if (told := _TOLD.match(kind)) is not None else kind
    return known or (kind if _KIND.fullmatch(kind) else OTHER)


class BoundedLabels:
    """Lets so many different labels through, and calls all others the same."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: set[tuple[str, ...]] = set()

    def one_of(self, labels: tuple[str, ...]) -> tuple[str, ...]:
        """The labels, or "other" for each when there are too many by now."""
        if labels not in self._known:
            if len(self._known) >= self._most:
                return (OTHER,) * len(labels)
            self._known.add(labels)
        return labels


class Metrics:
    """Counts since the start of this process, and what stands when somebody looks."""

    def __init__(self, currency: str) -> None:
        self._registry = registry = CollectorRegistry()
        self._currency = currency
        self._models, self._errors = BoundedLabels(MOST_MODELS), BoundedLabels(MOST_CAUSES)
        counter, histogram = partial(Counter, registry=registry), partial(Histogram, registry=registry)
        gauge = partial(Gauge, registry=registry)
        self._turns = counter("nuan_turns", "Turns by how they ended and why they were taken.", ("outcome", "why"))
        self._turn_s = histogram("nuan_turn_duration_seconds", "From the message to the answer.", buckets=SECONDS)
        tokens, took = "Tokens of a model call.", "A model call from its reservation to its settlement."
        self._usage = histogram("gen_ai_client_token_usage", tokens, (*MODEL, "gen_ai_token_type"), buckets=TOKENS)
        self._took = histogram("gen_ai_client_operation_duration_seconds", took, MODEL, buckets=SECONDS)
        self._calls = counter("nuan_model_calls", "Model calls by cause and end.", ("cause", "state"))
        self._cost = counter("nuan_cost", "Money for model calls.", ("gen_ai_request_model", "cause", "currency"))
        cached, hits = (
            "Input tokens from the provider's cache.",
            "Model calls of which a part came from the provider's cache.",
        )
        self._cached = counter("nuan_cache_read_tokens", cached, ("gen_ai_request_model",))
        self._hits = counter("nuan_cache_hits", hits, ("gen_ai_request_model",))
        self._wrong = counter("nuan_errors", "Warnings and errors of the log, by event and cause.", ("event", "cause"))
        self._queues = gauge("nuan_queue_depth", "What is under way or waits, by queue.", ("queue",))
        self._deliveries = gauge("nuan_deliveries", "Messages in the outbox that are not sent.", ("state",))
        age = "Since a platform answered last; NaN: not connected."
        self._age = gauge("nuan_platform_last_poll_age_seconds", age, ("platform",))
        lag = (
            "For how long the oldest of what waits to be answered, sent or reminded of has been due, of all processes."
        )
        self._lags = gauge("nuan_queue_lag_seconds", lag, ("queue",))
        self._roles = gauge("nuan_role", "1 for what this process does.", ("role",))
        self._chats = gauge("nuan_chats_held", "Chats that this process works in, of those that several share.")
        self._leases = gauge("nuan_lease_held", "1 for what this process alone does.", ("lease",))
        self._healthy = gauge("nuan_healthy", "1 when this part works.", ("part",))

    def saw(self, level: str, event: str, fields: Mapping[str, object]) -> None:
        """A line of the log was said."""
        if event == "turn":
            self._turns.labels(str(fields.get("outcome")), str(fields.get("why"))).inc()
            took = fields.get("ms")
            if isinstance(took, int):
                self._turn_s.observe(took / 1000)
        if level in ("warning", "error"):
            self._wrong.labels(*self._errors.one_of((event, cause_of(fields)))).inc()

    def paid(self, calls: Iterable[PaidCall], providers: Mapping[str, str]) -> None:
        """These calls have ended."""
        for call in calls:
            self._calls.labels(call.cause, call.state).inc()
            (model,) = self._models.one_of((call.model,))
            self._cost.labels(model, call.cause, self._currency).inc(max(call.cost, 0.0))
            if call.state != "settled":
                continue
            operation = "embeddings" if call.cause == "embedding" else "chat"
            named = (operation, providers.get(call.model, ""), model)
            self._usage.labels(*named, "input").observe(call.prompt_tokens)
            self._usage.labels(*named, "output").observe(call.output_tokens)
            self._took.labels(*named).observe(max(call.ms or 0, 0) / 1000)
            self._cached.labels(model).inc(call.cached_tokens)
            self._hits.labels(model).inc(call.cached_tokens > 0)

    def page(self, now: HealthSnapshot) -> tuple[bytes, str]:
        """Everything in the text form that Prometheus reads, and its content type."""
        _set(self._queues, now.queues)
        _set(self._deliveries, {state: now.deliveries.get(state, 0) for state in DELIVERIES})
        _set(self._age, {name: float("nan") if ms is None else ms / 1000 for name, ms in now.silent.items()})
        _set(self._lags, {queue: ms / 1000 for queue, ms in now.lags.items()})
        _set(self._roles, dict.fromkeys(now.roles, 1))
        _set(self._leases, dict.fromkeys(now.leases, 1))
        self._chats.set(now.chats)
        ailing = {each.part for each in now.ailments}
        _set(self._healthy, {part: int(part not in ailing) for part in PARTS})
        return generate_latest(self._registry), CONTENT_TYPE_LATEST


def _set(gauge: Any, values: Mapping[str, float]) -> None:
    gauge.clear()
    for label, value in values.items():
        gauge.labels(label).set(value)
