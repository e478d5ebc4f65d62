"""Quantities as people write them, and back: "4 KiB", "100 Gbit/s", "1.1 us", "1 %".

A plain number is in the SI unit: seconds, bytes, bytes per second, watts; a share is between 0 and 1. Times become
whole picoseconds and sizes whole bytes, because the simulator counts in these.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction

NUMBER_AND_UNIT = re.compile(r"\s*([+-]?[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+)\s*(\S.*?)?\s*")

PREFIXES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
TIME_UNITS = {"s": 10**12, "ms": 10**9, "us": 10**6, "µs": 10**6, "μs": 10**6, "ns": 10**3, "ps": 1}
SIZE_UNITS = {f"{prefix}B": factor for prefix, factor in {**PREFIXES, **BINARY, "K": 10**3}.items()}
RATE_UNITS = {
    **{f"{prefix}bit/s": Fraction(factor, 8) for prefix, factor in PREFIXES.items()},
    **{f"{prefix}bps": Fraction(factor, 8) for prefix, factor in PREFIXES.items() if prefix},
    **{f"{unit}/s": Fraction(factor) for unit, factor in SIZE_UNITS.items()},
}


@dataclass(frozen=True, eq=False)
class Quantity:
    """One kind of quantity: its units, each with its value in the unit the simulator counts in."""

    name: str
    units: dict[str, Fraction]
    plain: str  # the unit of a plain number
    whole: bool  # counted in whole units
    example: str

    def parse(self, value: object) -> Fraction:
        """`value` in the simulator's unit.

        Raises:
            ValueError: It is no such quantity; the text says what it must be.
        """
        must = f"must be {self.name} such as {self.example}"
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError(must)
        if not isinstance(value, str):
            return self._checked(Fraction(repr(value)) if abs(value) < float("inf") else None, self.plain, must)
        match = NUMBER_AND_UNIT.fullmatch(value)
        if match is None:
            raise ValueError(must)
        try:
            number = Fraction(Decimal(match[1].replace("_", "")))
        except InvalidOperation as error:
            raise ValueError(must) from error
        return self._checked(number, match[2] or self.plain, must)

    def _checked(self, number: Fraction | None, unit: str, must: str) -> Fraction:
        if number is None:
            raise ValueError(must)
        if unit not in self.units:
            shown = [known for known in self.units if known.isascii() and known != "KB"]
            raise ValueError(f"{must}, in {', '.join(shown)}")
        amount = number * self.units[unit]
        if self.whole and amount.denominator != 1:
            amount = Fraction(round(amount))
        return amount

    def show(self, amount: float) -> str:
        """The amount in the largest unit that shows it exactly; `parse` gives the same amount again."""
        exact = Fraction(repr(amount)) if isinstance(amount, float) else Fraction(amount)
        best = ""
        for unit, factor in self.units.items():
            text = _decimal(exact / factor)
            if text is not None and unit.isascii() and (not best or len(text) < len(best.split(maxsplit=1)[0])):
                best = f"{text} {unit}"
        return best or repr(amount)


def _decimal(value: Fraction) -> str | None:
    """A fraction without an exponent, if it is 1 or more (or 0) and has at most nine digits behind the point."""
    scaled = value * 10**9
    if scaled.denominator != 1 or (value and value < 1):
        return None
    text = f"{scaled.numerator // 10**9}.{scaled.numerator % 10**9:09}".rstrip("0").rstrip(".")
    return text


def _fractions(units: dict[str, int]) -> dict[str, Fraction]:
    return {unit: Fraction(factor) for unit, factor in units.items()}


TIME = Quantity("a time", _fractions(TIME_UNITS), "s", True, '"1.1 us"')
SIZE = Quantity("a size", _fractions(SIZE_UNITS), "B", True, '"4 KiB"')
RATE = Quantity("a rate", RATE_UNITS, "B/s", False, '"100 Gbit/s"')
SHARE = Quantity("a share", {"": Fraction(1), "%": Fraction(1, 100)}, "", False, '"1 %" or 0.01')
POWER = Quantity("a power", {"W": Fraction(1), "mW": Fraction(1, 1000)}, "W", False, '"1.5 W"')

PICOSECONDS = 1e12  # in a second
