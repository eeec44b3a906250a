# Everything needed is git, Python 3.11 or later, pip and make: each target installs what it needs into .venv first.
PYTHON ?= python3
BIN := .venv/bin
OLDEST := .venv-oldest/bin
# How many processes share the tests; each trains on one thread. `make test WORKERS=0` runs them in one.
WORKERS ?= 2
PYTEST := -m pytest -n $(WORKERS) --dist worksteal
test test-thorough test-oldest check-dist: export OMP_NUM_THREADS = 1
# The compatibility tests: what has to work with other versions, and as installed: the model, its files and the command line.
CORE := $(addprefix tests/, algorithm/test_adrem.py algorithm/test_sources.py base/test_validation.py test_golden.py \
  test_no_network.py test_package.py persistence cli/test_adapt.py cli/test_app.py columns machines/test_compiled.py reports/test_page.py)

.PHONY: demo test test-all test-thorough test-oldest docs torture torture-quick torture-full dist check-dist audit lint types figures results check clean

demo: .venv/.demo ## adapt between two bundled domains, print the accuracies, save a picture
	$(BIN)/python examples/demo.py

test: .venv/.dev ## run the fast tests
	$(BIN)/python $(PYTEST) -m "not nightly and not thorough"

test-all: test test-thorough ## run the rest too: real data (ADREM_DATA), browsers, Spark (a JDK), PyTorch, and what takes longer

test-thorough: .venv/.all
	$(BIN)/python $(PYTEST) -m "thorough and not nightly"

test-oldest: .venv-oldest/.test ## run the compatibility tests with the lowest versions that pyproject.toml allows
	$(OLDEST)/python $(PYTEST) $(CORE)

torture: .venv/.torture ## feed it bad input, bad files, faults and load, and count what it takes; under 20 minutes
	$(BIN)/python -m torture --output docs/results/torture.csv --page docs/robustness.md

torture-quick: .venv/.torture ## a part of it: inputs, files, models, fuzzing and faults
	$(BIN)/python -m torture --quick

torture-full: .venv/.torture ## the same for hours, with very large data
	$(BIN)/python -m torture --full --output docs/results/torture-full.csv

dist: .venv/.dev ## build the wheel and the sdist
	rm -rf dist
	$(BIN)/python -m pip install --quiet --editable ".[dist]"
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m twine check --strict dist/*

check-dist: dist ## install the wheel in a clean environment, and run the compatibility tests of the sdist against it
	$(BIN)/python .ci/check_dist.py dist $(PYTEST) $(CORE)

audit: ## look up what an installation brings among the known vulnerabilities; what can't be looked up is an error
	$(PYTHON) -m venv --clear build/audit
	build/audit/bin/python -m pip install --quiet --upgrade pip
	build/audit/bin/python -m pip install --quiet ".[bench]"
	build/audit/bin/python -m pip freeze --exclude adrem > build/audit.txt
	build/audit/bin/python -m pip install --quiet pip-audit
	build/audit/bin/pip-audit --strict --no-deps --disable-pip --requirement build/audit.txt

docs: .venv/.docs ## build the pages into build/site, and follow every link in them
	$(BIN)/python .ci/gallery.py examples/gallery docs/gallery
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	$(BIN)/python .ci/check_site.py build/site

lint: .venv/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports
	$(BIN)/python .ci/check_house.py

types: .venv/.dev
	$(BIN)/mypy

figures: .venv/.dev ## draw the pictures that the README and docs show
	$(BIN)/adrem bench figure toy-rotated -o docs/pictures
	$(BIN)/adrem bench figure toy-balance -o docs/pictures
	$(BIN)/python examples/demo.py docs/pictures/demo.png
	$(BIN)/python benchmarks/page_picture.py docs/pictures/page.png
	$(BIN)/python benchmarks/tour_pictures.py docs/pictures
	$(BIN)/python benchmarks/house_picture.py docs/pictures/house.png

TABLES := amazon-standard amazon-full office-caltech-standard office-caltech-full office-31 cross-dataset-testbed

results: .venv/.dev ## run the paper's benchmark on the data in ADREM_DATA, and make its page of the results
	$(BIN)/adrem bench run all --methods all > /dev/null
	for table in $(TABLES); do \
	  $(BIN)/adrem bench show $$table --methods all --format csv > new.csv && mv new.csv docs/results/$$table.csv; done; rm -f new.csv
	for figure in ensemble-size iterations; do \
	  $(BIN)/adrem bench figure $$figure -o docs/pictures && mv docs/pictures/$$figure.csv docs/results/; done
	$(BIN)/python benchmarks/results_page.py

check: lint types test-all docs test-oldest ## all that .ci/run checks

clean:
	rm -rf .venv .venv-oldest build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis demo.png

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

.venv/.docs: .venv/.demo
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	touch $@

# One version of PyTorch for the tests, so that every run tests the same one, and packages of gigabytes are fetched once.
TORCH := torch==2.13.0

.venv/.all: .venv/.dev
	$(BIN)/python -m pip install --quiet $(TORCH) --editable ".[deep,gpu,spark]"
	touch $@

.venv/.torture: .venv/.dev
	$(BIN)/python -m pip install --quiet --editable ".[torture]"
	touch $@

.venv-oldest/.test: pyproject.toml .github/oldest.txt
	$(PYTHON) -m venv --clear .venv-oldest
	$(OLDEST)/python -m pip install --quiet --upgrade pip
	$(OLDEST)/python -m pip install --quiet --constraint .github/oldest.txt --editable ".[test]"
	touch $@
