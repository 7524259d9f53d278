"""What formats share: places, facts of a case, repeats, digests, and heads of odd documents."""

import io
import json

import pytest

from evals.canonical import canonical_sha256
from evals.errors import ImportRefused
from evals.parsers.cases import Ordinals, Tally, as_milliseconds, as_text, facts_of, tool_step
from evals.parsers.checked import Place, list_in, objects_in, read_documents
from evals.parsers.head import head_of_document
from evals.parsers.otlp import hex_id, read_nanos, value_of
from evals.parsers.reading import Cleaner, Limits
from evals.records import Category, EvaluationRecord, Outcome

CLEANER = Cleaner(Limits())


def test_a_place_is_a_pointer_and_a_line():
    place = Place(line=3).at("a/b~", 0).at("\ud800")
    assert (place.pointer, place.line, str(place)) == ("/a~1b~0/0/\ufffd", 3, "line 3 /a~1b~0/0/\ufffd")
    assert (str(Place()), Place().is_whole, Place(line=1).is_whole, place.is_whole) == ("", True, False, False)


def test_a_refusal_names_its_place():
    refusal = Place().at("a").refusal("a text")
    assert (refusal.status, refusal.detail) == (422, "/a is not as expected: a text.")
    assert Place().refusal("an object").detail == "The document is not as expected: an object."


def test_lists_that_are_absent_are_empty_and_others_are_refused():
    assert list_in({}, "a", Place()) == list_in({"a": None}, "a", Place()) == []
    for value, pointer in (({}, "/a"), ("text", "/a"), ([{}, 1], "/a/1")):
        with pytest.raises(ImportRefused) as refusal:
            objects_in({"a": value}, "a", Place())
        assert refusal.value.problems[0].pointer == pointer


def test_documents_of_a_file():
    def places(content, **limits):
        return [(str(at), value) for at, value in read_documents(io.BytesIO(content), Limits(**limits))]

    assert places(b'{"a": 1}') == [("", {"a": 1})]
    assert places(b'{"a": 1}\n\n{"a": 2}\n') == [("line 1", {"a": 1}), ("line 3", {"a": 2})]
    assert places(b'[{"a": 1},\n 7]') == [("/0", {"a": 1}), ("/1", 7)]
    for content in (b'{"a": 1}\n{"a": 2}\n', b"[1, 2, 3, 4, 5]"):
        with pytest.raises(ImportRefused) as refusal:
            places(content, max_document_bytes=12)
        assert refusal.value.status == 413


@pytest.mark.parametrize(
    ("metadata", "tags", "class_id", "categories", "adversarial"),
    [
        ({}, [], "", None, False),
        ({"category": "security"}, ["cost", "slow"], "slow", {Category.SECURITY, Category.COST}, False),
        ({"category": ["security"], "class": 7}, [], "7", None, False),
        ({"class": {}, "category": "tone"}, [], "tone", None, False),
        ({"adversarial": "true"}, [], "", None, True),
        ({"adversarial": 0}, ["adversarial"], "", None, True),
    ],
)
def test_facts(metadata, tags, class_id, categories, adversarial):
    facts = facts_of(metadata, tags)
    assert (facts.class_id, facts.categories, facts.adversarial) == (class_id, categories, adversarial)


def test_ordinals():
    ordinals = Ordinals()
    taken = [ordinals.take("a"), ordinals.take("a", wanted=3), ordinals.take("a", wanted=3), ordinals.take("a")]
    assert taken == [1, 3, 2, 4]
    assert (ordinals.take("a", "m"), ordinals.take("b")) == (1, 1)


def test_digests_are_of_the_value_not_of_its_spelling():
    digest = Cleaner(Limits()).digest
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1.0}) == canonical_sha256({"a": 1, "b": 2})
    assert digest(1) != digest(True) != digest("1")
    assert digest("x" * 5000) == canonical_sha256("x" * 5000)  # too long to be remembered


def test_texts_times_and_steps():
    assert [as_text(value, CLEANER) for value in (None, "a\x00", {"é": float("nan")}, 0)] == [
        "",
        "a\ufffd",
        '{"é": null}',
        "0",
    ]
    assert [as_milliseconds(value) for value in (1.5, 0, -1, None, "x", 1e308)] == [1500, 0, None, None, None, None]
    step = tool_step("", ["x" * 15_000] * 2, "ok", CLEANER)
    assert (step.tool, step.arguments, step.result, len(step.arguments_sha256)) == ("unnamed tool", None, "ok", 64)
    assert step.extras == {"too_large": ["arguments"]}
    assert tool_step("t", None, None, CLEANER).arguments_sha256 == ""


def test_a_tally_says_how_many_differ():
    tally = Tally("the tool")
    broken = EvaluationRecord(
        indicator="i", outcome=Outcome.ERROR, reported_outcome=Outcome.FAIL, reason_code="judge_down"
    )
    tally.evaluations([broken, broken, EvaluationRecord(indicator="i", outcome=Outcome.PASS)])
    assert tally.outcomes == {Outcome.ERROR: 2, Outcome.PASS: 1}
    assert list(tally.notes()) == ["2 evaluations are ERROR where the tool says FAIL (judge_down)."]


@pytest.mark.parametrize(
    ("value", "size", "expected"),
    [
        ("0AF7651916CD43DD8448EB211C80319C", 16, "0af7651916cd43dd8448eb211c80319c"),
        ("CvdlGRbNQ92ESOshHIAxnA==", 16, "0af7651916cd43dd8448eb211c80319c"),
        ("t61rcWkgMzE=", 8, "b7ad6b7169203331"),
        ("0" * 16, 8, ""),
        ("AAAAAAAAAAA=", 8, ""),
        ("", 8, ""),
        (None, 8, ""),
        (7, 8, ""),
        ("my-span", 8, "my-span"),
        ("é", 8, "é"),
    ],
)
def test_ids_of_spans(value, size, expected):
    assert hex_id(value, size) == expected


def test_typed_values():
    assert value_of({"intValue": "-3"}) == -3
    assert value_of({"intValue": "three"}) == "three"
    assert value_of({"doubleValue": "much"}) == "much"
    assert value_of({"doubleValue": "-Infinity"}) == float("-inf")
    assert value_of({"boolValue": False}) is False
    assert value_of({"bytesValue": "AA=="}) == "AA=="
    assert value_of({}) is None
    assert value_of({"arrayValue": {"values": [{"intValue": "1"}, {"stringValue": "a"}]}}) == [1, "a"]
    assert [read_nanos(value) for value in ("5", 5, 5.0, "", None, 2**64)] == [5, 5, None, None, None, None]


def test_heads_of_documents_with_nan_or_lone_surrogates():
    head = head_of_document(json.dumps({"a": float("nan"), "b": {"c\ud800": 1}, "schema": "s\ud800"}).encode())
    assert (head.keys, head.inner, head.schema) == (("a", "b", "schema"), {"b": ("c\ufffd",)}, "s\ufffd")
    for content in (b"[NaN]", b'{"a": NaN', b'{"a": NaN} {"a": 1}', b"[" * 100_000, b"\xff"):
        assert head_of_document(content) is None
