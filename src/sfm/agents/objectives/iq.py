"""IQ-Learn (Garg et al. 2021): a soft Q whose implied reward sets the expert apart. It needs actions.

    V(s) = Q(s, a) + entropy bonus, a ~ pi     y = gamma V(s')     rho(s, a, s') = Q(s, a) - y

    critic: -E_expert rho + E (V(s) - y) + E rho^2 / (4 c)

rho is the reward that Q implies, and the middle term what the policy gets of it. The actor climbs V. Half of
every minibatch is the expert's.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from sfm.agents.learners.base import Critics
from sfm.agents.nets import over_twins
from sfm.agents.objectives.base import Objective
from sfm.agents.objectives.cloning import draw_transitions
from sfm.agents.types import Batch, Context, Spec
from sfm.config import IQConfig


class IQ(Objective[IQConfig, tuple[()]], config=IQConfig):
    def __init__(self, config: IQConfig, spec: Spec):
        super().__init__(config, spec)
        self.critics = 1 if config.twins == "first" else 2

    def init(self, rng: np.random.Generator) -> tuple[()]:
        return ()

    def blend(self, context: Context) -> Batch:
        """As many of the expert's transitions after those from replay."""
        batch = context.batch
        expert = draw_transitions(context.key, context.demos, batch.obs.shape[0])
        replayed = batch._replace(expert=jnp.zeros_like(batch.reward))
        return jax.tree.map(lambda *rows: jnp.concatenate(rows), replayed, expert)

    def critic_loss(
        self, o: tuple[()], critics: Critics, batch: Batch, cumulant: Array
    ) -> tuple[Array, Array]:
        """(the loss, its mean over twins; y [B, 1])."""
        assert batch.expert is not None
        c, gamma = self.config, self.spec.gamma

        # one call for both, so that the actions at s and s' are independent draws
        acted = critics.pi(jnp.concatenate([batch.obs, batch.next_obs]))
        (action, next_action), (bonus, next_bonus) = (jnp.split(x, 2) for x in acted)
        v = over_twins(critics.psi(batch.obs, action), c.twins)[:, 0] + bonus  # [B]
        following_psi = critics.psi if c.bootstrap == "online" else critics.target
        following = over_twins(following_psi(batch.next_obs, next_action), c.twins)[:, 0] + next_bonus
        y = gamma * batch.mask * following
        q = critics.psi(batch.obs, batch.action)[..., 0]  # [E, B]
        rho = q - y
        everyone = jnp.full(y.shape, 1 / y.shape[0])
        expert = batch.expert / batch.expert.sum()
        earned = {
            "value": everyone @ (v - y),
            "value_expert": expert @ (v - y),
            "v0": (1 - gamma) * expert @ v,
        }[c.value_term]
        spread = jnp.square(rho) @ (everyone if c.chi_over == "all" else expert) / (4 * c.chi)  # [E]
        return (spread - rho @ expert).mean() + earned, y[:, None]
