"""A policy as it acts, on a page in a browser: the show, and the server that lets others see it."""
