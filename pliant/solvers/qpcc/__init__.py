"""The inverse problem with contact: a quadratic program with complementarity constraints (QPCC).

    problem       the checked arrays of eq. 7 of Coevoet et al. 2017, and their scaling (scaled)
    region        where the same contacts push; pivots from one region to the next
    working_set   bounds and borders that hold as equations; newton_step keeps them
    descent       from a point to a local minimum, region by region
    search        several descents (starts) and the best of them; proof says where one is enough
    solution      what comes out, with its certificate
    decomposition the paper's own method; enumeration visits every region and proves the global optimum

A contact mode is a set of contacts that push; a region is where the same mode holds.
"""

from pliant.solvers.qpcc.solve import descent, qpcc, watching

__all__ = ["descent", "qpcc", "watching"]
