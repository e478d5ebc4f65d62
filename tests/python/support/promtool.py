"""Prometheus's own checks: scraped text as series, and expressions and rules evaluated on them without a server."""

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

Series = dict[str, list[float | None]]  # name{label="value",…}: a value for each scrape

with_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool not found; the package prometheus has it (packages/test.txt)"
)


def series_of(scrapes: Sequence[str]) -> Series:
    """What Prometheus stores of several scrapes of one target."""
    found: Series = {}
    for place, text in enumerate(scrapes):
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                labels = ", ".join(f"{name}={json.dumps(value)}" for name, value in sorted(sample.labels.items()))
                values = found.setdefault(f"{sample.name}{{{labels}}}", [None] * len(scrapes))
                values[place] = sample.value
    return found


def promtool(*words: str | Path, text: str | None = None) -> None:
    done = subprocess.run(
        ["promtool", *map(str, words)], input=text, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def check_values(
    folder: Path, series: Series, wanted: Mapping[str, float], *, rules: Path | None = None, every_s: int, at_s: int
) -> None:
    """Each expression is one value without labels, `at_s` after the first scrape; scrapes are `every_s` apart."""
    samples = [
        {"series": name, "values": " ".join("_" if value is None else repr(value) for value in values)}
        for name, values in series.items()
    ]
    asked = [
        {"expr": expression, "eval_time": f"{at_s}s", "exp_samples": [{"labels": "{}", "value": value}]}
        for expression, value in wanted.items()
    ]
    test = {
        "rule_files": [] if rules is None else [str(rules)],
        "evaluation_interval": f"{every_s}s",
        "tests": [{"interval": f"{every_s}s", "input_series": samples, "promql_expr_test": asked}],
    }
    path = folder / "expressions.yml"  # JSON is YAML
    path.write_text(json.dumps(test))
    promtool("test", "rules", path)
