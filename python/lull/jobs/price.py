"""What energy costs, in money and greenhouse gases: only from figures of the site that name their source."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from lull.jobs.rows import Name
from lull.statistics.formatting import three_digits

JOULES_PER_KWH: Final = 3.6e6

Rate = Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)]


class Price(BaseModel):
    """The price of electrical energy."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    per_kwh: Rate  # price of a kilowatt-hour, in `currency`
    currency: Name  # the currency
    source: Name  # where the price comes from


class Carbon(BaseModel):
    """The greenhouse gases that electrical energy causes, in g CO2e."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    g_per_kwh: Rate  # grams of CO2e of a kilowatt-hour
    source: Name  # where the figure comes from


class Prices(BaseModel):
    """Both, where the site has them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    price: Price | None = None  # null: the site names none
    carbon: Carbon | None = None  # null: the site names none

    def headings(self) -> list[str]:
        """The columns of a table."""
        return ["cost"] * (self.price is not None) + ["CO2e"] * (self.carbon is not None)

    def cells(self, joules: float | None) -> list[str]:
        """The columns for this energy; – if it is unknown."""
        if joules is None:
            return ["–" for _ in self.headings()]
        cells = []
        if self.price is not None:
            cells.append(f"{money(joules / JOULES_PER_KWH * self.price.per_kwh)} {self.price.currency}")
        if self.carbon is not None:
            cells.append(grams(joules / JOULES_PER_KWH * self.carbon.g_per_kwh))
        return cells

    def notes(self) -> list[str]:
        """Where the figures come from, one line each."""
        lines = []
        if self.price is not None:
            lines.append(f"cost at {self.price.per_kwh:g} {self.price.currency}/kWh: {self.price.source}")
        if self.carbon is not None:
            lines.append(f"CO2e at {self.carbon.g_per_kwh:g} g/kWh: {self.carbon.source}")
        return lines


def money(amount: float) -> str:
    """An amount with two decimals."""
    return "< 0.01" if 0 < amount < 0.005 else f"{amount:.2f}"


def grams(amount: float) -> str:
    """A mass in g, kg or t."""
    for limit, unit in ((1e6, "t"), (1e3, "kg")):
        if amount >= limit:
            return f"{three_digits(amount / limit)} {unit}"
    return f"{three_digits(amount)} g"
