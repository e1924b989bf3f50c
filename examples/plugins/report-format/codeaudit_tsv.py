"""The report format `tsv`: one line of tab-separated values for each model."""

from rich.console import Console

from codeaudit.reports.records import Comparison, Summary

HEAD = ("model", "samples violated", "samples judged", "violation rate")


def render(report: Summary | Comparison, console: Console) -> None:
    """Write the models of a run. A comparison has no such table."""
    console.file.write("\t".join(HEAD) + "\n")
    for row in report.models if isinstance(report, Summary) else ():
        rate = row.violations
        share = f"{rate.count / rate.total:.4f}" if rate.total else ""
        console.file.write("\t".join((row.model, str(rate.count), str(rate.total), share)) + "\n")
