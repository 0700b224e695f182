"""Reduced models on disk: one .npz of plain arrays and a line of JSON. Nothing in it is ever executed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from pliant.contact import ContactBasis
from pliant.files import read_saved, reading
from pliant.reduction.ecsw import Sampling
from pliant.reduction.fingerprint import Fingerprint
from pliant.reduction.model import ReducedModel
from pliant.reduction.state_basis import StateBasis

FORMAT, VERSION = "pliant reduced model", 1


def save(model: ReducedModel, path: str | Path) -> Path:
    """Write a model, at once or not at all."""
    path = Path(path)
    facts = {
        "format": FORMAT,
        "version": VERSION,
        "fingerprint": model.fingerprint.data(),
        "body": model.body,
        "kind": model.basis.kind,
        "skipped": list(model.basis.skipped),
        "facts": dict(model.facts),
    }
    arrays: dict[str, Any] = {"modes": model.basis.modes, "values": model.basis.values}
    if model.sampling is not None:
        s = model.sampling
        facts["sampling"] = {"every": s.every, "error": s.error, "snapshots": s.snapshots}
        arrays |= {"cells": s.cells, "weights": s.weights}
    if model.contact is not None:
        plain = {f.name: getattr(model.contact, f.name) for f in fields(ContactBasis)}
        arrays |= {f"contact/{name}": value for name, value in plain.items() if isinstance(value, np.ndarray)}
        facts["contact"] = {name: value for name, value in plain.items() if not isinstance(value, np.ndarray)}
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    with draft.open("wb") as file:
        np.savez_compressed(file, facts=np.array(json.dumps(facts)), **arrays)
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, path)
    return path


def load(path: str | Path) -> ReducedModel:
    """A saved model; `model.on(robot)` makes the reduced robot, and refuses robots it was not made from."""
    with reading(path, "reduced model", "a file that pliant wrote") as file:
        return _assembled(*read_saved(file, FORMAT, VERSION))


def _assembled(facts: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> ReducedModel:
    basis = StateBasis(arrays["modes"], facts["kind"], arrays["values"], tuple(facts["skipped"]))
    sampling = None
    if "sampling" in facts:
        sampling = Sampling(arrays["cells"], arrays["weights"], **facts["sampling"])
    contact = None
    if "contact" in facts:
        own = {name.removeprefix("contact/"): a for name, a in arrays.items() if name.startswith("contact/")}
        given = facts["contact"] | {"opponents": tuple(facts["contact"]["opponents"])}
        contact = ContactBasis(**own, **given)
    fingerprint = Fingerprint.from_data(facts["fingerprint"])
    return ReducedModel(fingerprint, basis, sampling, int(facts["body"]), contact, facts["facts"])
