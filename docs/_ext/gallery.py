"""Players and pages of the gallery's robots, made while the site is built."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
from reference import write_changed

FRAMES = 40  # of a player


def write(folder: Path) -> None:
    """A page for each robot: its picture, a player of its demonstration, its code."""
    import pliant
    from pliant.robots import gallery

    players = folder.parent / "extra" / "players"
    folder.mkdir(parents=True, exist_ok=True)
    players.mkdir(parents=True, exist_ok=True)
    for name, entry in gallery.items():
        path = players / f"{name}-{pliant.__version__}.html"
        if not path.exists():
            path.write_text(demonstration(entry), encoding="utf-8")
        write_changed(folder / f"{name}.md", page(name, entry, path.name))


def demonstration(entry: Any) -> str:
    """A player of a robot on the way to its demonstration's commands: equilibria in equal parts of them."""
    from pliant.io.notebook import recording_of
    from pliant.io.player import player
    from pliant.static import static

    robot, frames, state = entry.build(), [], None
    for share in np.linspace(0.0, 1.0, FRAMES // 2):
        laws = {row: scaled(law, share) for row, law in entry.laws.items()}
        result = static(robot, laws, state=state)
        state = result.state
        frames.append(result)
    return player(recording_of([*frames, *frames[::-1]], summary=entry.summary))


def scaled(law: Any, share: float) -> Any:
    """A part of an imposed effort or displacement."""
    from pliant.laws import Known

    kind = "effort" if law.effort is not None else "displacement"
    return Known(**{kind: share * np.asarray(getattr(law, kind), float)})


def page(name: str, entry: Any, player: str) -> str:
    """The page of a robot."""
    source = Path(inspect.getsourcefile(entry.build) or "").name
    rows = "\n".join(f"| `{row}` | {_told(law)} |" for row, law in entry.laws.items())
    return f"""# {name}

{entry.summary[0].upper()}{entry.summary[1:]}.

![{name}](../../images/{name}.png){{width=420px}}

In motion; drag to turn it:

```{{raw}} html
<iframe class="player" src="../../players/{player}" loading="lazy" title="{name} in motion"></iframe>
```

| row | driven to, in the demonstration |
|---|---|
{rows}

    pliant run {name}
    pliant view {name}

In Python it is `pl.robots.{name}()`. Its parameters, and its code:

```{{eval-rst}}
.. literalinclude:: ../../../pliant/robots/{source}
    :language: python
```
"""


def _told(law: Any) -> str:
    kind = "effort" if law.effort is not None else "displacement"
    return f"{kind} {np.asarray(getattr(law, kind), float).item():.4g} (SI)"
