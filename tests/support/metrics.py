"""A reader of Prometheus's text format. It also reads the names of the metrics that the Grafana board and the alert
rules use."""

from __future__ import annotations

import json
import re
from pathlib import Path

CONFIG = Path(__file__).resolve().parents[2] / "config"
RULES = CONFIG / "prometheus" / "rules.yml"
BOARD = CONFIG / "grafana" / "table-controller.json"
_NAME = re.compile(r"\b(?:pit|table)_[a-z0-9_]+\b")
_SAMPLE = re.compile(r"([a-z0-9_]+)(\{.*\})? (\S+)")


def told_names(text: str) -> set[str]:
    """Return the names of the metrics that the text declares, whether they have samples or not."""
    return {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE ")}


def samples_of(text: str, name: str) -> dict[str, float]:
    """Return a metric's samples by their labels. Raises AssertionError if a line of the text breaks Prometheus's
    format."""
    samples: dict[str, float] = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        found = _SAMPLE.fullmatch(line)
        assert found is not None, line
        if found[1] == name:
            samples[found[2] or ""] = float(found[3])
    return samples


def asked_names(prefix: str) -> set[str]:
    """Return the names of the metrics with this prefix that the Grafana board or the alert rules use."""
    asked = re.findall(r"^\s+expr: (.+)$", RULES.read_text("utf-8"), re.MULTILINE)
    asked += [target["expr"] for panel in json.loads(BOARD.read_text("utf-8"))["panels"] for target in panel["targets"]]
    return {name for expression in asked for name in _NAME.findall(expression) if name.startswith(prefix)}
