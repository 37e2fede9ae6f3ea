.PHONY: install test slow lint format train data

install:        ## the package and what its tests need, editable
	pip install -e '.[dev]'

test:           ## the quick tests: a few minutes on two cores
	python -m pytest

slow:           ## all tests that need no GPU
	python -m pytest -m "not gpu"

lint:           ## style, types, layers
	ruff check .
	ruff format --check .
	mypy
	lint-imports

format:         ## put the code in its form
	ruff check --fix .
	ruff format .

train:          ## the main job
	python -m tfaccel.recipes.mobilenet

data:           ## make the bundled data set again (apt-get install dataset-fashion-mnist)
	python scripts/build_fashion_mnist.py
