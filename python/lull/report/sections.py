"""The sections of a report, in the order of the page: a new section is a function in its own file, and a row here."""

from __future__ import annotations

from typing import Final

from lull.report.choices import choices
from lull.report.comparisons import ratios, summary
from lull.report.energy import domains, power
from lull.report.how_measured import how_measured
from lull.report.output import output
from lull.report.runs import nodes, runs
from lull.report.scaling import scaling_section
from lull.report.section import Section
from lull.report.supplied import bars, claims, curves, impacts, traces
from lull.report.waiting import waiting
from lull.report.words import words

SECTIONS: Final = (
    Section("summary", "Summary", summary, "summary.html.j2"),
    Section("ratios", "Comparisons", ratios, "ratios.html.j2"),
    Section("curves", "Curves", curves),
    Section("impacts", "Impact", impacts),
    Section("bars", "Energy end to end", bars),
    Section("claims", "Published results and ours", claims, "claims.html.j2", link="Published figures"),
    Section("runs", "Every run", runs, "runs.html.j2", link="Runs"),
    Section("nodes", "By node", nodes),
    Section("domains", "Where the energy went", domains),
    Section("scaling", "Scaling", scaling_section),
    Section("traces", "Traces", traces),
    Section("waiting", "Cost of waiting", waiting),
    Section("output", "Cost of output", output),
    Section("choices", "Choices of the runtime", choices),
    Section("power", "Power over time", power, "power.html.j2"),
    Section("made", "How it was measured", how_measured, "made.html.j2"),
    Section("words", "Words", words, "words.html.j2"),
)
