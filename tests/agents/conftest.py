"""Puts the folder on the path, so that every test below it can import `helpers`."""

import jax
import pytest


@pytest.fixture
def double():
    """Double precision, in which a finite difference is as good as a derivative."""
    with jax.enable_x64(True):
        yield
