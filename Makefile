# `make run` starts everything and `make test` tests it; neither needs another step first.
# Settings are environment variables: PORT, MEMCONSOLE_HOME and those in docs/operations.md.

BIN := .venv/bin
TESTS := tests/unit tests/db tests/api tests/web tests/browser

.PHONY: help run test test-full check lint format clean venv venv-dev browser

help:
	@echo "make run        start MemConsole on this machine; Ctrl-C stops it"
	@echo "make test       run the tests"
	@echo "make test-full  run those that take long, too"
	@echo "make check      lint, types, import contracts, migrations, tests: what CI runs"
	@echo "make lint       the checks without the tests"
	@echo "make format     format the code"
	@echo "make clean      remove the environment and the caches; data stays"

run: venv
	@exec $(BIN)/python -m memconsole.embedded --with-parent

test: venv-dev browser
	@$(BIN)/python -m pytest -m "not full" $(TESTS)

test-full: venv-dev browser
	@$(BIN)/python -m pytest $(TESTS)

check: lint test

lint: venv-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy
	$(BIN)/python -W ignore::RuntimeWarning manage.py makemigrations --check --dry-run
	$(BIN)/djlint --quiet --lint templates

format: venv-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv .mypy_cache .ruff_cache .import_linter_cache .hypothesis

venv:
	@.ci/venv requirements.txt

venv-dev:
	@.ci/venv requirements-dev.txt

browser:
	@.ci/browser
