from django.apps import AppConfig


class ReliabilityConfig(AppConfig):
    name = "reliability"
    label = "reliability"
