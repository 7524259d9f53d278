"""What it means: engagements, reviews and their revisions, evidence, next steps, published snapshots."""

from scorecards.models.engagements import Engagement
from scorecards.models.evidence import EvidenceItem, EvidenceLink, Grade, Shows, SourceType, Stance
from scorecards.models.publishing import FactCheck, Remark, RemarkState, Report, ReportState, Snapshot, SnapshotKind
from scorecards.models.reviews import (
    Cause,
    Confidence,
    DimensionScore,
    PracticeMark,
    PracticeState,
    Recommendation,
    Review,
    Revision,
    RevisionState,
    RubricVersion,
    ScoreStanding,
)
from scorecards.models.steps import Effort, NextStep, Priority, Severity, StepInRevision, StepState

__all__ = [
    "Cause",
    "Confidence",
    "DimensionScore",
    "Effort",
    "Engagement",
    "EvidenceItem",
    "EvidenceLink",
    "FactCheck",
    "Grade",
    "NextStep",
    "PracticeMark",
    "PracticeState",
    "Priority",
    "Recommendation",
    "Remark",
    "RemarkState",
    "Report",
    "ReportState",
    "Review",
    "Revision",
    "RevisionState",
    "RubricVersion",
    "ScoreStanding",
    "Severity",
    "Shows",
    "Snapshot",
    "SnapshotKind",
    "SourceType",
    "Stance",
    "StepInRevision",
    "StepState",
]
