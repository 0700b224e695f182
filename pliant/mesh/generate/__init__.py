"""Parametric shapes. All lengths in metres."""
