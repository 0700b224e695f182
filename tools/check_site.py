"""Open every page of the documentation in Chromium: no complaint, no dead link, no request elsewhere.

    make docs-check

It needs Debian's Chromium. Pages are opened as a reader opens them: as files, light and
dark; the search is asked for a word. The exit code is 1 if something was found.
"""

import shutil
import sys
from pathlib import Path
from urllib.parse import urlparse

from check_links import NETWORKED, Site, report
from playwright.sync_api import Page, sync_playwright

FLAGS = ["--no-sandbox", "--enable-unsafe-swiftshader", "--disable-background-networking", "--no-first-run"]
WORD, ANSWER = "bounded", "laws"  # a word to search for, and what a page that is found is called
DRAWN = "document.querySelector('canvas')?.width > 0"  # in a player, once it runs
BLANK = "[...document.images].filter((i) => i.complete && !i.naturalWidth).map((i) => i.src)"


class Reader:
    """A reader of the pages, and what went wrong while reading."""

    def __init__(self, page: Page, site: Site) -> None:
        self.page, self.site = page, site
        self.found: list[str] = []
        self.at = ""
        page.on("console", lambda said: self.blame(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: self.blame(str(error)))
        page.on("request", lambda request: self.requested(request.url))

    def blame(self, what: str) -> None:
        self.found.append(f"{self.at}: {what}")

    def requested(self, url: str) -> None:
        """Nothing of a page comes from elsewhere."""
        if urlparse(url).scheme in NETWORKED:
            self.blame(f"asks for {url}")

    def read(self, path: Path) -> None:
        """Open a page, in both themes, and follow its links on disk."""
        self.at = path.relative_to(self.site.folder).as_posix()
        self.page.goto(path.as_uri(), wait_until="load")
        if path.parent.name == "players":
            self.page.wait_for_function(DRAWN)
            return
        dark, light = (self.background(theme) for theme in ("dark", "light"))
        if dark == light:
            self.blame("looks the same in the dark")
        for image in self.page.evaluate(BLANK):
            self.blame(f"image {image} does not load")
        for link in self.page.evaluate("[...document.links].map(a => a.href)"):
            if words := self.site.blame(link):
                self.blame(words)

    def background(self, theme: str) -> str:
        self.page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
        return self.page.evaluate("getComputedStyle(document.body).backgroundColor")

    def search(self) -> None:
        """The search finds a name."""
        self.at = "search.html"
        self.page.goto(f"{(self.site.folder / 'search.html').as_uri()}?q={WORD}")
        self.page.wait_for_selector("#search-results li a")
        results = self.page.locator("#search-results li a").all_inner_texts()
        if not any(ANSWER in text for text in results):
            self.blame(f"{WORD!r} is not found: {results[:5]}")


def main(folder: Path) -> int:
    """Read all pages; returns the exit code."""
    site = Site(folder)
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        context = browser.new_context(offline=True)
        reader = Reader(context.new_page(), site)
        for page in site.pages:
            reader.read(page)
        if (site.folder / "search.html").exists():
            reader.search()
        browser.close()
    return report(site, [*site.complaints(), *reader.found])


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
