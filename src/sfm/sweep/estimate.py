"""About how long jobs take: a guess by their sizes, corrected by those that have been measured."""

from collections.abc import Iterable

from sfm.config import Config

START = 6.0  # seconds until a process trains
STEP = 1.5e-4  # seconds of an environment step, its evaluations with it
UPDATE = {"td3": 1e-3, "td7": 6e-3, "stochastic": 4e-3}  # seconds of an update of small networks,
PRODUCT = 1.5e-10  # and of large ones, for each row of a batch and square of a width
ANOTHER_SEED = 0.8  # what it costs beside one, in the same process


def seconds(config: Config) -> float:
    """Of a whole run on a core of 2025; docs/findings-speed.md has what this was fitted to."""
    features = getattr(config.objective, "features", None)
    squares = config.learner.width**2 + (features.width**2 if features else 0)
    update = UPDATE[config.learner.kind] + PRODUCT * config.schedule.batch * squares
    one = config.schedule.steps * STEP + config.updates * update
    return START + one * (1 + ANOTHER_SEED * (config.seeds - 1))


def correction(measured: Iterable[tuple[float, float]]) -> float:
    """By how much guesses were wrong: from pairs of (guessed, measured) seconds; 1 if there are none."""
    pairs = list(measured)
    guessed = sum(guess for guess, _ in pairs)
    return sum(took for _, took in pairs) / guessed if guessed else 1.0


def in_words(seconds: float) -> str:
    """'40 s', '7 min', '3.5 h', '2.1 days'."""
    for unit, size, most in (("s", 1.0, 90.0), ("min", 60.0, 90.0), ("h", 3600.0, 48.0)):
        if seconds < most * size:
            value = seconds / size
            return f"{value:.1f} {unit}" if unit == "h" and value < 10 else f"{value:.0f} {unit}"
    return f"{seconds / 86_400:.1f} days"
