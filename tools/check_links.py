"""Follow every link of the documentation site on disk: none dead, nothing from elsewhere, at most 60 MB.

    python tools/check_links.py results/site

It reads pages as text and needs no browser: what scripts add is not seen, `make docs-check` sees it.
The exit code is 1 if something was found.
"""

import sys
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlparse

LARGEST = 60e6  # bytes of the whole site
NETWORKED = ("http", "https", "ws", "wss")
FETCHED = {"img": "src", "script": "src", "source": "src", "video": "src", "iframe": "src", "link": "href"}


class Page(HTMLParser):
    """What a page leads to, what it fetches, and its anchors."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif FETCHED.get(tag) in given and given.get("rel") not in ("canonical", "next", "prev"):
            self.fetched.append(given[FETCHED[tag]])


class Site:
    """A site on disk: what its links lead to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self._read: dict[Path, Page] = {}

    @cached_property
    def pages(self) -> list[Path]:
        return sorted(path for path in self.folder.rglob("*.html") if "_static" not in path.parts)

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.stat().st_size for file in self.folder.rglob("*") if file.is_file())

    def page(self, path: Path) -> Page:
        if path not in self._read:
            self._read[path] = Page(path)
        return self._read[path]

    def blame(self, url: str) -> str:
        """What is wrong with a link to a file of the site, or nothing."""
        parts = urlparse(url)
        goal, anchor = Path(unquote(parts.path)), unquote(parts.fragment)
        if parts.scheme != "file":
            return ""
        if not goal.is_file():
            return f"leads to {goal}, which is not there"
        if anchor and goal.suffix == ".html" and anchor not in self.page(goal).anchors:
            return f"leads to #{anchor} of {goal.name}, which is not there"
        return ""

    def complaints(self) -> list[str]:
        """All that is wrong with its links and its size."""
        found = []
        for path in self.pages:
            here, page = path.relative_to(self.folder).as_posix(), self.page(path)
            found += [f"{here}: asks for {url}" for url in page.fetched if urlparse(url).scheme in NETWORKED]
            said = (self.blame(urljoin(path.as_uri(), url)) for url in (*page.links, *page.fetched))
            found += [f"{here}: {words}" for words in said if words]
        if self.size > LARGEST:
            found.append(f"the site has {self.size / 1e6:.0f} MB of {LARGEST / 1e6:.0f}")
        return list(dict.fromkeys(found))


def report(site: Site, found: list[str]) -> int:
    """Say what was found; returns the exit code."""
    print("\n".join(dict.fromkeys(found)))
    print(f"{len(site.pages)} pages, {site.size / 1e6:.1f} MB: {len(found)} complaints")
    return 1 if found or not site.pages else 0


if __name__ == "__main__":
    site = Site(Path(sys.argv[1]))
    sys.exit(report(site, site.complaints()))
