"""Links inside the repository lead somewhere, and every page can be reached."""

from pathlib import Path

import pytest

from tests.docs.markdown import PAGES, ROOT, anchors, inline, slug_of


def links(page: Path) -> list[str]:
    return [str(token.attrGet("href")) for token in inline(page) if token.type == "link_open"]


def problem(page: Path, link: str) -> str | None:
    """Why a link leads nowhere; None where it leads somewhere or outside."""
    if link.startswith(("https://", "http://", "mailto:")):
        return None
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.is_relative_to(ROOT) or not target.exists():
        return "no such file"
    if anchor and target.suffix == ".md" and anchor not in anchors(target):
        return "no such heading"
    return None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_resolve(page):
    assert [(link, why) for link in links(page) if (why := problem(page, link))] == []


def test_a_broken_link_is_seen():
    page = ROOT / "docs" / "baselines.md"
    assert problem(page, "nowhere.md") == "no such file"
    assert problem(page, "../../outside.md") == "no such file"
    assert problem(page, "baselines.md#nothing") == "no such heading"
    assert problem(page, "#freezing") is None
    assert problem(page, "https://example.org/x") is None


def test_headings_become_anchors_as_on_github():
    assert slug_of("What is compared") == "what-is-compared"
    assert slug_of("Formats of `grader-gate import`".replace("`", "")) == "formats-of-grader-gate-import"
    assert slug_of("Ünter: a/b, c!") == "ünter-ab-c"


def test_every_page_is_reached_from_the_readme():
    seen, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in seen or page.suffix != ".md" or not page.exists():
            continue
        seen.add(page)
        waiting += [(page.parent / link.partition("#")[0]).resolve() for link in links(page) if "://" not in link]
    assert set(PAGES) - seen == set()
