"""The least FLOPs of an update against what XLA executes."""

import dataclasses

import pytest

from benchmarks.flops import Product, executed, products
from benchmarks.least import Net, least
from sfm.presets import PRESETS, preset


def test_dense_layers_by_hand():
    net = Net((2, 3, 4))  # 6 and 12 weights
    assert net.forward == 2 * 18
    assert net.passed(inputs=1) == 2 * 18 + 2 * 12 + 2 * 3
    assert net.trained(inputs=1) == net.passed(inputs=1) + 2 * 18


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_has_a_least_that_grows_with_its_batch(name: str):
    config = preset(name)
    larger = dataclasses.replace(config.schedule, batch=2 * config.schedule.batch)
    assert 0 < least(config) < least(dataclasses.replace(config, schedule=larger)) <= 2 * least(config)


@pytest.mark.parametrize("name", ["sfm-td7-cpu", "bc"])
def test_no_less_is_executed_and_little_more(name: str):
    config = preset(name)
    assert 0.85 < least(config) / executed(config) <= 1


def test_the_products_of_an_update_are_most_of_what_it_executes():
    config = preset("bc")
    counts = products(config)
    flops = sum(n * product.flops for product, n in counts.items())
    assert least(config) <= flops * (1 + 1e-9)
    assert flops < executed(config)
    batch, width = config.schedule.batch, config.learner.width
    # the hidden layer of the actor: forward, and backward to its input and to its weights
    assert counts[Product(1, batch, width, width)] + counts.get(Product(1, width, batch, width), 0) >= 3
