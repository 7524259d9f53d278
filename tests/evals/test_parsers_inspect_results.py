"""What an Inspect log says of itself, beside what its samples hold."""

import pytest

from evals.records import Session
from tests.evals.artifact_reading import attempts
from tests.evals.inspect_logs import SAMPLE, log, read


@pytest.mark.parametrize("results", [None, {"total_samples": 0, "completed_samples": 0}])
def test_success_without_samples_is_not_complete(results):
    run, end = read(log(results=results, eval={"dataset": {"sample_ids": ["a", "b"]}}))
    assert run.planned == (0 if results else 2)
    assert end.session is Session.UNFINISHED
    assert end.session_reason == "no_samples: the log says success, and holds no samples"


@pytest.mark.parametrize(
    ("dataset", "config", "planned"),
    [
        ({"sample_ids": ["a", "b"], "samples": 9}, {"epochs": 2}, 4),
        ({"samples": 3}, {"epochs": 2}, 6),
        ({"samples": 3}, {"limit": 2}, None),
        ({"samples": 3}, {"sample_id": "a"}, None),
        ({}, {}, None),
    ],
)
def test_without_results_the_data_set_tells_how_many_were_planned(dataset, config, planned):
    run, *_, end = read(log(SAMPLE, results=None, eval={"dataset": dataset, "config": config}))
    assert (run.planned, run.session, end.session) == (planned, Session.COMPLETE, None)
    missing = [note for note in end.notes if note.startswith("The log plans")]
    assert missing == (
        [f"The log plans {planned} samples (its data set × epochs) and holds 1."] if planned is not None else []
    )


SCORED = {"name": "includes", "scorer": "includes", "scored_samples": 1, "unscored_samples": 0}


@pytest.mark.parametrize(
    ("told", "value", "note"),
    [
        (SCORED, "C", None),
        (SCORED | {"scored_samples": 0, "unscored_samples": 1}, float("nan"), None),
        ({"name": "includes", "scorer": "includes"}, "C", None),  # older logs do not count
        (SCORED | {"name": "security"}, {"security": 1, "cost": 0.2}, None),
        (SCORED | {"name": "*", "scored_samples": 0, "unscored_samples": 1}, float("nan"), None),
        (SCORED | {"scored_samples": 2}, "C", (2, 0, "includes", 1, 0)),
        (SCORED, float("nan"), (1, 0, "includes", 0, 1)),
        (SCORED | {"scorer": "match", "name": "match"}, "C", (1, 0, "match", 0, 0)),
        (SCORED | {"name": "security", "unscored_samples": 3}, {"security": 1}, (1, 3, "includes.security", 1, 0)),
    ],
)
def test_what_inspect_counts_by_scorer_is_compared(told, value, note):
    sample = SAMPLE | {"scores": {"includes": {"value": value}}}
    results = {"total_samples": 1, "completed_samples": 1, "scores": [told]}
    found = [n for n in read(log(sample, results=results))[-1].notes if n.startswith("Inspect says")]
    expected = "Inspect says {} samples scored and {} unscored by {}; the samples give {} and {}."
    assert found == ([expected.format(*note)] if note else [])


def test_epochs_and_reducers_are_counted_once():
    results = {
        "total_samples": 2,
        "completed_samples": 2,
        "scores": [SCORED | {"reducer": "mean"}, SCORED | {"reducer": "max"}],
    }
    run, *_, end = read(log(SAMPLE, SAMPLE | {"epoch": 2}, results=results))
    assert run.reported_totals == {"total_samples": 2, "completed_samples": 2, "scored_samples of includes": 1}
    assert end.notes == ()


def test_of_many_scorers_the_first_are_told():
    scores = [SCORED | {"name": f"s{n}", "scorer": f"s{n}"} for n in range(200)]
    results = {"total_samples": 1, "completed_samples": 1, "scores": scores}
    run, *_, end = read(log(SAMPLE, results=results))
    assert len(run.reported_totals) == 52
    assert "190 more scorers counted otherwise by Inspect than here." in end.notes
    assert "Of 200 scorers’ own totals the first 50 are kept." in end.notes
    assert len(end.notes) == 12


def test_parameters_of_a_scorer_may_stand_in_the_results_alone():
    def evaluator(scorers, params):
        results = {"total_samples": 1, "completed_samples": 1, "scores": [SCORED | {"params": params}]}
        spec = {"scorers": scorers} if scorers is not None else {}
        return attempts(read(log(SAMPLE, results=results, eval=spec)))[0].evaluations[0].evaluator

    options = {"ignore_case": False}
    in_head = evaluator([{"name": "includes", "options": options}], {})
    assert in_head == evaluator(None, options) == evaluator([{"name": "includes"}], options)
    assert in_head != evaluator(None, {"ignore_case": True})
    assert in_head == evaluator([{"name": "includes", "options": options}], {"ignore_case": True})
