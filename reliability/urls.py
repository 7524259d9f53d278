"""All addresses: the site's own first, then /{client}/… and /{client}/{agent}/…"""

from django.http import HttpRequest, HttpResponse
from django.urls import include, path

from reliability.api import api
from scorecards.views import portfolio


def healthz(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok\n", content_type="text/plain")


handler500 = "reliability.views.errors.server_error"

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("api/v1/", api.urls),
    path("accounts/", include("allauth.urls")),
    path("", portfolio.home, name="home"),
    path("", include("reliability.people_urls")),
    path("<slug:client>/", portfolio.client, name="client"),
    path("<slug:client>/<slug:agent>/", portfolio.agent, name="agent"),
    path("", include("scorecards.report_urls")),
    path("", include("scorecards.urls")),
    path("", include("evals.urls")),
]
