"""Learning: robots as Gymnasium environments, the gallery's and your own, and a small search for policies.

    import gymnasium
    import pliant.learning                              # registers them
    env = gymnasium.make("Pliant/TrunkReach-v0")
    env = gymnasium.make("Pliant/Robot-v0", project="robot.toml")

Needs the extra: pip install "pliant[learning]".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pliant.errors import MissingExtraError
from pliant.lazy import lazy

ENVIRONMENTS = {  # name: class, steps of an episode
    "Pliant/TrunkReach-v0": ("pliant.learning.reach:TrunkReach", 60),
    "Pliant/TrunkReachAround-v0": ("pliant.learning.reach:TrunkReachAround", 100),
    "Pliant/TrunkPush-v0": ("pliant.learning.push:TrunkPush", 100),
    "Pliant/Grasp-v0": ("pliant.learning.grasp:Grasp", 100),
    "Pliant/CrawlerCrawl-v0": ("pliant.learning.crawl:CrawlerCrawl", 200),
    "Pliant/HandInHand-v0": ("pliant.learning.in_hand:HandInHand", 100),
}
OWN = "Pliant/Robot-v0"  # of a project file: gymnasium.make(OWN, project="robot.toml")
OWN_STEPS = 100  # of its episodes


def register() -> None:
    """Make the environments known to Gymnasium; importing this module does."""
    try:
        import gymnasium
    except ImportError as error:
        raise MissingExtraError("Learning", "learning") from error
    for name, (where, steps) in ENVIRONMENTS.items():
        if name not in gymnasium.registry:
            many = f"pliant.learning.vectorised:{where.split(':')[1]}"
            gymnasium.register(name, entry_point=where, vector_entry_point=many, max_episode_steps=steps)
    if OWN not in gymnasium.registry:
        gymnasium.register(OWN, entry_point="pliant.learning.own:OwnRobot", max_episode_steps=OWN_STEPS)


if TYPE_CHECKING:
    from pliant.learning.episode import Environment, Saved
    from pliant.learning.own import OwnRobot, Task, environment
    from pliant.learning.searching import Curve, Policy, search
    from pliant.learning.vectorised import Vector, vector
else:
    __getattr__ = lazy(
        __name__,
        {
            "Environment": "pliant.learning.episode",
            "Saved": "pliant.learning.episode",
            "OwnRobot": "pliant.learning.own",
            "Task": "pliant.learning.own",
            "environment": "pliant.learning.own",
            "Curve": "pliant.learning.searching",
            "Policy": "pliant.learning.searching",
            "search": "pliant.learning.searching",
            "Vector": "pliant.learning.vectorised",
            "vector": "pliant.learning.vectorised",
        },
    )
register()

__all__ = [
    "ENVIRONMENTS",
    "Curve",
    "Environment",
    "OwnRobot",
    "Policy",
    "Saved",
    "Task",
    "Vector",
    "environment",
    "register",
    "search",
    "vector",
]
