"""What is around a robot, from what a project file says."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.contact import Samples, Surroundings
from pliant.contact.obstacles import KINDS
from pliant.mesh import Surface
from pliant.project.along import points_along
from pliant.project.fault import Source
from pliant.project.rows import Bodies, patch
from pliant.project.schema import ProjectSpec
from pliant.project.schema_contact import FacetsSpec, SamplesSpec

FINEST = 1e-3  # of the body's size: samples that are nearer are a slip, and would fill the memory


def surroundings_of(source: Source, spec: ProjectSpec, bodies: Bodies) -> Surroundings:
    """Obstacles, samples and what may touch what."""
    met = []
    for name, said in spec.obstacles.items():
        numbers = said.model_dump(exclude={"kind"}, exclude_unset=True)
        with source.at("obstacles", name):
            met.append(KINDS[said.kind](name=name, **numbers))
    contact = spec.contact
    samples, against = (
        [_samples(source, said, bodies, ("contact", key, k)) for k, said in enumerate(getattr(contact, key))]
        for key in ("samples", "against_obstacles")
    )
    return Surroundings(
        met,
        samples=samples or None,
        against_obstacles=against or None,
        self_contact=_itself(source, spec, bodies),
        between_bodies=contact.between_bodies,
        alarm=contact.alarm,
        margin=contact.margin,
        friction=dict(contact.friction) if isinstance(contact.friction, dict) else contact.friction,
    )


def _samples(source: Source, said: SamplesSpec, bodies: Bodies, here: tuple) -> Samples:
    body = bodies.get(said.body, here)
    if said.spacing is not None and said.spacing < FINEST * body.mesh.size:
        least = f"at least {FINEST * body.mesh.size:.2g} m, a thousandth of the body"
        raise source.fault((*here, "spacing"), expected=least, got=said.spacing)
    with source.at(*here):
        if said.along is not None:
            balls = points_along(source, said.along, body, (*here, "along"))
            return Samples.around(balls, np.array(said.radius, float))
        if said.points is not None:
            return Samples.around(body.points(said.points), np.array(said.radius, float))
        where = None if said.facets is None else patch(source, body, said.facets, (*here, "facets"))
        return Samples.on(body, where, spacing=said.spacing, mid_nodes=said.mid_nodes)


def _itself(source: Source, spec: ProjectSpec, bodies: Bodies) -> Any:
    said = spec.contact.itself
    if isinstance(said, bool):
        return said
    return [
        tuple(
            _patch(source, getattr(pair, side), bodies, ("contact", "itself", k, side))
            for side in ("one", "other")
        )
        for k, pair in enumerate(said)
    ]


def _patch(source: Source, said: FacetsSpec, bodies: Bodies, here: tuple) -> Surface:
    body = bodies.get(said.body, here)
    if said.facets is None:
        return body.mesh.surface
    return patch(source, body, said.facets, (*here, "facets"))
