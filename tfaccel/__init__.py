"""Train Keras models faster on TensorFlow, and show by how much."""

import lazy_loader

__version__ = "0.1.0"

# The public names are those of __init__.pyi, imported when they are first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
