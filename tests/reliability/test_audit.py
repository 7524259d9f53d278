"""The audit log: chains that show what was changed, removed, re-ordered or cut off."""

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from reliability.audit import record_change, verify_chain
from reliability.models import AuditChain, AuditEntry, Client, User


@pytest.fixture
def chain(client_org: Client, alice: User) -> AuditChain:
    for number in range(4):
        with transaction.atomic():
            record_change(client_org, "thing.changed", alice, by=alice, number=number)
    return AuditChain.objects.get(client=client_org)


def _sql(statement: str, *values: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def test_entries_are_numbered_and_chained(chain: AuditChain) -> None:
    entries = list(chain.entries.order_by("number"))

    assert [entry.number for entry in entries] == [1, 2, 3, 4]
    assert [entry.previous for entry in entries[1:]] == [entry.digest for entry in entries[:-1]]
    assert (chain.count, chain.head) == (4, entries[-1].digest)
    assert list(verify_chain(chain)) == []


def test_clients_have_chains_of_their_own(chain: AuditChain, other_org: Client, erin: User) -> None:
    with transaction.atomic():
        record_change(other_org, "thing.changed", erin, by=erin)
        record_change(None, "site.changed", erin, by=erin)

    assert AuditChain.objects.get(client=other_org).count == 1
    assert AuditChain.objects.get(name="site").count == 1
    assert AuditChain.objects.get(pk=chain.pk).count == 4


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE reliability_auditentry SET action = 'other' WHERE number = 2", "entry 2 was changed"),
        ("UPDATE reliability_auditentry SET payload = '{\"number\": 7}' WHERE number = 3", "payload of entry 3"),
        ("DELETE FROM reliability_auditentry WHERE number = 2", "entry 2 is missing"),
        ("UPDATE reliability_auditentry SET number = 9 WHERE number = 4", "entry 4 is missing"),
        ("DELETE FROM reliability_auditentry WHERE number = 4", "its entries end at 3"),
    ],
)
def test_tampering_is_found(chain: AuditChain, statement: str, message: str) -> None:
    _sql(statement)

    faults = [fault.message for fault in verify_chain(chain)]

    assert any(message in fault for fault in faults), faults


def test_cut_off_end_is_found_with_what_was_noted(chain: AuditChain) -> None:
    noted = (chain.count, chain.head)
    _sql("DELETE FROM reliability_auditentry WHERE number = 4")
    third = chain.entries.get(number=3)
    AuditChain.objects.filter(pk=chain.pk).update(count=3, head=third.digest)
    chain.refresh_from_db()

    assert list(verify_chain(chain)) == []
    assert "cut off" in next(verify_chain(chain, expect=noted)).message


def test_erasure_drops_the_payload_and_keeps_the_chain(chain: AuditChain) -> None:
    AuditEntry.objects.filter(number=2).update(payload=None, salt="")

    assert list(verify_chain(chain)) == []


def test_entries_can_be_neither_changed_nor_deleted(chain: AuditChain) -> None:
    with pytest.raises(TypeError, match="never changed"):
        AuditEntry.objects.update(action="other")
    with pytest.raises(TypeError, match="never deleted"):
        AuditEntry.objects.all().delete()


@pytest.mark.django_db(transaction=True)
def test_entry_outside_a_transaction_is_refused(client_org: Client, alice: User) -> None:
    with pytest.raises(RuntimeError, match="transaction"):
        record_change(client_org, "thing.changed", alice, by=alice)


def test_verify_command_prints_count_and_head(chain: AuditChain, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("verify", "acme", "--expect", f"{chain.count}:{chain.head}")

    assert capsys.readouterr().out == f"acme: 4:{chain.head}\n"


def test_verify_command_fails_on_a_broken_chain(chain: AuditChain) -> None:
    _sql("UPDATE reliability_auditentry SET action = 'other' WHERE number = 2")

    with pytest.raises(CommandError, match="not as it was written"):
        call_command("verify", "acme")
