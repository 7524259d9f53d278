"""The agent's scenarios, of which each run's own rows are appearances."""

from django.db import connection

from evals.bulk import planned_without
from evals.models import Run


def join_scenarios(run: Run) -> None:
    """Make the agent's scenarios of what the run names, and point the run's rows at them."""
    run_id = Run._meta.pk.get_db_prep_value(run.pk, connection)
    agent_id = Run._meta.pk.get_db_prep_value(run.agent_id, connection)
    with connection.cursor() as cursor:
        cursor.execute(
            # Ordered, so that two imports of the same keys cannot wait for each other.
            """INSERT INTO evals_scenario (agent_id, suite, key, class_id)
               SELECT %s, %s, key, '' FROM evals_runscenario WHERE run_id = %s ORDER BY key
               ON CONFLICT (agent_id, suite, key) DO NOTHING""",
            [agent_id, run.suite, run_id],
        )
    with planned_without("enable_nestloop"), connection.cursor() as cursor:
        cursor.execute(
            """UPDATE evals_runscenario SET scenario_id = s.id FROM evals_scenario s
               WHERE evals_runscenario.run_id = %s AND s.agent_id = %s AND s.suite = %s
                 AND s.key = evals_runscenario.key""",
            [run_id, agent_id, run.suite],
        )
