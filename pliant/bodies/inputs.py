"""Checks of what a user gives to a solid body."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pliant.errors import InputError
from pliant.materials.material import Material
from pliant.materials.mullins import Mullins
from pliant.mesh import Mesh


def elevated(mesh: Any, order: int) -> Mesh:
    """The mesh that a body of this order uses: tetrahedra of order 2 have mid nodes."""
    if not isinstance(mesh, Mesh):
        raise InputError("mesh", expected="a pliant Mesh", got=type(mesh).__name__)
    if order not in (1, 2):
        raise InputError("order", expected="1 or 2", got=order)
    if order == 1 and mesh.element.order == 2:
        hint = "mesh.linear() drops the mid nodes."
        raise InputError("order", expected=f"2 for a {mesh.kind} mesh", got=1, hint=hint)
    return mesh.quadratic() if mesh.kind == "tet4" and order == 2 else mesh


def checked_material(material: Any, mesh: Mesh) -> Material | dict[int, Material]:
    """One material, or a dictionary that has one for every region of the mesh."""
    if isinstance(material, Material):
        return material
    if not (isinstance(material, Mapping) and all(isinstance(law, Material) for law in material.values())):
        expected = "a Material, or a dictionary from region to Material"
        raise InputError("material", expected=expected, got=type(material).__name__)
    missing = missing_regions(material, mesh)
    if missing:
        got = f"regions {sorted(material)}"
        raise InputError("material", expected=f"a Material for region {missing[0]}", got=got)
    return dict(material)


def refuse_softening(law: Material, kind: str) -> None:
    """Raise InputError for a law that softens, on a body that does not remember what it has been through."""
    if isinstance(law, Mullins):
        raise InputError(f"material of {kind}", expected="a law that does not soften", got="Mullins")


def missing_regions(values: Mapping[int, Any], mesh: Mesh) -> list[int]:
    """Regions of the mesh that have no value."""
    return sorted(set(np.unique(mesh.regions).tolist()) - set(values))
