"""A folder that tells what a recording holds: pictures, curves over time, and what happened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import is_number
from pliant.io import page
from pliant.io.notes import PUNCTUAL
from pliant.io.plots import time_plot
from pliant.io.recording import Recording
from pliant.stage import RowFacts
from pliant.units import number, quantity

PICTURES = 3
EVENTS = 40  # lines of the table
ENDS = {
    "done": "came to its end",
    "stopped": "was stopped",
    "failed": "failed",
    "watchdog": "was ended by the watchdog",
}


def run_report(recording: Recording | str | Path, folder: str | Path) -> Path:
    """Write what a recording holds to a folder; returns its index.html, beside signals.csv and pictures."""
    run = recording if isinstance(recording, Recording) else Recording.read(recording)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    happened = list(_events(run))
    ended = [note for note in run.notes if note.kind == "event"]
    parts = [page.heading(run.stage.robot.capitalize() or "Recording", 1), page.paragraph(_lead(run), "lead")]
    parts += _pictures(run, folder)
    if ended:
        parts.append(_end(ended[-1].data))
    elif run.notes:
        text = "The recording breaks off: the program was killed, or still runs."
        parts.append(page.paragraph(text, "status bad"))
    curves = [*_frame_curves(run), *_device_curves(run)]
    parts += [page.heading("Over time"), page.side_by_side(curves)] if curves else []
    parts += _stages(run)
    if happened:
        rows = [[f"{t:.2f} s", what] for t, what in happened[:EVENTS]]
        more = len(happened) - EVENTS
        parts += [page.heading("What happened"), page.table(("time", "what"), rows, numbers=(0,))]
        parts += [page.paragraph(f"And {more} more.")] if more > 0 else []
    if run.frames:
        run.to_csv(folder / "signals.csv")
        parts.append(page.footer("Beside this page: ", page.link("signals.csv"), ", in SI units."))
    index = folder / "index.html"
    index.write_text(page.page(f"{run.stage.robot} · pliant", parts), "utf-8")
    return index


def _end(said: Mapping[str, Any]) -> page.Markup:
    """How a run ended, in words.

    One that came to its end but missed its deadlines did not do what the model did.
    """
    reason = f": {said['reason']}" if said.get("reason") else ""
    how = ENDS.get(str(said.get("what")), f"ended: {said.get('what')}")
    met: Any = said.get("met")
    late = is_number(met) and met < PUNCTUAL
    share = f" Only {100 * met:.3g} % of its deadlines were met." if late else ""
    bad = late or said.get("what") not in ("done", None)
    return page.paragraph(f"The run {how}{reason}.{share}", "status bad" if bad else "status")


def _lead(run: Recording) -> str:
    sent = [n for n in run.notes if n.kind == "sent"]
    parts = [f"{len(run)} frames"] if len(run) else ["No frames"]
    if len(run) > 1:
        t = _times(run)
        parts[0] += f" over {t[-1] - t[0]:.2f} s"
    parts += [f"{len(sent)} commands to devices"] if sent else []
    counts = Counter(n.data["sensor"] for n in run.notes if n.kind == "reading")
    parts += [f"{count} readings of {name}" for name, count in counts.items()]
    return f"{run.stage.summary.rstrip('.')}. {', '.join(parts)}.".lstrip(". ")


def _pictures(run: Recording, folder: Path) -> list[page.Markup]:
    if not run.frames:
        return []
    chosen = sorted({0, len(run) // 2, len(run) - 1})[:PICTURES]
    short = Recording(run.stage, tuple(run.frames[k] for k in chosen))
    paths, t = short.to_png(folder), _times(run)
    shown = [
        page.photo(path.read_bytes(), f"{t[k]:.2f} s: {run.frames[k].words}")
        for k, path in zip(chosen, paths, strict=True)
    ]
    return [page.side_by_side(shown)]


def _groups(run: Recording, role: str, unit: str) -> Iterator[tuple[str, list[RowFacts]]]:
    """Rows of a role by what they are measured in."""
    rows: dict[str, list[RowFacts]] = {}
    for row in run.stage.by_role(role):
        rows.setdefault(getattr(row, unit), []).append(row)
    yield from rows.items()


def _frame_curves(run: Recording) -> Iterator[page.Markup]:
    """Errors of effectors, efforts and displacements of actuators, contact force."""
    if len(run) < 2:
        return
    t = _times(run)
    marks = [n.time for n in run.notes if n.kind == "event"]
    measured = _readings(run)
    for unit, rows in _groups(run, "effector", "unit"):
        far = {r.name: (t, [f.distance.get(r.name, np.nan) for f in run]) for r in rows}
        if np.isfinite([y for _, ys in far.values() for y in ys]).any():
            yield page.drawing(
                time_plot(far, unit, "distance to the target", marks=marks), "Of the model's effectors."
            )
    for unit, rows in _groups(run, "effector", "unit"):
        both = _against(run, rows, measured)
        if both:
            text = "How far the effectors that sensors saw are from the model's."
            yield page.drawing(time_plot(both, unit, "measured − model", marks=marks), text)
    for unit, rows in _groups(run, "actuator", "effort_unit"):
        efforts = {r.name: (t, [f.effort[r.name][0] for f in run]) for r in rows if r.size == 1}
        yield page.drawing(time_plot(efforts, unit, "effort", marks=marks), "Efforts of the actuators.")
    touch = [f.touch.total for f in run]
    if any(touch):
        yield page.drawing(
            time_plot({"contact": (t, touch)}, "N", "contact force"), "Sum of all contact forces."
        )


def _against(
    run: Recording, rows: list[RowFacts], measured: Mapping[str, tuple[Any, Any]]
) -> dict[str, tuple[Any, Any]]:
    """|measured − model| of effectors, at the times of the readings: the model as it was last sent before."""
    t = _times(run)
    out = {}
    for row in rows:
        if row.name in measured:
            when, values = measured[row.name]
            model = np.array([f.displacement[row.name] for f in run])
            near = np.clip(np.searchsorted(t, when) - 1, 0, len(t) - 1)
            out[row.name] = (when, np.linalg.norm(np.array(values) - model[near], axis=1))
    return out


def _readings(run: Recording) -> dict[str, tuple[np.ndarray, list[Any]]]:
    """What sensors saw of each row: times and values."""
    readings: dict[str, tuple[list[float], list[Any]]] = {}
    for note in run.notes:
        if note.kind == "reading":
            for row, value in note.data["values"].items():
                times, values = readings.setdefault(row, ([], []))
                times.append(note.time)
                values.append(value)
    return {row: (np.array(times), values) for row, (times, values) in readings.items()}


def _device_curves(run: Recording) -> Iterator[page.Markup]:
    """What was sent, with what devices said of themselves, and how late."""
    sent = [n for n in run.notes if n.kind == "sent"]
    if len(sent) < 2:
        return
    t, rows = np.array([n.time for n in sent]), {row.name: row for row in run.stage.rows}
    channels = next((n.data["rows"] for n in run.notes if n.kind == "channels"), {})
    measured, groups = _readings(run), {}
    for name in sent[0].data["values"]:
        row = rows.get(name)
        effort = channels.get(name, {}).get("quantity") == "effort"
        unit = "" if row is None else row.effort_unit if effort else row.unit
        groups.setdefault(unit, []).append(name)
    for unit, names in groups.items():
        curves = {n: (t, [note.data["values"].get(n, np.nan) for note in sent]) for n in names}
        seen = {n: (measured[n][0], [v[0] for v in measured[n][1]]) for n in names if n in measured}
        text = "Commands after limits, as sent." + (" Dashed: what the devices say." if seen else "")
        yield page.drawing(time_plot(curves, unit, "sent", dashed=seen), text)
    late = {"command": (t, [n.data.get("late", 0.0) for n in sent])}
    yield page.drawing(
        time_plot(late, "s", "from the turn to the wire"), "How long each turn of the loop took."
    )


def _stages(run: Recording) -> list[page.Markup]:
    stages: dict[str, list[float]] = {}
    for frame in run:
        for stage, seconds in frame.timings.items():
            stages.setdefault(stage, []).append(seconds)
    if not stages:
        return []
    rows = [
        [s, quantity(np.median(v), "s", digits=3), quantity(np.max(v), "s", digits=3)]
        for s, v in stages.items()
    ]
    return [page.heading("Time of a step"), page.table(("stage", "median", "largest"), rows, numbers=(1, 2))]


def _times(run: Recording) -> np.ndarray:
    """When each frame was made (frames,) [s]: where devices were driven, on the loop's clock, that of the
    readings. The session's own time counts steps, and lags behind by the periods that were missed.
    """
    sent = {n.data.get("step"): n.time for n in run.notes if n.kind == "sent"}
    late = [sent[f.step] - f.time if f.step in sent else np.nan for f in run.frames]
    known = np.flatnonzero(np.isfinite(late))
    if not len(known):
        return np.array([f.time for f in run.frames])
    before = known[np.maximum(np.searchsorted(known, np.arange(len(late)), "right") - 1, 0)]
    return np.array([f.time for f in run.frames]) + np.array(late)[before]


def _times_from_here(count: int) -> str:
    return "" if count == 1 else f", {number(count)} times from here on"


def _events(run: Recording) -> list[tuple[float, str]]:
    """Changes of status, of what is touched, slack or lost; limits on the way out; what the loop said."""
    out, t = [], _times(run).tolist()
    if run.frames:
        out.append((t[0], run.frames[0].words))
    for when, (before, after) in zip(t[1:], pairwise(run.frames), strict=True):
        met, now = set(before.touch.opponent), set(after.touch.opponent)
        if (before.status, before.lost, before.mode) != (after.status, after.lost, after.mode) or met != now:
            out.append((when, after.words))
    limits = Counter(limit for n in run.notes if n.kind == "sent" for limit in n.data.get("limits", ()))
    first = {}
    for note in run.notes:
        if note.kind == "event":
            out.append((note.time, f"{note.data.get('what')} {note.data.get('reason', '')}".strip()))
        for limit in note.data.get("limits", ()) if note.kind == "sent" else ():
            first.setdefault(limit, note.time)
    out += [(when, f"{limit}{_times_from_here(limits[limit])}") for limit, when in first.items()]
    return sorted(out, key=lambda event: event[0])
