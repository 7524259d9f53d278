from fractions import Fraction

import pytest
from jsonschema import Draft202012Validator

from evals.strict_yaml import DocumentRefused
from scorecards.rubric import (
    SHIPPED,
    Carried,
    RubricStatus,
    Shows,
    carry_dimensions,
    parse_rubric,
    rubric_schema,
    shipped_rubric,
)

MINIMAL = """\
schema: rubric/v1
id: ours
version: 1.0.0
status: draft
title: Ours
bar: {each_dimension_at_least: 3, by_tier: {high: 4}}
dimensions:
  - id: coverage
    title: Coverage
    weight: 60
    question: Is it covered?
    states: {0: No, 1: By hand, 2: In part}
    practices:
      3: [{id: cases, text: There are cases., shows: design}]
      4: [{id: automated, text: They ran., shows: operation}]
      5: [{id: learned, text: They grew., shows: operation}]
    suggest:
      - {rule: share, text: Share, level_if: {1: 3, 0.5: 2}}
      - {rule: unknown, text: Unknown, above: 0.10, cap: 2}
    next_steps:
      - {id: write-cases, from_level: 2, text: Write cases., effort: M}
  - id: guards
    title: Guards
    weight: 40
    question: Is it guarded?
    states: {0: No, 1: One, 2: Some}
    practices:
      3: [{id: rules, text: There are rules., shows: design}]
      4: [{id: proven, text: They held., shows: operation}]
      5: [{id: attacked, text: They were attacked., shows: operation}]
"""


def refusal(text: str) -> list[str]:
    with pytest.raises(DocumentRefused) as refused:
        parse_rubric(text.encode())
    return str(refused.value).splitlines()


def edited(**replacements):
    text = MINIMAL
    for old, new in replacements.values():
        assert old in text
        text = text.replace(old, new)
    return parse_rubric(text.encode())


def test_the_shipped_rubric_has_eight_weighted_dimensions():
    assert [(dimension.id, dimension.weight) for dimension in shipped_rubric().dimensions] == [
        ("eval_coverage", 20),
        ("regression_detection", 15),
        ("guardrails", 15),
        ("observability", 10),
        ("human_control", 10),
        ("recovery", 10),
        ("cost_latency", 10),
        ("governance", 10),
    ]


def test_the_shipped_rubric_is_published_with_a_bar_of_three():
    rubric = shipped_rubric()

    assert rubric.name == "agent-reliability-default@1.0.0"
    assert rubric.status is RubricStatus.PUBLISHED
    assert rubric.bar_for() == rubric.bar_for("high") == 3
    assert len(rubric.level_words) == 6


def test_each_shipped_dimension_is_complete():
    for dimension in shipped_rubric().dimensions:
        assert {practice.level for practice in dimension.practices} == {3, 4, 5}
        assert dimension.suggest
        assert dimension.next_steps_at(2)


def test_a_shipped_suggestion_never_exceeds_level_four():
    rules = [rule for dimension in shipped_rubric().dimensions for rule in dimension.suggest]
    levels = [level for rule in rules for _, level in rule.level_if]

    assert max([*levels, *(rule.level or 0 for rule in rules), *(rule.cap or 0 for rule in rules)]) == 4


def test_what_is_done_needs_operation():
    shows = {practice.id: practice.shows for d in shipped_rubric().dimensions for practice in d.practices}

    assert shows["flows-have-cases"] is Shows.DESIGN
    assert shows["unknown-at-most-10"] is Shows.OPERATION
    assert shows["stop-drill"] is Shows.OPERATION
    assert shows["owner-named"] is Shows.DESIGN


def test_the_published_schema_is_a_schema():
    Draft202012Validator.check_schema(rubric_schema())

    assert rubric_schema()["properties"]["schema"] == {"const": "rubric/v1"}


def test_a_rubric_is_read_into_plain_values():
    rubric = parse_rubric(MINIMAL.encode())
    coverage = rubric.find("coverage")

    assert coverage.states == ("No", "By hand", "In part")
    assert [practice.id for practice in coverage.practices_up_to(4)] == ["cases", "automated"]
    assert [practice.id for practice in coverage.practices_at(5)] == ["learned"]
    assert rubric.find("nothing") is None


def test_shares_of_rules_are_exact_and_ascending():
    share, unknown = parse_rubric(MINIMAL.encode()).find("coverage").suggest

    assert share.level_if == ((Fraction(1, 2), 2), (Fraction(1), 3))
    assert (unknown.above, unknown.cap) == (Fraction(1, 10), 2)


def test_next_steps_are_offered_at_their_level_and_below():
    coverage = parse_rubric(MINIMAL.encode()).find("coverage")

    assert [step.id for step in coverage.next_steps_at(0)] == ["write-cases"]
    assert coverage.next_steps_at(3) == ()


def test_a_tier_may_have_its_own_bar():
    rubric = parse_rubric(MINIMAL.encode())

    assert (rubric.bar_for("high"), rubric.bar_for("low")) == (4, 3)


def test_the_digest_is_of_the_content_and_not_of_its_line_ends():
    content = SHIPPED.read_bytes()

    assert parse_rubric(content.replace(b"\n", b"\r\n")).sha256 == shipped_rubric().sha256
    assert parse_rubric(content + b"# a remark\n").sha256 != shipped_rubric().sha256


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("weight: 60", "weight: 50", "/dimensions: the weights sum to 90, not to 100"),
        ("weight: 60", "weight: 60.5", "line 10, /dimensions/0/weight: 60.5 is not of type 'integer'"),
        ("id: guards", "id: coverage", "/dimensions/0/id: the id 'coverage' occurs 2 times"),
        ("id: rules", "id: cases", "/dimensions/0/practices/3/0/id: the id 'cases' occurs 2 times"),
        ("    weight: 40\n", "", "line 22, /dimensions/1: 'weight' is a required property"),
        ("title: Ours", "titel: Ours", "line 5, /titel: is not a member known here"),
        ("cap: 2", "cap: 5", "line 19, /dimensions/0/suggest/1/cap: 5 is greater than the maximum of 4"),
        ("0.5: 2", "1.5: 2", "line 18, /dimensions/0/suggest/0/level_if/1.5: is not a member known here"),
        (", level_if: {1: 3, 0.5: 2}", "", "/dimensions/0/suggest/0: a rule needs level_if, level or cap"),
        ("from_level: 2", "from_level: 6", "6 is greater than the maximum of 5"),
        ("version: 1.0.0", "version: 1.0", "line 3, /version: 1.0 is not of type 'string'"),
        ("schema: rubric/v1", "schema: rubric/v2", "line 1, /schema: 'rubric/v1' was expected"),
        (
            "each_dimension_at_least: 3",
            "each_dimension_at_least: 3, at_most: 5",
            "line 6, /bar/at_most: is not a member known here",
        ),
        ("      5: [{id: attacked, text: They were attacked., shows: operation}]\n", "", "'5' is a required property"),
        ("2: In part}", "2: In part, 2: Twice}", "line 12: the key '2' occurs twice"),
    ],
)
def test_a_faulty_rubric_is_refused_by_place(old, new, message):
    assert old in MINIMAL

    assert message in "\n".join(refusal(MINIMAL.replace(old, new)))


def test_every_fault_is_named_at_once():
    faults = refusal(MINIMAL.replace("weight: 60", "weight: none").replace("status: draft", "status: done"))

    assert [fault.partition(":")[0] for fault in faults] == ["line 4, /status", "line 10, /dimensions/0/weight"]


def test_moving_to_another_version_keeps_only_what_reads_the_same():
    before = parse_rubric(MINIMAL.encode())
    after = edited(version=("1.0.0", "1.1.0"), text=("They held.", "They held in live runs."))

    assert carry_dimensions(before, after) == {"coverage": Carried.KEPT, "guards": Carried.RECONFIRM}


def test_moving_names_new_and_removed_dimensions():
    before = parse_rubric(MINIMAL.encode())
    after = edited(id=("id: guards", "id: guarding"))

    assert carry_dimensions(before, after) == {
        "coverage": Carried.KEPT,
        "guarding": Carried.NEW,
        "guards": Carried.REMOVED,
    }


def test_a_declared_rename_carries_the_score():
    before = parse_rubric(MINIMAL.encode())
    replaces = "replaces: [{id: ours, version: 1.0.0, map: {guards: guarding}}]\ntitle: Ours"
    after = edited(
        version=("version: 1.0.0", "version: 2.0.0"), id=("id: guards", "id: guarding"), map=("title: Ours", replaces)
    )

    assert carry_dimensions(before, after) == {"coverage": Carried.KEPT, "guarding": Carried.KEPT}


def test_a_fork_says_what_it_is_based_on():
    fork = edited(fork=("status: draft", "status: draft\nbased_on: {id: theirs, version: 1.2.0}"))

    assert fork.based_on == ("theirs", "1.2.0")
