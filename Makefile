# Two commands for a newcomer: `make demo` and `make test`. Both set up .venv on first use.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint bench docs docs-links docs-check release clean

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet -e ".[dev]"
	touch $@

demo: $(VENV)/.ready
	$(BIN)/pliant run trunk --out results/trunk

test: $(VENV)/.ready
	$(BIN)/pytest -n 2 --dist loadfile

lint: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

bench: $(VENV)/.ready
	$(BIN)/pliant bench

docs: $(VENV)/.ready
	$(BIN)/pip install --quiet -e ".[docs]"
	$(BIN)/sphinx-build -q -W --keep-going -b html docs results/site
	@echo "Look at results/site/index.html"

docs-links: docs
	$(BIN)/python tools/check_links.py results/site

docs-check: docs
	$(BIN)/python tools/check_site.py results/site

release: $(VENV)/.ready
	$(BIN)/pip install --quiet build
	$(BIN)/python tools/release.py results/release

clean:
	rm -rf $(VENV) results docs/generated .pytest_cache .ruff_cache
