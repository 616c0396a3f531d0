"""What a recall would bring, as a table with the modes side by side, and how each came to it. Pure."""

from collections import Counter
from collections.abc import Callable
from itertools import zip_longest

from rich.cells import cell_len, set_cell_size

from bot.types.recall import Scored, Trace

COLUMN = 34
"""Cells of one mode in the table."""

TRACED = 12
"""Candidates of a mode that are shown one by one (seed Recall, scoredTop)."""

TEXT = 60
"""Cells of a memory's text in the trace."""


def recall_report(traces: tuple[Trace, ...], configured: str, text: Callable[..., str]) -> str:
    """One column a mode, best first: number, figure and the beginning of the text; * marks the configured one."""
    heads = [f"{trace.mode}{'*' if trace.mode == configured else ''}" for trace in traces]
    cells = [[_cell(one) for one in trace.chosen] or [text("recalled_none")] for trace in traces]
    rows = [_row("", heads), *(_row(str(place), row) for place, row in enumerate(zip_longest(*cells, fillvalue=""), 1))]
    missing = [text(f"recalled_missing_{trace.missing}") for trace in traces if trace.missing]
    return "\n".join((text("recalled"), *rows, *missing))


def trace_report(trace: Trace, text: Callable[..., str]) -> str:
    """The terms, the cut-offs, the best candidates with what their figure is made of, and why the others were left."""
    limits = "  ".join(f"{name} {figure:g}" for name, figure in trace.thresholds)
    lines = [
        text("recalled_trace", mode=trace.mode, n=len(trace.scored), chosen=len(trace.chosen)),
        text("recalled_terms", n=len(trace.terms), terms=" ".join(trace.terms) or "–"),
        text("recalled_limits", limits=limits or "–"),
    ]
    near = [dict(one.parts) for one in trace.scored if "dense" in dict(one.parts)]
    if near:
        alone, best = sum("sparse" not in parts for parts in near), max(parts["cosine"] for parts in near)
        lines.append(text("recalled_dense", n=len(near), alone=alone, best=f"{best:.2f}"))
    for one in trace.scored[:TRACED]:
        parts = "  ".join(f"{name} {figure:.4g}" for name, figure in one.parts)
        why = text(f"recalled_cut_{one.cut}") if one.cut else "✓"
        lines.append(f"  {ref_of(one)} {one.score:.4f} [{why}] {parts}  {_clipped(one.finding.text, TEXT)}".rstrip())
    rest = Counter(one.cut for one in trace.scored[TRACED:])
    if rest:
        told = ", ".join(f"{text(f'recalled_cut_{cut}') if cut else '✓'} {n}" for cut, n in sorted(rest.items()))
        lines.append(text("recalled_rest", n=rest.total(), rest=told))
    return "\n".join(lines)


def _cell(one: Scored) -> str:
    return f"{ref_of(one)} {one.score:.4f} {' '.join(one.finding.text.split())}"


def ref_of(one: Scored) -> str:
    """As the model takes it: #12 is a memory, @345 a line; the others say what they are."""
    mark = {"memory": "#", "line": "@"}.get(one.finding.kind, f"{one.finding.kind} ")
    return f"{mark}{one.finding.ref}"


def _row(place: str, cells: list[str] | tuple[str, ...]) -> str:
    return (f"{place:>2}  " + "  ".join(set_cell_size(cell, COLUMN) for cell in cells)).rstrip()


def _clipped(text: str, cells: int) -> str:
    line = " ".join(text.split())
    return line if cell_len(line) <= cells else set_cell_size(line, cells - 1).rstrip() + "…"
