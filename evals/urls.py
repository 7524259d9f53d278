"""Pages of agents and runs, by what they belong to."""

from django.urls import URLPattern, URLResolver, include, path

from evals.views import agents, classes, imports, runs, taxonomies

run_urls: list[URLPattern | URLResolver] = [
    path("", runs.run, name="run"),
    path("change/", runs.run_change, name="run-change"),
    path("attempts/", runs.attempt_list, name="attempt-list"),
    path("attempts/<int:number>/", runs.attempt, name="attempt"),
    path("attempts/<int:number>/class/", classes.scenario_class, name="scenario-class"),
    path("artifacts/<uuid:artifact_id>/", imports.artifact_download, name="artifact-download"),
]

agent_urls: list[URLPattern | URLResolver] = [
    path("settings/", agents.agent_change, name="agent-change"),
    path("runs/", agents.run_list, name="run-list"),
    path("runs/compare/", runs.run_compare, name="run-compare"),
    path("runs/<uuid:run_id>/", include(run_urls)),
    path("upload/", imports.upload, name="upload"),
    path("classes/", classes.class_mapping, name="class-mapping"),
    path("imports/<uuid:import_id>/", imports.import_status, name="import"),
]

urlpatterns = [
    path("<slug:client>/-/taxonomy/", taxonomies.taxonomy, name="taxonomy"),
    path("<slug:client>/-/agents/new/", agents.agent_create, name="agent-create"),
    path("<slug:client>/<slug:agent>/", include(agent_urls)),
]
