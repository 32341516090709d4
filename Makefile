# Needs Python 3.11 or later, a C++20 compiler and make; everything else goes into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find src core -type f -not -name '*.pyc' -not -name '*.so') \
           CMakeLists.txt pyproject.toml README.md LICENSE

.DEFAULT_GOAL := help
.PHONY: help demo test matrix lint docs pictures bench asan wheel smoke smoke-lowest clean

help:
	@echo "make demo   the report of German credit: demo-output/german-credit.html"
	@echo "make test   all tests"
	@echo "make matrix every estimator with every option on strange tables (MINUTES=2 SEED=1)"
	@echo "make lint   ruff, mypy, clang-format, and who includes whom in core/"
	@echo "make docs   build the documentation into build/site"
	@echo "make pictures  draw the pictures of its learner pages anew"
	@echo "make bench  compare speed with other libraries"
	@echo "make asan   kernel tests under AddressSanitizer and UBSan"
	@echo "make wheel  build a wheel into dist/"
	@echo "make smoke  install that wheel into an empty environment and try it, examples and pages"
	@echo "make smoke-lowest  the same with the lowest versions of what it requires"
	@echo "make clean  remove everything that make created"

# The build tools live in the environment too, not in a throw-away one: their paths stay the
# same, so that only what changed is compiled again.
$(VENV)/stamp-tools: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -qq --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install -qq --group build
	@touch $@

$(VENV)/stamp-package: $(VENV)/stamp-tools $(SOURCES)
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m pip install -qq --no-build-isolation '.[dev]'
	@touch $@

demo: $(VENV)/stamp-package
	$(BIN)/treewright demo --output-dir demo-output

test: $(VENV)/stamp-package
	$(BIN)/python -m pytest -q -n 2 --dist worksteal

MINUTES ?= 2
SEED ?= 1
matrix: $(VENV)/stamp-package
	$(BIN)/python -m tests.matrix --minutes $(MINUTES) --seed $(SEED)

lint: $(VENV)/stamp-package
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $$(find core -name '*.?pp')
	$(BIN)/python tools/check_rooms.py

$(VENV)/stamp-docs: $(VENV)/stamp-package
	$(BIN)/python -m pip install -qq '.[docs]' --no-build-isolation
	@touch $@

# The theme announces its successor at every build; a warning there would hide ours.
docs: $(VENV)/stamp-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "build/site/index.html"

pictures: $(VENV)/stamp-package
	$(BIN)/python docs/scripts/pictures.py
	$(BIN)/python docs/scripts/guide_figures.py
	$(BIN)/python docs/scripts/comparison_figures.py

bench: $(VENV)/stamp-package
	$(BIN)/python benchmarks/run.py

# The sanitizers' runtimes must be loaded before Python; libstdc++ beside them, because
# exceptions are thrown from a module that is loaded late. Python itself leaks on purpose.
ASAN_LIBRARIES = $(foreach name,libasan.so libubsan.so libstdc++.so,$(shell $(CXX) -print-file-name=$(name)))
asan: $(VENV)/stamp-package
	$(BIN)/cmake -S . -B build/asan -G Ninja -DCMAKE_BUILD_TYPE=Debug -DTREEWRIGHT_SANITIZE=ON \
	  -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) -DPython_EXECUTABLE=$(abspath $(BIN)/python)
	$(BIN)/cmake --build build/asan
	rm -rf build/asan/package
	mkdir -p build/asan/package
	cp -R src/treewright build/asan/package/
	$(BIN)/cmake --install build/asan --prefix build/asan/package
	PYTHONPATH=build/asan/package LD_PRELOAD="$(strip $(ASAN_LIBRARIES))" \
	  ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
	  $(BIN)/python -m pytest -q tests/kernels

# In the environment and the folder of the installed package, so that nothing is compiled again.
wheel: $(VENV)/stamp-package
	rm -rf dist
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m pip wheel -qq --no-build-isolation --no-deps \
	  --wheel-dir dist .

# An environment of the wheel and what it requires: no pandas, for the examples and pages too.
smoke: wheel
	rm -rf build/smoke
	$(PYTHON) -m venv build/smoke
	build/smoke/bin/python -m pip install -qq dist/treewright-*.whl
	cd build/smoke && bin/python ../../tools/smoke.py
	cd build/smoke && for each in ../../examples/*.py; do bin/python $$each >/dev/null || exit 1; done
	cd build/smoke && bin/python ../../tools/documents.py

smoke-lowest: wheel
	rm -rf build/lowest
	$(PYTHON) -m venv build/lowest
	build/lowest/bin/python -m pip install -qq dist/treewright-*.whl $$($(BIN)/python tools/lowest.py)
	cd build/lowest && bin/python ../../tools/smoke.py

clean:
	rm -rf $(VENV) build dist demo-output bench-output .mypy_cache .ruff_cache .pytest_cache .hypothesis
