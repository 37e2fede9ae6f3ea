"""Which operation of a model follows which."""

from typing import Any

import keras
from keras import Operation

from tfaccel.rewriting.inplace import layers


def followers(model: keras.Model) -> dict[Operation, Operation]:
    """Return for an operation the only one that sees its result, where there is just one.

    Both are called once and in one place, and the result is none of the model's own, so that
    the two can become one. Models inside the model are looked through too; where a model does
    not say what follows what, as subclassed ones do not, nothing is known of its layers.
    """
    found: dict[Operation, Operation] = {}
    for one in [model, *layers(model)]:
        if isinstance(one, keras.Sequential):  # which may have no graph yet
            pairs = zip(one.layers, one.layers[1:], strict=False)
            found |= {a: b for a, b in pairs if all(len(c._inbound_nodes) < 2 for c in (a, b))}
        elif isinstance(one, keras.Model) and hasattr(one, "operations"):
            found |= _in_graph(one)
    return found


def _in_graph(model: keras.Model) -> dict[Operation, Operation]:
    users: dict[int, list[Any]] = {}  # of each tensor, the nodes that take it
    for node in _nodes(model):
        for tensor in node.input_tensors:
            users.setdefault(id(tensor), []).append(node)
    results = {id(tensor) for tensor in model.outputs}
    found = {}
    for node in _nodes(model):
        if len(node.outputs) != 1 or id(node.outputs[0]) in results:
            continue
        after = users.get(id(node.outputs[0]), [])
        calls = [
            *node.operation._inbound_nodes,
            *(n for a in after for n in a.operation._inbound_nodes),
        ]
        if len(after) == 1 and len(calls) == 2:
            found[node.operation] = after[0].operation
    return found


def _nodes(model: keras.Model) -> list[Any]:
    """Return the calls of operations that lead from the inputs to the outputs."""
    nodes: dict[int, Any] = {}
    inputs, todo = {id(tensor) for tensor in model.inputs}, list(model.outputs)
    while todo:
        tensor = todo.pop()
        history = tensor._keras_history
        node = history.operation._inbound_nodes[history.node_index]
        if id(tensor) not in inputs and id(node) not in nodes:
            nodes[id(node)] = node
            todo += node.input_tensors
    return list(nodes.values())
