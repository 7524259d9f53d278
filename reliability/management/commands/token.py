"""`manage.py token CLIENT [--agent AGENT] --scope runs:write`: prints one new token and nothing else."""

from typing import Any

from django.apps import apps
from django.core.management.base import BaseCommand, CommandError, CommandParser

from reliability.models import Client, Scope
from reliability.people import issue_token


class Command(BaseCommand):
    help = "Makes a token for the API and prints it; it is shown this once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("client", help="slug of the client")
        parser.add_argument(
            "--agent", default="", help="slug of the one agent it is for; all of the client's if left out"
        )
        parser.add_argument("--scope", action="append", choices=Scope.values, required=True, help="may be repeated")
        parser.add_argument("--name", default="command line", help="what it is called on the token page")
        parser.add_argument("--days", type=int, default=None, help="until it expires (TOKEN_DAYS if left out)")

    def handle(self, *args: Any, **options: Any) -> None:
        client = Client.objects.filter(slug=options["client"]).first()
        if client is None:
            raise CommandError(f"There is no client {options['client']!r}.")
        agent = None
        if options["agent"]:
            agent = apps.get_model("evals", "Agent").objects.filter(client=client, slug=options["agent"]).first()
            if agent is None:
                raise CommandError(f"{client} has no agent {options['agent']!r}.")
        if options["days"] is not None and not 1 <= options["days"] <= 3650:
            raise CommandError("--days: use a number from 1 to 3650.")
        scopes = [Scope(scope) for scope in options["scope"]]
        made = issue_token(client, name=options["name"], scopes=scopes, agent=agent, days=options["days"])
        self.stdout.write(made.secret)
