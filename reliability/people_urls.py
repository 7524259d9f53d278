"""Pages of people and clients."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
