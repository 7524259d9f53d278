"""What happened: agents, artifacts, imports, runs and their results."""

from evals.models.agents import Agent, Definition, Indicator, ReasonCode, RiskTier
from evals.models.classes import ClassMapping, TaxonomyChoice, TaxonomyVersion
from evals.models.imports import Artifact, Import, ImportState, Phase
from evals.models.results import Attempt, AttemptDetail, ClassResult, Evaluation, EvaluationDetail, Step
from evals.models.runs import Intake, MadeBy, Run, RunArtifact, RunKind, RunScenario, Scenario, Visibility

__all__ = [
    "Agent",
    "Artifact",
    "Attempt",
    "AttemptDetail",
    "ClassMapping",
    "ClassResult",
    "Definition",
    "Evaluation",
    "EvaluationDetail",
    "Import",
    "ImportState",
    "Indicator",
    "Intake",
    "MadeBy",
    "Phase",
    "ReasonCode",
    "RiskTier",
    "Run",
    "RunArtifact",
    "RunKind",
    "RunScenario",
    "Scenario",
    "Step",
    "TaxonomyChoice",
    "TaxonomyVersion",
    "Visibility",
]
