"""Imitation from states alone, by Successor Feature Matching."""
