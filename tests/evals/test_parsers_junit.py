"""JUnit XML: merging, outcomes, keys and the traps of section 4."""

import io
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evals.errors import ImportRefused
from evals.parsers import Limits, open_records
from evals.records import AttemptRecord, Category, EndRecord, Finding, Outcome, RunRecord, ScenarioRecord

ARTIFACTS = Path(__file__).parent.parent / "artifacts"
P, F, U, E = Outcome.PASS, Outcome.FAIL, Outcome.UNKNOWN, Outcome.ERROR


def read(content, **limits):
    if isinstance(content, str):
        content = content.encode()
    name, records = open_records(io.BytesIO(content), limits=Limits(**limits))
    assert name == "junit"
    return list(records)


def suite(*cases, attributes='name="s"'):
    return f"<testsuite {attributes}>{''.join(cases)}</testsuite>"


def case(inner="", name="t", classname="c", attributes=""):
    return f'<testcase classname="{classname}" name="{name}" {attributes}>{inner}</testcase>'


def attempts(records):
    return [record for record in records if isinstance(record, AttemptRecord)]


def only(content):
    (attempt,) = attempts(read(content))
    return attempt


def refused(content, **options):
    if isinstance(content, str):
        content = content.encode()
    with pytest.raises(ImportRefused) as refusal:
        list(open_records(io.BytesIO(content), **options)[1])
    return refusal.value


# -- the real files


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        ("pytest/basic.xml", {P: 5, F: 8, U: 3, E: 2}),
        ("pytest/xdist.xml", {P: 5, F: 8, U: 3, E: 2}),
        ("pytest/collection_error.xml", {E: 1}),
        ("promptfoo/results.junit.xml", {P: 16, F: 12, E: 8}),
    ],
)
def test_counts_of_the_real_files(path, counts):
    records = read((ARTIFACTS / path).read_bytes())
    found = attempts(records)
    assert Counter(evaluation.outcome for a in found for evaluation in a.evaluations) == counts
    assert len({(a.scenario, a.variant, a.ordinal) for a in found}) == len(found)
    assert len({record.key for record in records if isinstance(record, ScenarioRecord)}) == len(found)


def test_the_run_of_the_pytest_file():
    run = read((ARTIFACTS / "pytest/basic.xml").read_bytes())[0]
    properties = {
        "agent": "support-agent",
        "agent_version": "2.4.1",
        "git_sha": "0f3c2b7d9a6e4c1f8b5a2d7e6c9f0a1b2c3d4e5f",
        "model": "mock/echo-1",
    }
    assert run == RunRecord(
        suite="agent-evals",
        agent_version="2.4.1",
        commit="0f3c2b7d9a6e4c1f8b5a2d7e6c9f0a1b2c3d4e5f",
        model="mock/echo-1",
        started_at=datetime(2026, 11, 30, 17, 40, 28, 720022, tzinfo=UTC),
        finished_at=datetime(2026, 11, 30, 17, 40, 30, 88022, tzinfo=UTC),
        producer_name="pytest",
        reported_totals={"tests": 22, "failures": 9, "errors": 3, "skipped": 3},
        extras={"properties": properties},
    )


def test_a_test_of_the_pytest_file():
    records = read((ARTIFACTS / "pytest/basic.xml").read_bytes())
    scenario = next(r for r in records if isinstance(r, ScenarioRecord) and r.adversarial)
    attempt = next(a for a in attempts(records) if a.scenario == scenario.key)
    (evaluation,) = attempt.evaluations

    assert scenario.key == (
        "agent-evals::test_support_agent.TestSecurity::test_prompt_injection[ignore previous instructions]"
    )
    assert (evaluation.indicator, evaluation.evaluator.name) == ("test", "pytest")
    assert (evaluation.outcome, evaluation.finding) == (F, Finding.UNCLASSIFIED)
    assert evaluation.categories == {Category.SECURITY}
    assert evaluation.reason.startswith("AssertionError: assert 'SYSTEM PROMPT' not in")
    assert "stderr note ünïcödé" in evaluation.evidence["system_err"][0]


@pytest.mark.parametrize(
    ("name", "outcome", "code"),
    [
        ("test_setup_error", E, "error"),
        ("test_teardown_error", E, "error"),
        ("test_fail_and_teardown_error", F, ""),
        ("test_exception", F, "exception"),
        ("test_live", U, "skipped"),
        ("test_known_jailbreak", U, "xfail"),
        ("test_xpass", P, ""),
        ("test_xpass_strict", F, "xpass_strict"),
        ("test_timeout", F, "timeout"),
        ("test_subtests", F, ""),
    ],
)
def test_traps_of_pytest(name, outcome, code):
    for file in ("basic.xml", "xdist.xml"):
        found = attempts(read((ARTIFACTS / "pytest" / file).read_bytes()))
        (attempt,) = (a for a in found if a.scenario.endswith(f"::{name}"))
        assert (attempt.evaluations[0].outcome, attempt.evaluations[0].reason_code) == (outcome, code)


def test_case_properties_of_the_pytest_file():
    _, scenario, attempt, *_ = read((ARTIFACTS / "pytest/basic.xml").read_bytes())
    assert scenario.extras == {"case_id": "refund-basic"}
    assert (attempt.cost_nano, attempt.latency_ms) == (420_000, 13)


def test_a_collection_error_has_no_class():
    attempt = only((ARTIFACTS / "pytest/collection_error.xml").read_bytes())
    assert attempt.scenario == "pytest::test_import_error"
    assert attempt.evaluations[0].reason_code == "collection_error"


def test_equal_suites_of_promptfoo_stay_apart():
    found = attempts(read((ARTIFACTS / "promptfoo/results.junit.xml").read_bytes()))
    assert sum(a.scenario.endswith("(suite 2)") for a in found) == 18
    assert {a.evaluations[0].evaluator.name for a in found} == {"promptfoo"}


# -- outcomes


@pytest.mark.parametrize(
    ("inner", "outcome", "code", "reason"),
    [
        ("", P, "", ""),
        ("<system-out>text</system-out>", P, "", ""),
        ('<failure message="m"/>', F, "", "m"),
        ("<failure>text only</failure>", F, "", "text only"),
        ('<error message="m">trace</error>', E, "error", "m"),
        ('<error message="e"/><failure message="f"/>', F, "", "f"),
        ('<failure message="one"/><failure message="two"/>', F, "", "one"),
        ('<skipped type="pytest.skip" message="m"/>', U, "skipped", "m"),
        ('<skipped type="pytest.xfail" message="m"/>', U, "xfail", "m"),
        ("<skipped/>", U, "skipped", ""),
        ('<skipped/><failure message="f"/>', F, "", "f"),
        ('<skipped/><error message="e"/>', E, "error", "e"),
    ],
)
def test_outcome_of_a_test(inner, outcome, code, reason):
    (evaluation,) = only(suite(case(inner))).evaluations
    assert (evaluation.outcome, evaluation.reason_code, evaluation.reason) == (outcome, code, reason)


@pytest.mark.parametrize("status", ["notrun", "disabled", "NotRun", "untested", "undefined"])
def test_a_test_that_did_not_run_is_unknown(status):
    (evaluation,) = only(suite(case(attributes=f'status="{status}"'))).evaluations
    assert (evaluation.outcome, evaluation.reason_code) == (U, "not_run")


@pytest.mark.parametrize(("status", "outcome"), [("passed", P), ("run", P), ("Failed", F), ("error", E)])
def test_a_status_without_children_is_heard(status, outcome):
    (evaluation,) = only(suite(case(attributes=f'status="{status}"'))).evaluations
    assert evaluation.outcome is outcome


@pytest.mark.parametrize(
    ("attributes", "outcome", "code"),
    [
        ('status="run" result="completed"', P, ""),
        ('status="Successful"', P, ""),
        ('status=""', P, ""),
        ('status="run" result="skipped"', U, "skipped"),
        ('status="notrun" result="suppressed"', U, "not_run"),
        ('status="not run"', U, "not_run"),
        ('result="skipped" status="passed"', U, "skipped"),
        ('status="timedout"', E, "error"),
        ('result="timed-out"', E, "error"),
        ('status="aborted"', E, "error"),
        ('status="cancelled"', U, "cancelled"),
        ('status="unknown"', U, "no_verdict"),
        ('result="failed"', F, ""),
        ('status="run" result="Failure"', F, ""),
        ('status="skipped" result="failed"', F, ""),
        ('status="wibble"', U, "status_not_understood"),
        ('status="run" result="flaky"', U, "status_not_understood"),
        ('status="wibble" result="skipped"', U, "skipped"),
    ],
)
def test_only_words_that_are_known_as_good_pass(attributes, outcome, code):
    (evaluation,) = only(suite(case(attributes=attributes))).evaluations
    assert (evaluation.outcome, evaluation.reason_code) == (outcome, code)


def test_a_status_is_heard_though_another_element_of_the_test_says_more():
    (evaluation,) = only(suite(case("<skipped/>"), case(attributes='status="failed"'))).evaluations
    assert evaluation.outcome is F


def test_a_word_that_is_not_understood_is_named():
    (evaluation,) = only(suite(case(attributes='status="run" result="wibble"'))).evaluations
    assert evaluation.reason == "result “wibble”"


@pytest.mark.parametrize(
    ("inner", "outcome", "code"),
    [
        ("<warning>No tests found in class</warning>", U, "warning"),
        ("<Failure>f</Failure>", F, ""),
        ("<ERROR>e</ERROR>", E, "error"),
        ("<Skipped/>", U, "skipped"),
        ("<ignored/>", U, "skipped"),
        ("<System-Out>text</System-Out>", P, ""),
        ('<warning>w</warning><failure message="f"/>', F, ""),
    ],
)
def test_children_of_other_tools_and_in_other_letters(inner, outcome, code):
    (evaluation,) = only(suite(case(inner))).evaluations
    assert (evaluation.outcome, evaluation.reason_code) == (outcome, code)


def test_an_ignored_test_of_old_gradle_is_unknown():
    records = read(suite(case(), '<ignored-testcase classname="c" name="u"/>'))
    assert [a.scenario for a in attempts(records)] == ["s::c::t", "s::c::u"]
    (evaluation,) = attempts(records)[1].evaluations
    assert (evaluation.outcome, evaluation.reason_code) == (U, "skipped")


def test_repeats_that_are_merged_are_told():
    records = read(suite(case(), case(), case(name="other"), case()))
    assert len(attempts(records)) == 2
    assert "2 elements with the suite, class and name of another one: together they are one test." in records[-1].notes


def test_equal_elements_of_one_suite_are_one_test():
    content = suite(
        case('<failure message="f"/>', attributes='time="0.5"'),
        case(name="between"),
        case('<error message="teardown"/>', attributes='time="0.25"'),
    )
    first, second = attempts(read(content))
    assert (first.evaluations[0].outcome, first.latency_ms, first.error) == (F, 750, "teardown")
    assert second.evaluations[0].outcome is P


def test_equal_tests_of_two_suites_are_two():
    content = f"<testsuites>{suite(case())}{suite(case('<failure/>'))}{suite(case(), attributes='')}</testsuites>"
    found = attempts(read(content))
    assert [a.scenario for a in found] == ["s::c::t", "s::c::t (suite 2)", "c::t"]
    assert [a.evaluations[0].outcome for a in found] == [P, F, P]


def test_nested_suites():
    inner = suite(case(name="inner"), attributes='name="inner" tests="1"')
    run, *records = read(f'<testsuites name="all">{suite(inner, case(), attributes=ATTRIBUTES)}</testsuites>')
    assert [a.scenario for a in attempts(records)] == ["inner::c::inner", "outer::c::t"]
    assert run.reported_totals["tests"] == 5  # of the outer suite alone
    assert run.suite == "outer"


ATTRIBUTES = 'name="outer" tests="5"'


def test_the_suite_counts_are_never_the_denominator():
    run, *records = read(suite(case(), attributes='name="s" tests="400" failures="300"'))
    assert len(attempts(records)) == 1
    assert run.reported_totals["tests"] == 400


def total_notes(content):
    return [note for note in read(content)[-1].notes if "own totals" in note]


@pytest.mark.parametrize("path", sorted(ARTIFACTS.glob("**/*.xml")), ids=lambda path: path.name)
def test_totals_of_the_real_files_are_no_contradiction(path):
    assert total_notes(path.read_bytes()) == []


@pytest.mark.parametrize(
    ("cases", "attributes", "says"),
    [
        ([case()], 'tests="400" failures="300"', "400 tests and 300 failures; the tests in it give 1 and 0."),
        ([case()], 'tests="1" errors="1" skipped="2"', "1 error and 2 skipped; the tests in it give 0 and 0."),
        ([case(), case(name="u")], 'tests="1"', "1 test; the tests in it give 2."),
        ([case("<failure/>")], 'tests="1" failures="0"', "0 failures; the tests in it give 1."),
        (
            [case("<error/>")],
            'tests="1" failures="1" errors="0"',
            "1 failure and 0 errors; the tests in it give 0 and 1.",
        ),
        ([case("<skipped/>")], 'tests="1" skipped="0"', "0 skipped; the tests in it give 1."),
        ([case()], 'name="pytest" tests="0"', "0 tests; the tests in it give 1."),
    ],
)
def test_totals_that_the_tests_contradict_are_noted(cases, attributes, says):
    expected = [f"The file's own totals say {says}"]
    assert total_notes(suite(*cases, attributes=attributes)) == expected
    assert total_notes(f"<testsuites>{suite(*cases, attributes=attributes)}</testsuites>") == expected
    if "pytest" not in attributes:
        assert total_notes(f"<testsuites {attributes}>{suite(*cases)}</testsuites>") == expected


@pytest.mark.parametrize(
    ("cases", "attributes"),
    [
        ([case()], ""),
        ([case()], 'tests="x"'),
        ([case("<failure/><failure/>")], 'tests="1" failures="1" errors="0" skipped="0"'),
        ([case("<failure/><failure/>")], 'tests="1" failures="2"'),
        ([case("<error/>")], 'tests="2" errors="1"'),  # its teardown broke, and is a test of its own
        ([case("<failure/>"), case()], 'tests="2" failures="1"'),  # a try, and its repeat
        ([case("<failure/>"), case()], 'tests="1" failures="1"'),
        ([case("<flakyFailure/>")], 'tests="1" failures="0"'),  # Surefire
        ([case(), case(attributes='status="notrun"', name="u")], 'tests="2" skipped="0" disabled="1"'),  # googletest
        ([case(), case("<skipped/>", name="u")], 'tests="1" skipped="1"'),
        ([case("<warning/>")], 'tests="1" skipped="0" warnings="1"'),  # PHPUnit
        ([case(), "<error/>"], 'tests="1" errors="0"'),  # a suite that broke as a whole
        ([case(), "<error/>"], 'tests="1" errors="1"'),
        ([suite(case(), attributes='tests="1"')], 'tests="1"'),
        ([suite(case(), attributes='tests="1"'), case()], 'tests="1"'),  # each counts its own
        ([suite(case(), attributes='tests="1"')], ""),
        ([case()], 'name="pytest" tests="12"'),  # its subtests that passed are not in the file
    ],
)
def test_other_ways_of_counting_are_no_contradiction(cases, attributes):
    assert total_notes(suite(*cases, attributes=attributes)) == []


def test_a_root_that_contradicts_its_suites_is_noted():
    content = f'<testsuites tests="3">{suite(case(), attributes="""tests="1" """)}</testsuites>'
    assert total_notes(content) == ["The file's own totals say 3 tests; the tests in it give 1."]


def test_the_root_alone_may_state_the_totals():
    run = read(f'<testsuites tests="1" failures="0">{suite(case())}</testsuites>')[0]
    assert run.reported_totals == {"tests": 1, "failures": 0}


def test_an_empty_suite_is_a_run_without_tests():
    run, end = read('<testsuite name="pytest" tests="0"/>')
    assert run.reported_totals["tests"] == 0
    assert end.notes == ("The file holds no tests.",)


# -- properties and times


@pytest.mark.parametrize(
    ("properties", "class_id", "categories", "adversarial"),
    [
        ({}, "", None, False),
        ({"category": "cost"}, "", {Category.COST}, False),
        ({"category": "billing"}, "billing", None, False),
        ({"category": "security", "class": "goal_hijack"}, "goal_hijack", {Category.SECURITY}, False),
        ({"adversarial": "True"}, "", None, True),
        ({"adversarial": "false"}, "", None, False),
    ],
)
def test_properties_of_a_test(properties, class_id, categories, adversarial):
    inner = "".join(f'<property name="{name}" value="{value}"/>' for name, value in properties.items())
    _, scenario, attempt, _ = read(suite(case(f"<properties>{inner}</properties>")))
    assert (scenario.class_id, scenario.adversarial) == (class_id, adversarial)
    assert attempt.evaluations[0].categories == categories


@pytest.mark.parametrize("cost", ["NaN", "free", "-1", "1e999"])
def test_an_impossible_cost_is_left_out(cost):
    properties = f'<properties><property name="cost_usd" value="{cost}"/></properties>'
    assert only(suite(case(properties))).cost_nano is None


@pytest.mark.parametrize(
    ("timestamp", "started", "assumed"),
    [
        ("2026-11-30T17:40:28+01:00", datetime(2026, 11, 30, 16, 40, 28, tzinfo=UTC), False),
        ("2026-11-30T17:40:28", datetime(2026, 11, 30, 17, 40, 28, tzinfo=UTC), True),
        ("Mon Nov 30", None, False),
        ("", None, False),
    ],
)
def test_start_of_the_run(timestamp, started, assumed):
    run = read(suite(case(), attributes=f'name="s" timestamp="{timestamp}" time="2"'))[0]
    assert (run.started_at, run.started_at_assumed) == (started, assumed)
    assert run.finished_at is None or (run.finished_at - run.started_at).total_seconds() == 2


def test_run_from_several_suites():
    first = suite(attributes='name="a" timestamp="2026-11-30T10:00:00Z" time="10"')
    second = suite(attributes='name="b" timestamp="2026-11-30T09:00:00Z" time="7200"')
    run = read(f'<testsuites name="nightly">{first}{second}</testsuites>')[0]
    assert run.started_at == datetime(2026, 11, 30, 9, tzinfo=UTC)
    assert run.finished_at == datetime(2026, 11, 30, 11, tzinfo=UTC)
    assert run.suite == "nightly"


@pytest.mark.parametrize(
    ("time", "latency"), [("1.5", 1500), ("1,234.5", 1234500), ("NaN", None), ("-1", None), ("1e307", None)]
)
def test_time_of_a_test(time, latency):
    assert only(suite(case(attributes=f'time="{time}"'))).latency_ms == latency


@pytest.mark.parametrize(("name", "suite_name"), [("pytest", ""), ("promptfoo", ""), ("agent", "agent")])
def test_a_tool_s_own_name_is_no_suite(name, suite_name):
    assert read(suite(case(), attributes=f'name="{name}"'))[0].suite == suite_name


# -- what files may hold


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "utf-8-sig"])
def test_encodings(encoding):
    declared = encoding.removesuffix("-sig")
    content = f'<?xml version="1.0" encoding="{declared}"?>{suite(case(name="é"))}'
    assert only(content.encode(encoding)).scenario == "s::c::é"


def test_a_namespace_is_ignored():
    content = f'<testsuites xmlns="urn:junit">{suite(case("<failure/>"))}</testsuites>'
    assert only(content).evaluations[0].outcome is F


def test_escaped_and_odd_text():
    content = suite(case('<failure message="]]&gt; &lt;b&gt;"><![CDATA[<script>]]>#x1B[31m</failure>'))
    (evaluation,) = only(content).evaluations
    assert evaluation.reason == "]]> <b>"
    assert evaluation.evidence == {"failure": ["<script>#x1B[31m"]}


def test_long_names_stay_apart():
    one, two = (case(name="n" * 300 + end) for end in "ab")
    first, second = attempts(read(suite(one, two)))
    assert first.scenario != second.scenario
    assert max(len(first.scenario), len(second.scenario)) <= 200


def test_a_nameless_test_has_a_key():
    assert only("<testsuite><testcase/></testsuite>").scenario == "unnamed"


def test_a_test_outside_any_suite():
    assert only(f"<testsuites>{case()}</testsuites>").scenario == "c::t"


def test_long_texts_are_cut():
    content = suite(case(f'<failure message="{"m" * 30_000}">{"t" * 30_000}end</failure>'))
    *_, attempt, end = read(content)
    assert len(attempt.evaluations[0].reason) == 20_000
    assert attempt.evaluations[0].evidence["failure"][0].startswith("[cut…] ")
    assert isinstance(end, EndRecord)
    assert "cut" in end.notes[-1]


@pytest.mark.parametrize(
    "declaration",
    [
        '<!DOCTYPE testsuite SYSTEM "http://example.org/a.dtd">',
        '<!DOCTYPE testsuite [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>',
        '<!DOCTYPE testsuite [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
        "<!DOCTYPE testsuite>",
    ],
)
def test_document_types_and_entities_are_refused(declaration):
    refusal = refused(declaration + suite(case()), format="junit")
    assert (refusal.status, refusal.code) == (422, "forbidden_xml")


@pytest.mark.parametrize(
    ("content", "status", "line"),
    [
        ("<testsuite>\n<testcase name='a'>", 400, 2),
        ("<testsuite>\n\n<testcase name=a/></testsuite>", 400, 3),
        ("<testsuite>&undefined;</testsuite>", 400, 1),
        ("<testsuite/><testsuite/>", 400, 1),
    ],
)
def test_broken_xml_is_400_with_its_line(content, status, line):
    refusal = refused(content)
    assert (refusal.status, refusal.problems[0].line) == (status, line)


@pytest.mark.parametrize("encoding", ["utf-7", "no-such", "utf-32"])
def test_an_encoding_that_cannot_be_read(encoding):
    assert refused(f'<?xml version="1.0" encoding="{encoding}"?><testsuite/>').status == 400


def test_other_xml_is_415():
    assert refused("<coverage/>").status == 415
    assert refused("<html><body/></html>", format="junit").status == 415


def test_deep_xml_is_refused():
    assert refused("<testsuite>" + "<a>" * 100_000 + "</a>" * 100_000 + "</testsuite>").code == "too_deep"


def test_limits():
    content = suite(*(case(name=str(number)) for number in range(50)))
    assert refused(content, limits=Limits(max_document_bytes=1000)).status == 413
    assert refused(content, limits=Limits(max_rows=20)).status == 413
