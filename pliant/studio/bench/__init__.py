"""Figures of the studio: how fast it opens, how evenly it runs, what it costs.

`pliant bench studio` prints them.
"""

from pliant.studio.bench.measure import studio_bench

__all__ = ["studio_bench"]
