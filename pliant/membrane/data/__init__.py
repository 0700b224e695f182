"""Measurements that come with pliant."""

from __future__ import annotations

from pliant.membrane.data.rubber_band import rubber_band

__all__ = ["rubber_band"]
