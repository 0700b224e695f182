"""The numbers of a result as plain data: what a report prints and `result.json` holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pliant.result import Certificate, Result


def result_data(results: Sequence[Result]) -> dict[str, Any]:
    """Everything worth keeping of a load path, ready for JSON; SI units."""
    import pliant

    last = results[-1]
    robot = last.robot
    rows = {}
    for name, row in robot.rows.items():
        rows[name] = {
            "kind": type(row.interaction).__name__,
            "role": row.law.role,
            "unit": row.interaction.unit,
            "effort_unit": row.interaction.effort_unit,
            "displacement": last.displacement[name].tolist(),
            "effort": last.effort[name].tolist(),
        }
    return {
        "robot": robot.name,
        "pliant": getattr(pliant, "__version__", ""),
        "rows": rows,
        "certificate": certificate_data(last.certificate),
        "events": [str(event) for result in results for event in result.events],
        "timings": {stage: float(t) for stage, t in last.timings.items()},
        "bodies": [body_facts(body) for body in robot.bodies],
        "gravity": robot.gravity.tolist(),
        "path": [
            {
                "displacement": {name: r.displacement[name].tolist() for name in robot.rows},
                "effort": {name: r.effort[name].tolist() for name in robot.rows},
                "iterations": r.certificate.iterations,
                "seconds": float(r.timings.get("total", np.nan)),
            }
            for r in results
        ],
    }


def certificate_data(certificate: Certificate) -> dict[str, Any]:
    """A certificate for JSON."""
    names = ("status", "residual", "decrement", "constraint", "iterations", "load_steps", "shift", "negative")
    return {name: getattr(certificate, name) for name in names}


def body_facts(body: Any) -> dict[str, Any]:
    """Mesh, material and mass of a body."""
    mesh = body.mesh
    return {
        "element": body.element,
        "nodes": len(mesh.nodes),
        "cells": len(mesh.cells),
        "unknowns": int(body.ndof),
        "volume": float(body.volume),
        "size": np.ptp(mesh.nodes, axis=0).tolist(),
        "material": material_text(body),
    }


def material_text(body: Any) -> str:
    """The material law, or those of the regions, in words."""
    material = body.material
    if isinstance(material, dict):
        return "; ".join(f"region {region}: {_law(law)}" for region, law in material.items())
    return body.element if material is None else _law(material)


def _law(material: Any) -> str:
    young, poisson = getattr(material, "young_modulus", None), getattr(material, "poisson_ratio", None)
    name = type(material).__name__
    if young is None:
        return name
    return f"{name}, E = {young / 1e3:.4g} kPa, ν = {poisson:.3g}"


def certificate_words(certificate: Certificate, length: float) -> str:
    """What a certificate means, for a reader who has not met one; `length` is the robot's [m]."""
    if not certificate.converged:
        return (
            f"Not converged after {certificate.iterations} Newton iterations: the forces still differ by "
            f"{certificate.residual:.1e} of the load. Do not use these numbers."
        )
    words = (
        f"Converged: forces balance to {certificate.residual:.0e} of the load, the shape is within "
        f"{_length(certificate.decrement)} of equilibrium, "
        f"and imposed values hold to {_length(certificate.constraint * length)}. "
        f"{certificate.iterations} Newton iterations in {certificate.load_steps} load step(s)."
    )
    if certificate.negative:
        words += (
            " The stiffness has negative pivots: without the imposed values this state would not be stable."
        )
    if certificate.shift:
        words += " The tangent was regularised in the last iteration."
    return words


def _length(metres: float) -> str:
    for unit, factor in (("mm", 1e3), ("µm", 1e6), ("nm", 1e9)):
        if metres * factor >= 0.1:
            return f"{metres * factor:.2g} {unit}"
    return "less than 0.1 nm"
