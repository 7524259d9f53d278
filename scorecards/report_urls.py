"""Pages of what is handed over: reports, reviews side by side, an agent's history."""

from django.urls import path

from scorecards.views import compare, reports

REVISION = "<slug:client>/<slug:agent>/reviews/<int:number>/revisions/<int:revision_number>"

urlpatterns = [
    path("<slug:client>/<slug:agent>/reviews/compare/", compare.review_compare, name="review-compare"),
    path("<slug:client>/<slug:agent>/history/", compare.review_history, name="review-history"),
    path(f"{REVISION}/report/", reports.report, name="report"),
    path(f"{REVISION}/report/<slug:paper>.pdf", reports.report_download, name="report-download"),
]
