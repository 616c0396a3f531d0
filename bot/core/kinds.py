"""Closed sets of words that commands offer, too. Nothing else is here: a command line loads what it names at once."""

from typing import Literal

MemoryKind = Literal["identity", "emotion", "knowledge", "event", "experience", "anniversary"]
ExportFormat = Literal["md", "jsonl", "both"]
RepairPart = Literal["namespaces", "sections", "text-index", "vectors"]
