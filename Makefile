# Everything needed is git, Python 3.11 or later, pip and make: each target installs what it needs into .venv first.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint types figures results check clean

demo: .venv/.demo ## adapt between two bundled domains, print the accuracies, save a picture
	$(BIN)/python examples/demo.py

test: .venv/.dev ## run the tests; those on real data need ADREM_DATA
	$(BIN)/python -m pytest

lint: .venv/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: .venv/.dev
	$(BIN)/mypy

figures: .venv/.dev ## draw the pictures that the README and docs show
	$(BIN)/adrem bench figure toy-rotated -o docs/pictures
	$(BIN)/adrem bench figure toy-balance -o docs/pictures
	$(BIN)/python examples/demo.py docs/pictures/demo.png
	$(BIN)/python benchmarks/page_picture.py docs/pictures/page.png

TABLES := amazon-standard amazon-full office-caltech-standard office-caltech-full office-31 cross-dataset-testbed

results: .venv/.dev ## run the paper's benchmark on the data in ADREM_DATA, and make its page of the results
	$(BIN)/adrem bench run all --methods all > /dev/null
	for table in $(TABLES); do \
	  $(BIN)/adrem bench show $$table --methods all --format csv > new.csv && mv new.csv docs/results/$$table.csv; done; rm -f new.csv
	for figure in ensemble-size iterations; do \
	  $(BIN)/adrem bench figure $$figure -o docs/pictures && mv docs/pictures/$$figure.csv docs/results/; done
	$(BIN)/python benchmarks/results_page.py

check: lint types test ## all that continuous integration checks

clean:
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis demo.png

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip

.venv/.demo: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[cli,plot]"
	touch $@

.venv/.dev: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	if command -v g++ >/dev/null; then $(BIN)/python -m pip install --quiet --editable ".[oracle]"; fi
	touch $@ .venv/.demo
