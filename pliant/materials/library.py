"""Materials that soft robots are made of, each figure with its source.

Published figures for one product differ by a factor of two: batch, cure, rate, strain range and how strain
was measured all matter. Use these to start; test your own sample to predict. 'Second-hand' marks a figure
taken from work that quotes the source, not from the source itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..errors import unknown_name
from .hooke import Hooke
from .incompressible import Incompressible
from .material import check_poisson
from .neo_hookean import NeoHookean
from .ogden import Ogden
from .rubber import Rubber
from .yeoh import Yeoh

_PSI = 6894.757  # Pa


@dataclass(frozen=True)
class Record:
    """One row: the incompressible law of a material, its density [kg/m³] and where the figures come from."""

    name: str
    density: float
    law: NeoHookean | Rubber
    source: str

    @property
    def young(self) -> float:
        """E = 3μ [Pa] at rest."""
        return 3.0 * self.law.shear_modulus

    def material(self, poisson: float = 0.49) -> NeoHookean | Rubber:
        """The law as published, with the bulk modulus that gives Poisson's ratio at rest."""
        check_poisson(f"{self.name}: poisson", poisson)
        mu = self.law.shear_modulus
        bulk = 2.0 * mu * (1.0 + poisson) / (3.0 * (1.0 - 2.0 * poisson))
        return self.law.with_bulk(bulk)

    def incompressible(self) -> Incompressible:
        """The law as published, keeping its volume exactly."""
        return Incompressible(self.law)

    def hooke(self, poisson: float = 0.49) -> Hooke:
        """Corotational Hooke with the same modulus at rest: faster, for stretches up to about 1.3."""
        check_poisson(f"{self.name}: poisson", poisson)
        return Hooke(young=2.0 * self.law.shear_modulus * (1.0 + poisson), poisson=poisson)


class Library(Mapping[str, Record]):
    """Records by name; upper and lower case are the same."""

    def __init__(self, *records: Record) -> None:
        self._records = {record.name: record for record in records}

    def __getitem__(self, name: str) -> Record:
        key = " ".join(str(name).lower().split())
        if key not in self._records:
            raise unknown_name("material", key, self._records)
        return self._records[key]

    def __contains__(self, name: object) -> bool:
        return " ".join(str(name).lower().split()) in self._records

    def __iter__(self) -> Iterator[str]:
        return iter(self._records)

    def __len__(self) -> int:
        return len(self._records)


def _tensile_fit(name: str, density: float, mu: float, alpha: float, error: int, psi: float) -> Record:
    """A Smooth-On silicone: one Ogden term for the tensile test in the Soft Robotics Materials Database."""
    datasheet = 3.0 * psi * _PSI / 1.75
    return Record(
        name,
        density,
        Ogden(mu=[mu], alpha=[alpha]),
        f"One-term Ogden fit (ours, stretch 1.25 to 4, error up to {error} %) to the tensile data of "
        "Marechal et al., 'Toward a common framework and database of materials for soft robotics', Soft "
        "Robotics 2021 (github.com/LucMarechal/Soft-Robotics-Materials-Database, ODbL; crosshead strain, "
        "450 mm/min). Density: Smooth-On technical bulletin (second-hand), whose 100 % modulus of "
        f"{psi:g} psi would give E = 3σ/1.75 = {datasheet / 1e3:.0f} kPa.",
    )


library = Library(
    _tensile_fit("ecoflex 00-10", 1040.0, 4.483e3, 2.800, 5, 8.0),
    _tensile_fit("ecoflex 00-30", 1070.0, 12.23e3, 2.357, 6, 10.0),
    _tensile_fit("ecoflex 00-50", 1070.0, 15.65e3, 2.498, 2, 12.0),
    _tensile_fit("dragon skin 10", 1070.0, 28.16e3, 3.039, 8, 22.0),
    _tensile_fit("dragon skin 20", 1080.0, 80.74e3, 2.983, 10, 49.0),
    _tensile_fit("dragon skin 30", 1080.0, 126.4e3, 2.833, 6, 86.0),
    Record(
        "elastosil m4601",
        1130.0,
        Yeoh(c1=0.11e6, c2=0.02e6),
        "Yeoh constants c1 = 0.11 MPa, c2 = 0.02 MPa, usual since Polygerinos et al., 'Towards a soft "
        "pneumatic glove for hand rehabilitation', IROS 2013 (second-hand). Density: Wacker data sheet "
        "(Shore A 28; second-hand).",
    ),
    Record(
        "smooth-sil 950",
        1240.0,
        NeoHookean.from_shear(272.0 * _PSI / 1.75),
        "Derived from the 100 % modulus, 272 psi, of the Smooth-On bulletin (Shore A 50; second-hand) "
        "by the neo-Hookean σ = μ(λ − 1/λ²) at λ = 2: μ = σ/1.75, E = 3μ. Density: bulletin.",
    ),
    Record(
        "sylgard 184",
        1030.0,
        NeoHookean(young=1.32e6),
        "E = 1.32 MPa (cured at 25 °C; 2.97 MPa when cured at 200 °C): Johnston et al., 'Mechanical "
        "characterization of bulk Sylgard 184', J. Micromech. Microeng. 24, 2014 (abstract). Density: Dow "
        "data sheet (second-hand).",
    ),
    Record(
        "ninjaflex 85a",
        1190.0,
        NeoHookean(young=12.0e6),
        "TPU, Shore A 85. Tensile modulus 12 MPa and specific gravity 1.19: NinjaTek technical data sheet "
        "(second-hand). Printed parts are softer across layers and depend on infill.",
    ),
    Record(
        "agilus30",
        1140.0,
        NeoHookean(young=1.15e6),
        "Derived from Shore A 30 (Stratasys data sheet, second-hand) by Gent's relation "
        "E = 0.0981(56 + 7.66 S)/(0.1375(254 − 2.54 S)) MPa. Strongly viscoelastic: stiffer when loaded "
        "fast, and it creeps. Density: data sheet, 1.14 to 1.15 g/cm³.",
    ),
)
"""The table; `library["ecoflex 00-30"]` is a Record."""
