"""A reader of Prometheus's text format, and of the metrics' names that the Grafana board and the alert rules ask
for."""

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
    """Return the names of the metrics that the text has, with samples or without."""
    return {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE ")}


def samples_of(text: str, name: str) -> dict[str, float]:
    """Return a metric's samples by their labels. Every line of the text must have the format."""
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
    """Return the name of every metric with this prefix that the board or the rules ask for."""
    asked = re.findall(r"^\s+expr: (.+)$", RULES.read_text("utf-8"), re.MULTILINE)
    asked += [target["expr"] for panel in json.loads(BOARD.read_text("utf-8"))["panels"] for target in panel["targets"]]
    return {name for expression in asked for name in _NAME.findall(expression) if name.startswith(prefix)}
