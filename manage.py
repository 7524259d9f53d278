#!/usr/bin/env python
"""Django's command line. Importing `reliability` has put the data folder in place."""

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "reliability.settings")
    execute_from_command_line(sys.argv)
