"""What a person takes from the studio and brings back: recordings, players, pictures, films."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.io.player import export
from pliant.io.recording import Recorder, Recording
from pliant.session import Session
from tests.contact.common import OBSTACLES
from tests.contact.test_obstacles import Disc
from tests.studio.robots import bar
from tests.studio.visitor import Visitor, need_chromium, opened_browser, opened_window

playwright = need_chromium()


@pytest.fixture(scope="module")
def browser():
    with opened_browser(playwright) as browser:
        yield browser


@pytest.fixture(scope="module")
def window(tmp_path_factory):
    with opened_window(tmp_path_factory.mktemp("recordings")) as window:
        yield window


@pytest.fixture(scope="module")
def tab(browser, window):
    visitor = Visitor(browser, window.url, accept_downloads=True)
    yield visitor
    visitor.context.close()


@pytest.fixture
def visitor(tab):
    tab.restart()
    return tab


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A recording made in Python: a bar that meets a ball, one cable cut on the way."""
    path = tmp_path_factory.mktemp("made") / "run.mcap"
    session = Session(bar(), obstacles=[pl.Sphere((0.07, 0.01, 0.0305), 0.01)])
    session.aim("tip", (0.09, 0.01, 0.03))
    with Recorder(path, session.stage) as recorder:
        session.listeners.append(recorder.write)
        for step in range(24):
            if step == 12:
                session.move("sphere", (0.07, 0.01, 0.032))
            session.step()
    return path


def test_a_recording_downloads_and_plays_from_its_file(visitor, browser, tmp_path):
    visitor.page.click("#record")
    visitor.until("studio.header.desk.recording > 8")
    visitor.page.click("#record")
    visitor.until("studio.header.desk.recording === null")
    with visitor.page.expect_download() as download:
        visitor.page.click(".toast a >> text=Player")
    path = tmp_path / "run.html"
    download.value.save_as(path)
    replay = Visitor(browser, path.as_uri())
    frames = replay.ask("studio.link.frames.length")
    assert frames > 8 and replay.ask("studio.link.live") is False
    last = replay.ask("studio.link.frames.at(-1).words")
    replay.ask("(studio.link.playing = false, studio.link.seek(studio.link.duration))")
    replay.until(f"studio.link.shown === {frames - 1}")
    replay.told(last)
    shown = replay.canvas()
    replay.page.select_option("#colour", "stress")
    replay.until("studio.skin.legend?.name === 'stress' && studio.skin.legend.top > 0")
    assert (np.abs(replay.canvas() - shown).sum(axis=2) > 30).sum() > 200
    replay.page.select_option("#colour", "displacement")
    replay.ask("studio.skin.group.visible = false")
    assert (np.abs(replay.canvas() - shown).sum(axis=2) > 30).sum() > 2000
    assert replay.requests == [path.as_uri()] and not replay.complaints
    replay.context.close()
    visitor.page.click(".toast button >> text=Watch it")  # in the page itself, too
    visitor.until(f"!studio.link.live && studio.link.frames?.length === {frames} && studio.link.shown > 2")
    visitor.page.click("#back")
    visitor.until("studio.link.live && studio.able && studio.header.desk.playing")


@pytest.mark.parametrize("kind", ["mcap", "html"])
def test_a_recording_is_opened_in_the_live_page(visitor, recorded, kind):
    run = Recording.read(recorded)
    path = recorded if kind == "mcap" else export(run, recorded.with_suffix(".html"))
    visitor.page.set_input_files("#file", path)
    visitor.until("!studio.link.live && studio.link.frames && studio.link.shown >= 0")
    assert visitor.ask("studio.link.frames.length") == len(run)
    for number in (5, 23):
        visitor.ask(
            f"(studio.link.playing = false, studio.link.seek({run.frames[number].time - run.frames[0].time}))"
        )
        visitor.until(f"studio.link.shown === {number} && studio.header.step === {run.frames[number].step}")
        skin = np.array(visitor.ask("[...studio.skin.positions]")).reshape(-1, 3)
        np.testing.assert_allclose(skin, run.frames[number].positions[run.stage.vertices], atol=2e-5)
        contact = visitor.ask("studio.header.contact")
        assert contact[0] == len(run.frames[number].touch)
        assert contact[1] == pytest.approx(run.frames[number].touch.total, rel=1e-4, abs=1e-9)
        ball = visitor.ask("studio.things.known.sphere.object.position.toArray()")
        np.testing.assert_allclose(ball, run.frames[number].obstacles["sphere"]["centre"], atol=1e-6)
    visitor.told(run.frames[23].words)
    visitor.page.click("#back")
    visitor.until("studio.link.live && studio.able")


@pytest.mark.parametrize("content", [b"no recording at all", None, b'<p id="recording">?</p>'])
def test_a_file_that_is_none_is_said_to_be(visitor, recorded, tmp_path, content):
    """Rubbish, a recording without its frames, a page without one: words, and the robot goes on."""
    path = tmp_path / ("page.html" if content and content.startswith(b"<") else "run.mcap")
    path.write_bytes(recorded.read_bytes()[:2000] if content is None else content)
    visitor.page.set_input_files("#file", path)
    assert visitor.until(
        "[...document.querySelectorAll('.toast')].at(-1)?.textContent.includes('cannot be opened')"
    )
    visitor.until("studio.link.live && studio.able")


def test_a_recording_that_was_cut_off_plays_as_far_as_it_goes(visitor, recorded, tmp_path):
    whole = recorded.read_bytes()
    (tmp_path / "cut.mcap").write_bytes(whole[: len(whole) * 2 // 3])
    frames = len(Recording.read(tmp_path / "cut.mcap"))
    visitor.page.set_input_files("#file", tmp_path / "cut.mcap")
    if frames:
        visitor.until(
            f"!studio.link.live && studio.link.frames?.length === {frames} && studio.link.shown >= 0"
        )
        visitor.page.click("#back")
    visitor.until("studio.link.live && studio.able")


def test_a_killed_tab_loses_nothing_of_a_recording(visitor, browser, window):
    other = Visitor(browser, window.url)
    other.page.click("#control")
    other.until("studio.able")
    other.page.click("#record")
    other.until("studio.header.desk.recording > 3")
    other.context.close()  # gone, in the middle of it
    visitor.until("studio.able && studio.header.desk.recording > 8")
    count = visitor.ask("studio.header.desk.recordings")
    visitor.page.click("#record")
    visitor.until(f"studio.header.desk.recordings === {count} + 1")
    run = Recording.read(window.loop.desk.recordings[-1])
    assert len(run) > 8
    assert np.all(np.diff([frame.step for frame in run]) == 1)  # every step, none twice


def test_a_picture_and_a_film_can_be_saved(visitor, tmp_path):
    with visitor.page.expect_download() as download:
        visitor.page.click("#picture")
    path = tmp_path / "picture.png"
    download.value.save_as(path)
    assert path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size > 5000
    visitor.page.click("#film")
    drawn = visitor.ask("studio.drawn")
    visitor.until(f"studio.drawn > {drawn} + 8")
    with visitor.page.expect_download() as download:
        visitor.page.click("#film")
    path = tmp_path / "film.webm"
    download.value.save_as(path)
    assert path.read_bytes().startswith(b"\x1a\x45\xdf\xa3") and path.stat().st_size > 5000  # Matroska


def test_no_file_leaves_this_machine_and_nothing_complains(visitor, window):
    """After all of the above."""
    ours = (window.url, window.url.replace("http", "ws"), "data:", "blob:")
    assert all(url.startswith(ours) for url in visitor.requests)
    assert not visitor.complaints


def test_the_page_draws_every_kind_of_obstacle_also_one_that_it_does_not_know(browser, tmp_path):
    """Where Python says that it is, and as version 0.1 recorded it; what moves is not made again."""
    every = {**OBSTACLES, "unknown": Disc((0.02, 0.01, 0.0), 0.02)}
    path = [[-0.05, 0.0, 0.0], [0.0, 0.0, 0.0]]
    old = {
        "old plane": {"kind": "plane", "centre": [0.0, 0.0, 0.1], "normal": [0.0, 0.0, 1.0]},
        "old pipe": {"kind": "pipe", "centre": path[0], "paths": [path], "radii": [0.02]},
    }
    session = Session(bar())
    data = {name: obstacle.data() for name, obstacle in every.items()}
    there = {name: obstacle.moved(translation=(0.1, 0.2, 0.3)).data() for name, obstacle in every.items()}
    shown = [replace(session.step(), obstacles=shapes) for shapes in (data | old, there | old)]
    file = export(Recording(session.stage, tuple(shown)), tmp_path / "run.html")
    replay = Visitor(browser, file.as_uri())
    replay.ask("(studio.link.playing = false, studio.link.seek(0))")
    replay.until("studio.link.shown === 0")
    assert set(replay.ask("Object.keys(studio.things.known)")) == {*every, *old}
    box = """name => {
        const low = [1e9, 1e9, 1e9], high = [-1e9, -1e9, -1e9];
        studio.things.known[name].object.updateMatrixWorld(true);
        studio.things.known[name].object.traverse((o) => {
            const p = o.isMesh ? o.geometry.attributes.position : { count: 0 };
            for (let k = 0; k < p.count; k++) {
                const v = o.position.clone().fromBufferAttribute(p, k).applyMatrix4(o.matrixWorld).toArray();
                v.forEach((x, i) => ((low[i] = Math.min(low[i], x)), (high[i] = Math.max(high[i], x))));
            }
        });
        return [low, high];
    }"""
    for name, obstacle in every.items():
        if obstacle.bounded:
            vertices, _ = obstacle.surface(np.zeros(3), 0.1)
            drawn = np.array(replay.page.evaluate(box, name))
            np.testing.assert_allclose(
                drawn, [vertices.min(axis=0), vertices.max(axis=0)], atol=3e-3, err_msg=name
            )
    made = replay.ask("Object.values(studio.things.known).map((k) => k.object.uuid)")
    replay.ask("studio.link.seek(studio.link.duration)")
    replay.until("studio.link.shown === 1")
    assert replay.ask("Object.values(studio.things.known).map((k) => k.object.uuid)") == made
    assert replay.ask("studio.things.known.sphere.object.position.toArray()") == pytest.approx(
        [0.11, 0.22, 0.29]
    )
    assert not replay.complaints
    replay.context.close()
