import pytest

from evals.indicators import SHIPPED, IndicatorKind, find_shipped, kind_of
from evals.records import Category
from evals.strict_yaml import MAX_ALIASES, DocumentRefused
from evals.taxonomy import parse_taxonomy, shipped_taxonomy

MINIMAL = """\
schema: taxonomy/v1
id: ours
version: "2"
title: Ours
frameworks:
  ASI: {title: Agentic top ten, edition: "2026"}
classes:
  - id: late_answer
    title: Late answer
    category: quality
    summary: The answer came too late to be used.
    sources: [{framework: ASI, id: ASI08}]
"""


def refusal(text: str) -> list[str]:
    with pytest.raises(DocumentRefused) as refused:
        parse_taxonomy(text.encode())
    return str(refused.value).splitlines()


def test_the_shipped_taxonomy_has_fourteen_classes():
    by_category = dict.fromkeys(Category, 0)
    for failure in shipped_taxonomy().classes:
        by_category[failure.category] += 1

    assert by_category == {Category.SECURITY: 5, Category.POLICY: 3, Category.QUALITY: 5, Category.COST: 1}


def test_every_shipped_source_names_its_edition():
    sources = [source for failure in shipped_taxonomy().classes for source in failure.sources]

    assert all(source.edition for source in sources)
    assert ("ASI01", "2026") in [(source.id, source.edition) for source in sources]


def test_category_and_title_of_a_class():
    taxonomy = shipped_taxonomy()

    assert taxonomy.category_of("approval_bypass") is Category.POLICY
    assert taxonomy.title_of("approval_bypass") == "Approval bypass"


def test_an_unknown_class_is_named_as_unknown():
    taxonomy = shipped_taxonomy()

    assert taxonomy.category_of("mystery") is None
    assert taxonomy.title_of("mystery") == "mystery (unknown class)"
    assert taxonomy.title_of("") == taxonomy.title_of("unclassified") == "Unclassified"


def test_a_taxonomy_of_ones_own():
    taxonomy = parse_taxonomy(MINIMAL.encode())

    assert (taxonomy.id, taxonomy.version) == ("ours", "2")
    assert taxonomy.classes[0].sources[0].title == "Agentic top ten"


def test_the_digest_does_not_depend_on_line_ends():
    unix, windows = MINIMAL.encode(), b"\xef\xbb\xbf" + MINIMAL.replace("\n", "\r\n").encode()

    assert parse_taxonomy(unix).sha256 == parse_taxonomy(windows).sha256
    assert parse_taxonomy(unix).sha256 != parse_taxonomy(MINIMAL.replace("Ours", "Theirs").encode()).sha256


def test_a_fault_is_named_with_its_line_and_place():
    faults = refusal(MINIMAL.replace("category: quality", "category: looks"))

    assert len(faults) == 1
    assert faults[0].startswith("line 10, /classes/0/category: 'looks' is not one of")


def test_an_unknown_member_is_refused():
    assert refusal(MINIMAL + "colour: red\n") == ["line 13, /colour: is not a member known here"]


def test_a_repeated_class_is_refused():
    row = "  - {id: late_answer, title: Again, category: cost, summary: Again.}\n"

    assert refusal(MINIMAL + row) == [
        "line 8, /classes/0/id: the class 'late_answer' occurs 2 times",
        "line 13, /classes/1/id: the class 'late_answer' occurs 2 times",
    ]


def test_the_word_for_no_class_is_no_class():
    assert "is kept for scenarios without a class" in refusal(MINIMAL.replace("late_answer", "unclassified"))[0]


def test_a_source_needs_a_declared_framework():
    assert "'MAST' is not declared" in refusal(MINIMAL.replace("{framework: ASI", "{framework: MAST"))[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("- a\n- b\n", "is not of type 'object'"),
        ("a: 1\na: 2\n", "line 2: the key 'a' occurs twice"),
        (
            "a: !!python/object:os.system {}\n",
            "line 1: tags such as 'tag:yaml.org,2002:python/object:os.system' are not read",
        ),
        ("a: !!timestamp 2026-01-01\n", "line 1: tags such as 'tag:yaml.org,2002:timestamp' are not read"),
        ("a: !!int abc\n", "line 1: tags such as 'tag:yaml.org,2002:int' are not read"),
        ("a: !!map [a]\n", "line 1: tags such as"),
        ("a: " + "9" * 5_000 + "\n", "line 1: the number is too large"),
        ('a: 1\nb: "T\\ud800"\n', "line 2: a text holds a control character"),
        ('a: "T\\0"\n', "line 1: a text holds a control character"),
        ('"\\ud800": 1\n', "line 1: a text holds a control character"),
        ("? [a]\n: b\n", "line 1: a key must be text"),
        ("a: [1\n", "line 2: expected ',' or ']'"),
        ("a: &x [*x]\n", "line 1: found unconstructable recursive node"),
        ("a: 1e999\n", "line 1: 1e999 is too large"),
        ("a: &x 1\nb: [" + ", ".join(["*x"] * (MAX_ALIASES + 1)) + "]\n", f"line 2: more than {MAX_ALIASES} aliases"),
        ("[" * 1000, "line 1: nested more than 30 deep"),
        ("--- 1\n--- 2\n", "line 2: but found another document"),
        ("a: \x00", "cannot be read as YAML"),
        ("#" * 500_001, "more than 500,000 bytes"),
    ],
)
def test_yaml_that_is_not_plain_is_refused(text, message):
    assert message in refusal(text)[0]


def test_bytes_that_are_not_utf_8_are_refused():
    with pytest.raises(DocumentRefused, match="byte 3 is not UTF-8"):
        parse_taxonomy(b"a: \xff")


@pytest.mark.parametrize("word", ["yes", "on", "2026-01-01", "1:30", "0x1f", "1_000", "NO"])
def test_yaml_1_1_surprises_stay_text(word):
    assert parse_taxonomy(MINIMAL.replace("title: Ours", f"title: {word}").encode()).title == word


@pytest.mark.parametrize(
    ("indicator", "kind"),
    [
        ("execution", IndicatorKind.EXECUTION),
        ("denied(send_email)", IndicatorKind.BEHAVIOUR),
        ("containment", IndicatorKind.BEHAVIOUR),
        ("task_success", IndicatorKind.OUTCOME),
        ("row", IndicatorKind.OUTCOME),
        ("Answer relevancy", IndicatorKind.NONE),
        ("", IndicatorKind.NONE),
    ],
)
def test_kind_of_an_indicator(indicator, kind):
    assert kind_of(indicator) is kind


def test_an_indicator_without_kind_is_stored_as_an_empty_word():
    assert IndicatorKind.NONE == ""


def test_each_shipped_indicator_says_what_it_does_not_establish():
    assert len({indicator.name for indicator in SHIPPED}) == len(SHIPPED)
    assert all(indicator.kind and indicator.does_not_establish.endswith(".") for indicator in SHIPPED)
    assert "may simply not have tried" in find_shipped("never_called(pay)").does_not_establish


@pytest.mark.parametrize(
    ("old", "new"),
    [("id: ours", 'id: "ours\\n"'), ('version: "2"', 'version: "1\\n2"'), ('version: "2"', 'version: " "')],
)
def test_a_name_is_on_one_line_and_seen(old, new):
    assert old in MINIMAL
    assert "does not match" in refusal(MINIMAL.replace(old, new))[0]
