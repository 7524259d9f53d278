"""`manage.py verify [CLIENT] [--expect COUNT:HEAD]`: checks the audit chains."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from reliability.audit import verify_chain
from reliability.models import AuditChain, Client
from reliability.models.audit import SITE


class Command(BaseCommand):
    help = "Finds changed, removed, re-ordered and cut-off entries of the audit log."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "client", nargs="?", default="", help="slug of the client, or “site”; all chains if left out"
        )
        parser.add_argument("--expect", default="", metavar="COUNT:HEAD", help="as noted earlier; finds a cut-off end")

    def handle(self, *args: Any, **options: Any) -> None:
        chains = self._chains(options["client"])
        expect = _read_expect(options["expect"])
        if expect and len(chains) != 1:
            raise CommandError("--expect goes with one client, or “site”.")
        faults = 0
        for chain in chains:
            for fault in verify_chain(chain, expect=expect):
                faults += 1
                self.stderr.write(f"{_title(chain)}: {fault.message}")
            self.stdout.write(f"{_title(chain)}: {chain.count}:{chain.head}")
        if faults:
            raise CommandError(f"The audit log is not as it was written: {faults} found.")

    def _chains(self, name: str) -> list[AuditChain]:
        chains = AuditChain.objects.select_related("client").order_by("name")
        if not name:
            return list(chains)
        if name == SITE:
            return list(chains.filter(name=SITE))
        client = Client.objects.filter(slug=name).first()
        if client is None:
            raise CommandError(f"There is no client {name!r}.")
        return list(chains.filter(client=client))


def _title(chain: AuditChain) -> str:
    return chain.client.slug if chain.client else chain.name


def _read_expect(text: str) -> tuple[int, str] | None:
    if not text:
        return None
    count, _, head = text.partition(":")
    if not count.isdigit() or len(head) != 64:
        raise CommandError("--expect: use COUNT:HEAD as this command prints it.")
    return int(count), head
