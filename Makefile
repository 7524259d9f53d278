# The everyday commands. `make demo` needs Python 3.13 and pip, nothing else.
SHELL := /bin/sh
PORT ?= 8000
export PORT
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PYTHON := $(shell for p in python3.13 python3 python "$${PYENV_ROOT:-$$HOME/.pyenv}"/versions/3.13*/bin/python; do \
	if "$$p" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 13))' >/dev/null 2>&1; then echo "$$p"; break; fi; done)

.PHONY: help install demo serve worker test test-browser lint format bench lock

help:  ## list these commands
	@grep -E '^[a-z-]+:.*##' Makefile | sed 's/:.*## /\t/' | expand -t 16

$(STAMP): requirements.lock
	@test -n "$(PYTHON)" || { echo "Python 3.13 is needed and was not found (looked for python3.13, python3, pyenv)."; exit 1; }
	@test -x $(BIN)/python || "$(PYTHON)" -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -c 'import weasyprint' >/dev/null 2>&1 || { \
		echo "WeasyPrint needs Pango. On Debian or Ubuntu: apt-get install libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0"; \
		echo "On macOS: brew install pango"; exit 1; }
	@touch $@

install: $(STAMP)  ## make .venv with the locked dependencies

demo: install  ## load the demo and serve it on 127.0.0.1, port PORT (8000 unless set)
	$(BIN)/python manage.py migrate --verbosity 0
	$(BIN)/python manage.py collectstatic --no-input --verbosity 0
	$(BIN)/python manage.py demo
	$(BIN)/python manage.py serve

serve: install  ## serve: web, worker and beat
	$(BIN)/python manage.py migrate --verbosity 0
	$(BIN)/python manage.py collectstatic --no-input --verbosity 0
	$(BIN)/python manage.py serve

worker: install  ## one more worker
	$(BIN)/python -m celery -A reliability worker -P solo --without-gossip --without-mingle --without-heartbeat --loglevel INFO

test: install  ## all tests but the browser's; PostgreSQL and Redis with DATABASE_URL and CELERY_BROKER_URL
	$(BIN)/python -m pytest -m "not browser" -n auto --dist loadfile $(ARGS)

test-browser: install  ## tests in headless Chromium
	$(BIN)/python -m pytest -m browser $(ARGS)

lint: install  ## style, types, migrations
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python manage.py makemigrations --check --dry-run

format: install  ## put the code in shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: install  ## measure speed as ratios against a baseline of the same run
	$(BIN)/python manage.py bench $(ARGS)

lock: install  ## renew requirements.lock after a change in pyproject.toml
	$(BIN)/uv pip compile --generate-hashes --no-emit-index-url --no-header --universal --python-version 3.13 \
		--group dev pyproject.toml -o requirements.lock
