"""A record as a terminal shows it."""

from typing import Any

from frame.record import tables
from frame.result import Table


def as_text(record: dict[str, Any]) -> str:
    seconds = record["seconds"]["cpu"]
    parts = [
        f"{record['name']}: {record['title']} ({record['paper']}, {record['place']})",
        f"Data: {record['data']}",
        *(aligned(table) for table in tables(record)),
        *(f"[{'holds' if c['holds'] else 'MISSED'}] {c['says']}\n    {c['found']}" for c in record["claims"]),
        *record["remarks"],
        f"{seconds:.1f} seconds of one processor, {record['size']} size.",
    ]
    return "\n".join(parts) + "\n"


def aligned(table: Table) -> str:
    """The table with its columns lined up, the first to the left."""
    rows = [list(table.columns), *table.words()]
    widths = [max(len(row[k]) for row in rows) for k in range(len(table.columns))]
    lines = [
        "  ".join(
            c.ljust(w) if k == 0 else c.rjust(w) for k, (c, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    return "\n".join([f"\n{table.caption}", *(line.rstrip() for line in lines), ""])
