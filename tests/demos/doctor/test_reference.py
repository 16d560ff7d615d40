"""The laws of motion that an environment's own episodes show."""

from sfm.demos.doctor.reference import reference


def test_laws_are_found():
    """Walker's velocities belong to its height and angles, all but the horizontal one."""
    env = reference("walker_walk")
    assert env.circles == [(i, i + 1) for i in range(0, 14, 2)]
    assert {law.partner for law in env.laws} == set(range(15, 24)) - {16}
    assert all(abs(law.rate / 0.025 - 1) < 0.1 for law in env.laws if law.coordinate <= 24)
