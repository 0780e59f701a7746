"""What is asked of the server: the options of the command line, read anew for each analysis, since the configurations
that they come on top of may change at any time."""

from __future__ import annotations

from msgspec import Struct

from cudalint.project.settings import Settings
from cudalint.report.findings.results import CheckResult
from cudalint.report.findings.sources import SourceLines
from cudalint.run.api.configuration import Configuration
from cudalint.run.api.run_settings import Given, run_settings
from cudalint.run.api.sieve import Sieve
from cudalint.run.limits import Limits


class Wishes(Struct, frozen=True):
    configuration: Configuration
    limits: Limits
    most_findings: int = 1000
    """Of a file, the worst so many."""

    def settings(self) -> Settings:
        """Raises ConfigError for a named configuration that can't be used."""
        return self.configuration.settings()

    def sieved(self, result: CheckResult, path: str, settings: Settings, sources: SourceLines) -> CheckResult:
        """What the baseline of the configuration doesn't know."""
        baseline = run_settings(Given(), settings, [path]).baseline
        return Sieve(baseline, None, None, [path]).applied_to(result, sources)
