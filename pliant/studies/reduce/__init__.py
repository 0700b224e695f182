"""`pliant reduce`: a robot of the gallery to a saved reduced model with a report."""

from pliant.studies.reduce.command import Options, reduce_named, reduce_robot

__all__ = ["Options", "reduce_named", "reduce_robot"]
