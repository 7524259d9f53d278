"""All addresses: the site's own first, then /{client}/… and /{client}/{agent}/…"""

from django.http import HttpRequest, HttpResponse
from django.urls import include, path

from reliability.api import api


def healthz(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok\n", content_type="text/plain")


urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("api/v1/", api.urls),
    path("accounts/", include("allauth.urls")),
    path("", include("reliability.people_urls")),
    path("", include("evals.urls")),
]
