"""The class of a scenario: the artifact's, else by the agent's rules, else by ids with their edition, else none."""

import pytest

from evals.class_mapping import (
    Classifier,
    ClassOrigin,
    Described,
    Mapping,
    labels_of,
    matches_pattern,
    parse_mapping,
    read_mapping,
)
from evals.strict_yaml import DocumentRefused
from evals.taxonomy import shipped_taxonomy

TAXONOMY = shipped_taxonomy()
YAML = """schema: class-mapping/v1
rules:
  - class: goal_hijack
    key: "inject*"
  - class: data_exposure
    suite: support
    label: "dan"
  - class: task_not_done
    title: "*refund*"
  - class: unclassified
    key: scratch-?
"""


def classify(scenario, text=YAML, chosen=None):
    mapping = parse_mapping(text.encode(), TAXONOMY) if text else Mapping()
    return Classifier(TAXONOMY, mapping, chosen).classify(scenario)


def problems(text):
    with pytest.raises(DocumentRefused) as refused:
        parse_mapping(text.encode(), TAXONOMY)
    return refused.value.problems


@pytest.mark.parametrize(
    ("scenario", "class_id", "origin"),
    [
        (Described("a"), "unclassified", ClassOrigin.NONE),
        (Described("a", told="over_refusal"), "over_refusal", ClassOrigin.ARTIFACT),
        (Described("inject-1", told="over_refusal"), "over_refusal", ClassOrigin.ARTIFACT),  # a known class wins
        (Described("inject-1", told="mystery"), "goal_hijack", ClassOrigin.MAPPING),
        (Described("INJECT-1"), "goal_hijack", ClassOrigin.MAPPING),
        (Described("a", suite="support", told="dan"), "data_exposure", ClassOrigin.MAPPING),
        (Described("a", suite="other", told="dan"), "dan", ClassOrigin.ARTIFACT),  # kept, shown as unknown
        (Described("a", suite="support", labels=("dan",)), "data_exposure", ClassOrigin.MAPPING),
        (Described("a", title="A refund is asked"), "task_not_done", ClassOrigin.MAPPING),
        (Described("scratch-1"), "unclassified", ClassOrigin.MAPPING),
        (Described("scratch-12"), "unclassified", ClassOrigin.NONE),
    ],
)
def test_who_says_the_class(scenario, class_id, origin):
    assert classify(scenario) == (class_id, origin)


def test_the_first_rule_that_matches_decides():
    assert classify(Described("inject refund", title="refund")) == ("goal_hijack", ClassOrigin.MAPPING)


def test_a_person_stands_above_all():
    found = classify(Described("inject-1", told="over_refusal"), chosen={"inject-1": "fabrication"})
    assert found == ("fabrication", ClassOrigin.PERSON)


@pytest.mark.parametrize(
    ("label", "class_id"),
    [
        ("LLM01:2026", "goal_hijack"),
        ("llm06:2025", "privilege_overreach"),
        ("ASI01:2026", "goal_hijack"),
        ("LLM02:2025", "data_exposure"),
        ("indirect-prompt-injection", "goal_hijack"),
        ("pii:direct", "data_exposure"),
    ],
)
def test_ids_of_frameworks_map_with_their_edition(label, class_id):
    assert classify(Described("a", told=label), text="") == (class_id, ClassOrigin.ARTIFACT)
    assert classify(Described("a", labels=(label,)), text="")[0] == class_id


@pytest.mark.parametrize("label", ["LLM01", "LLM01:1999", "goal hijacking"])
def test_an_id_without_its_edition_says_nothing(label):
    assert classify(Described("a", told=label), text="") == (label, ClassOrigin.ARTIFACT)
    assert classify(Described("a", labels=(label,)), text="") == ("unclassified", ClassOrigin.NONE)


def test_rules_come_before_the_ids_of_frameworks():
    text = 'schema: class-mapping/v1\nrules:\n  - {class: fabrication, label: "LLM0*"}\n'
    assert classify(Described("a", told="LLM01:2026"), text=text) == ("fabrication", ClassOrigin.MAPPING)


def test_an_unknown_class_is_refused_with_its_line_and_what_there_is():
    (problem,) = problems(YAML.replace("class: data_exposure", "class: data_exposed"))
    assert (problem.pointer, problem.line) == ("/rules/1/class", 5)
    assert "data_exposed" in problem.message
    inline = "schema: class-mapping/v1\nrules: [\n  {class: goal_hijack, key: a},\n  {class: nothing, key: b}]\n"
    assert problems(inline)[0].line == 4
    assert "data_exposure" in problem.expected


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("schema: class-mapping/v1\nrules:\n  - class: goal_hijack\n", 3),
        ("schema: class-mapping/v1\nrules:\n  - {class: goal_hijack, tool: x}\n", 3),
        ("schema: class-mapping/v1\nrules:\n  - {class: goal_hijack, key: 5}\n", 3),
        ("schema: other\nrules: []\n", 1),
        ("rules: [\n", 2),
    ],
)
def test_what_does_not_fit_is_refused_with_its_line(text, line):
    assert problems(text)[0].line == line


def test_the_version_follows_the_text():
    one, other = (parse_mapping(text.encode(), TAXONOMY) for text in (YAML, YAML.replace("dan", "ddan")))
    assert one.version != other.version
    assert len(one.version) == 12
    assert Mapping().version == ""


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("*", "", True),
        ("a*", "abc", True),
        ("*c", "abc", True),
        ("a?c", "abc", True),
        ("a?c", "ac", False),
        ("a*b*c", "a--b--c", True),
        ("a*b*c", "a--c--b", False),
        ("[a]", "a", False),
        ("", "", True),
        ("", "a", False),
    ],
)
def test_patterns(pattern, text, expected):
    assert matches_pattern(pattern, text) is expected


def test_no_pattern_takes_forever():
    # A matcher that backtracks would not come back.
    assert not matches_pattern("*a" * 100, "a" * 99)
    assert not matches_pattern("*a" * 90 + "b", "a" * 20_000)


def test_labels_of_what_a_tool_keeps_beside():
    assert labels_of({"pluginId": "pii", "severity": "high", "strategyId": "base64", "owasp": 5}) == ("pii", "base64")


@pytest.mark.parametrize(
    ("rules", "message", "line"),
    [
        ("  - {class: goal_hijack}\n", "the rule has no condition", 3),
        (
            '  - {class: goal_hijack, key: "a*"}\n  - {class: fabrication, key: "A*"}\n',
            "rule 1 has the same conditions, so this one would never decide",
            4,
        ),
    ],
)
def test_a_rule_that_could_never_decide_is_named(rules, message, line):
    (problem,) = problems(f"schema: class-mapping/v1\nrules:\n{rules}")
    assert (problem.message, problem.line) == (message, line)


@pytest.mark.parametrize(
    ("word", "class_id"),
    [
        ("owasp:llm:2025:LLM01", "goal_hijack"),
        ("LLM:2026:llm02", "data_exposure"),
        ("owasp:LLM02:2025", "data_exposure"),
        ("owasp:asi:2026:asi01", "goal_hijack"),
        ("owasp:llm:01", "owasp:llm:01"),  # of no edition: which of them, nobody can say
    ],
)
def test_ids_of_a_framework_in_their_long_form(word, class_id):
    assert classify(Described("a", told=word), text="")[0] == class_id


def test_rules_for_a_class_that_the_taxonomy_lost_are_passed_over():
    text = """schema: class-mapping/v1
rules:
  - {class: lost_class, key: "inject*"}
  - {class: fabrication, key: "*"}
"""
    mapping = read_mapping(text.encode())
    assert mapping.rules_without(TAXONOMY) == [(1, "lost_class")]
    assert Classifier(TAXONOMY, mapping).classify(Described("inject-1")) == ("fabrication", ClassOrigin.MAPPING)
