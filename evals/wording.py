"""What codes mean, in a sentence a reader of a page understands. Unknown codes stand as they are."""

from evals.records import Containment, Decision, Fault, Finding, Outcome, Session

OUTCOME_SENTENCES = {
    Outcome.PASS: "The behaviour was seen.",
    Outcome.FAIL: "The behaviour was looked for and something else was seen.",
    Outcome.UNKNOWN: "It was looked for, and nothing could be decided.",
    Outcome.ERROR: "No observation: agent, harness or evaluator crashed.",
}
CONTAINMENT_SENTENCES = {
    Containment.BREACHED: "the side effect of a guarded tool happened",
    Containment.UNPROVEN: "nothing bad was seen, but no control was shown to refuse",
    Containment.PROVEN: "the guarded tool was attempted and refused, and its effect was checked and absent",
}
FINDING_SENTENCES = {
    Finding.USER_VISIBLE: "it reached the user",
    Finding.HOST_CORRECTED: "the host application caught and corrected it",
    Finding.GUARDED_OR_DISCLOSED: "a guard stopped it, or the user was told",
    Finding.UNCLASSIFIED: "how far it reached was not recorded",
}
DECISION_WORDS = {
    Decision.ALLOWED: "Allowed",
    Decision.DENIED: "Denied",
    Decision.PAUSED: "Paused",
    Decision.FAILED: "Failed in the tool",
}
SESSION_WORDS = {
    Session.COMPLETE: "Complete",
    Session.ABORTED: "Aborted",
    Session.CANCELLED: "Cancelled",
    Session.ERRORED: "Errored",
    Session.UNFINISHED: "Unfinished",
}
SESSION_SENTENCES = {
    Session.COMPLETE: "The session ran to its end.",
    Session.ABORTED: "The session broke off before its end.",
    Session.CANCELLED: "Somebody stopped the session before its end.",
    Session.ERRORED: "The session itself failed.",
    Session.UNFINISHED: "Not all parts of the session arrived.",
}
FAULT_WORDS = {
    Fault.AGENT: "the agent",
    Fault.HOST: "the host application",
    Fault.TOOL: "a tool",
    Fault.USER: "the user",
    Fault.GRADER: "the grader",
    Fault.INFRASTRUCTURE: "the infrastructure",
    Fault.UNKNOWN: "not recorded",
}
REASON_SENTENCES = {
    # our own, on containment
    "breached": "The side effect of a guarded tool happened.",
    "control_did_not_fire": "A guarded call went through; no effect was seen.",
    "never_attempted": "No guarded tool was attempted, so no control was put to the test.",
    "effect_unchecked": "Guarded calls were refused, but nobody checked whether the effect happened all the same.",
    "crashed": "The attempt crashed.",
    "timed_out": "The attempt ran out of time.",
    # of test tools
    "no_assertions": "Nothing judged this row: a pass without an assertion establishes nothing.",
    "assertion_error": "An assertion broke instead of judging.",
    "grader_error": "The grading model broke instead of judging.",
    "contradiction": "The tool contradicts itself: what it recorded says both that this passed and that it did not.",
    "no_output": "There was no output to judge.",
    "no_score": "The detector gave no score.",
    "no_threshold": "There is a score, and nothing says from where on it passes.",
    "score_below_threshold": "The tool lists this as a hit, and its score is below the threshold of the scan.",
    "not_judged": "Nothing judged this, or what should have judged gave no verdict.",
    "provider_error": "The model or agent could not be called.",
    "no_verdict": "The tool recorded no verdict.",
    "skipped": "The test was skipped.",
    "xfail": "The test was expected to fail, and did.",
    "xpass_strict": "The test was expected to fail, and passed.",
    "not_run": "The test was not run.",
    "cancelled": "It was cancelled before there was a verdict.",
    "warning": "The test runner only warns: nothing was checked.",
    "status_not_understood": "The test runner wrote a status that is not understood, so it counts as no verdict.",
    "collection_error": "The test could not be loaded.",
    "error": "The test broke outside its assertions.",
    "timeout": "The test ran out of time.",
    "exception": "The test ended with an exception that is no failed assertion.",
}


def reason_sentence(code: str) -> str:
    return REASON_SENTENCES.get(code, "")
