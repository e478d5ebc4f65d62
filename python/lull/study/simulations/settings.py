"""The settings of links by which points differ: their names, their order, and the rows of each."""

from __future__ import annotations

from collections.abc import Sequence

from lull.study.simulations.rows import Row


def setting_of(row: Row) -> str:
    """Mode and hold in words."""
    hold = str(row.factors["hold"])
    return f"{row.factors['mode']}, hold {hold}" if hold else str(row.factors["mode"])


def values_of(rows: Sequence[Row], name: str) -> list[float]:
    """The values of a quantity in percent; for power, one per point."""
    if name == "saved":
        return [100 * value for value in {row.point: row.saved for row in rows}.values()]
    return [100 * row.slowdown for row in rows if row.slowdown is not None]


def mappings_of(rows: Sequence[Row]) -> list[str]:
    """The mappings, in the order of their first rows."""
    return list(dict.fromkeys(str(row.factors["mapping"]) for row in rows))


def settings_of(rows: Sequence[Row]) -> list[str]:
    """Modes in the order of their first rows, with their holds in order, even if the first points lack some holds."""
    found = list(dict.fromkeys(setting_of(row) for row in rows))
    modes = list(dict.fromkeys(setting.partition(", hold ")[0] for setting in found))

    def place(setting: str) -> tuple[int, float]:
        mode, _, hold = setting.partition(", hold ")
        number = hold.partition(" ")[0]
        return modes.index(mode), float(number) if number.isdigit() else 0.0

    return sorted(found, key=place)


def rows_at(rows: Sequence[Row], mapping: str, setting: str) -> list[Row]:
    """The rows with this mapping and setting."""
    return [row for row in rows if row.factors["mapping"] == mapping and setting_of(row) == setting]


def short(setting: str) -> str:
    """`DS 1 Ts` for `deep-sleep, hold 1 Ts`."""
    mode, _, hold = setting.partition(", hold ")
    initials = "".join(word[0] for word in mode.split("-")).upper() if "-" in mode and " " not in mode else mode
    return f"{initials} {hold}".strip()
