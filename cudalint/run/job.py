"""One file to lint, with all that it takes: what travels to a worker."""

from __future__ import annotations

from msgspec import Struct, field

from cudalint.kinds import SHOWN_KINDS, Kinds
from cudalint.options.analysis import AnalysisOptions
from cudalint.project.settings import FileIgnores
from cudalint.project.thresholds import Thresholds
from cudalint.registry import RuleClass, Selection, all_rules, kinds_read_by, selected_rules
from cudalint.report.findings.severities import Severities


class CheckJob(Struct, frozen=True):
    """One file to lint, with all that it takes; travels to a worker."""

    path: str
    options: AnalysisOptions
    selection: Selection
    pictures: bool
    """Whether somebody will look at the pictures; without, they don't travel back."""
    thresholds: Thresholds = field(default_factory=dict)
    ignores: FileIgnores = field(default_factory=FileIgnores)
    counts_accesses: bool = False
    """Whether somebody asks how many accesses could be evaluated, even if no rule looks at them."""
    most_findings: int | None = None
    """Of more than this the worst are reported, and how many there are besides."""
    shows_kernels: bool = False
    """Whether the report shows the kernels with their figures, whatever the rules find."""
    tries_edits: bool = True
    """Whether somebody asks for edits, which are tried before anybody gets to see them."""
    severities: Severities = field(default_factory=Severities)
    min_share: float = 0.0
    """What decides which findings are shown: edits of the others are not tried."""

    def kinds(self) -> Kinds:
        """The kinds of facts that the report is made of, but for what findings cost."""
        kinds = kinds_read_by(selected_rules(self.selection))
        if self.counts_accesses:
            kinds |= {"accesses"}
        return kinds | SHOWN_KINDS if self.shows_kernels else kinds

    def kinds_of_wasteful(self) -> Kinds:
        """The kinds that are needed of kernels with findings of waste, which say what they cost."""
        is_waste = any(rule.is_waste for rule in selected_rules(self.selection))
        return self.kinds() | {"costs"} if is_waste else self.kinds()

    def rules_of_proofs(self) -> list[RuleClass]:
        """The rules of which no edit may bring a finding, whether the user wants to hear of it or not."""
        return [rule for rule in all_rules() if rule.on_by_default or self.selection.wants(rule)]

    def kinds_of_proofs(self) -> Kinds:
        return kinds_read_by(self.rules_of_proofs())
