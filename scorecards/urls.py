"""Pages of engagements and reviews, by what they belong to. `-` stands where no agent can."""

from django.urls import URLPattern, URLResolver, include, path

from scorecards.views import engagements, evidence, form, publishing, reviews, steps

edit_urls: list[URLPattern | URLResolver] = [
    path("", form.review_edit, name="review-edit"),
    path("head/", form.review_head, name="review-head"),
    path("preview/", form.markdown_preview, name="markdown-preview"),
    path("runs/", form.review_runs, name="review-runs"),
    path("override/", form.review_override, name="review-override"),
    path("dimensions/<slug:dimension>/", form.review_dimension, name="review-dimension"),
    path("dimensions/<slug:dimension>/confirm/", form.dimension_confirm, name="dimension-confirm"),
    path("dimensions/<slug:dimension>/evidence/", evidence.evidence_create, name="evidence-create"),
    path("dimensions/<slug:dimension>/evidence/<uuid:item_id>/", evidence.evidence_change, name="evidence-change"),
    path("dimensions/<slug:dimension>/steps/", steps.step_create, name="step-create"),
    path("steps/<uuid:step_id>/", steps.step_change, name="step-change"),
]

review_urls: list[URLPattern | URLResolver] = [
    path("", reviews.review, name="review"),
    path("revise/", reviews.review_revise, name="review-revise"),
    path("revisions/<int:revision_number>/", reviews.revision, name="revision"),
    path("revisions/<int:revision_number>/snapshot.json", reviews.revision_snapshot, name="revision-snapshot"),
    path("edit/", include(edit_urls)),
    path("state/", publishing.review_state, name="review-state"),
    path("discard/", publishing.review_discard, name="review-discard"),
    path("publish/", publishing.review_publish, name="review-publish"),
    path("fact-check/", publishing.fact_check, name="fact-check"),
    path("fact-check/open/", publishing.fact_check_open, name="fact-check-open"),
    path("fact-check/close/", publishing.fact_check_close, name="fact-check-close"),
    path("fact-check/remarks/", publishing.fact_check_remark, name="fact-check-remark"),
    path("remarks/", publishing.remark_create, name="remark-create"),
    path("remarks/<uuid:remark_id>/", publishing.remark_answer, name="remark-answer"),
]

agent_urls: list[URLPattern | URLResolver] = [
    path("reviews/", reviews.review_list, name="review-list"),
    path("reviews/start/", reviews.review_start, name="review-start"),
    path("reviews/<int:number>/", include(review_urls)),
    path("evidence/<uuid:item_id>/file/", evidence.evidence_file, name="evidence-file"),
    path("steps/", steps.step_list, name="step-list"),
    path("steps/<uuid:step_id>/", steps.step_state, name="step-state"),
]

engagement_urls: list[URLPattern | URLResolver] = [
    path("", engagements.engagement_list, name="engagement-list"),
    path("new/", engagements.engagement_create, name="engagement-create"),
    path("<uuid:engagement_id>/", engagements.engagement, name="engagement"),
    path("<uuid:engagement_id>/edit/", engagements.engagement_change, name="engagement-change"),
]

urlpatterns = [
    path("<slug:client>/-/engagements/", include(engagement_urls)),
    path("<slug:client>/<slug:agent>/", include(agent_urls)),
]
