"""Meshes: read, write, generate, select, inspect."""

from pliant.mesh.elements import ELEMENTS, element
from pliant.mesh.files import read, read_sheet, write
from pliant.mesh.generate.bellows import bellows
from pliant.mesh.generate.box import box
from pliant.mesh.generate.cavity import block_with_cavity
from pliant.mesh.generate.cylinder import cylinder, tube
from pliant.mesh.generate.finger import finger, finger_cable
from pliant.mesh.generate.grid import from_voxels
from pliant.mesh.generate.pneunet import pneunet
from pliant.mesh.generate.sheets import (
    disc_sheet,
    mapped_sheet,
    pillow_sheet,
    sheet,
    sphere_sheet,
    tube_sheet,
)
from pliant.mesh.generate.sphere import hollow_sphere
from pliant.mesh.generate.tower import tower
from pliant.mesh.generate.tripod import tripod
from pliant.mesh.generate.trunk import trunk, trunk_cables
from pliant.mesh.lines import Lines, curve, helix, line, tree
from pliant.mesh.mesh import Mesh, join
from pliant.mesh.quadrature import quadrature
from pliant.mesh.quality import Quality, quality
from pliant.mesh.select import inside_box, inside_cylinder, inside_sphere, near_plane, where
from pliant.mesh.sheets import Sheet, join_sheets
from pliant.mesh.surface import Surface, cavity_surfaces

__all__ = [
    "ELEMENTS",
    "Lines",
    "Mesh",
    "Quality",
    "Sheet",
    "Surface",
    "bellows",
    "block_with_cavity",
    "box",
    "cavity_surfaces",
    "curve",
    "cylinder",
    "disc_sheet",
    "element",
    "finger",
    "finger_cable",
    "from_voxels",
    "helix",
    "hollow_sphere",
    "inside_box",
    "inside_cylinder",
    "inside_sphere",
    "join",
    "join_sheets",
    "line",
    "mapped_sheet",
    "near_plane",
    "pillow_sheet",
    "pneunet",
    "quadrature",
    "quality",
    "read",
    "read_sheet",
    "sheet",
    "sphere_sheet",
    "tower",
    "tree",
    "tripod",
    "trunk",
    "trunk_cables",
    "tube",
    "tube_sheet",
    "where",
    "write",
]
