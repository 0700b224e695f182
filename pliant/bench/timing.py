from pliant.timing import *  # noqa: F403
