"""Whether every link of the built pages leads somewhere, to its very anchor: `check_site.py FOLDER`.

Addresses elsewhere are not asked. (linkchecker fetches a page again for every anchor in it, which takes minutes.)
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FROM_ROOT = "404.html"  # the one page whose links begin at the root, wherever it is shown


class Page(HTMLParser):
    """The anchors of a page, and what it refers to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors = {"", "__"}
        self.references: list[str] = []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take note of an element."""
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            elif name in ("href", "src") and value and tag != "base":
                self.references.append(value)


def broken(site: Path) -> tuple[int, list[str]]:
    """How many references there are, and those that lead nowhere."""
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    n_references, wrong = 0, []
    for path, page in pages.items():
        for reference in page.references:
            address = urlsplit(reference)
            if address.scheme or address.netloc:
                continue
            n_references += 1
            start = site if path.name == FROM_ROOT else path.parent
            target = (start / unquote(address.path).lstrip("/" if path.name == FROM_ROOT else "")).resolve()
            target = path if not address.path else target / "index.html" if target.is_dir() else target
            anchors = pages[target].anchors if target in pages else None
            if not target.is_file() or (address.fragment and anchors and unquote(address.fragment) not in anchors):
                wrong.append(f"{path.relative_to(site)}: {reference}")
    return n_references, wrong


def main() -> int:
    """Name the broken ones; the exit code tells whether there are any."""
    n_references, wrong = broken(Path(sys.argv[1]).resolve())
    print("\n".join([*wrong, f"{n_references} links, {len(wrong)} broken"]))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
