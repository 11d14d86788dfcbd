"""The page and the rendered comment in a real Chromium, full of hostile strings: nothing runs, loads, asks or navigates."""

import shutil
from itertools import cycle
from pathlib import Path

import pytest

from grader_gate.report.comment import render_comment
from grader_gate.report.html import render_html
from tests.report import fixtures
from tests.security.hostile import HOSTILE, poisoned
from tests.security.reading import GFM, HIDDEN

pytestmark = pytest.mark.browser
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
BATCHES = [HOSTILE[start : start + 180] for start in range(0, len(HOSTILE), 180)]
ALIVE = "script, img, svg, iframe, form, object, embed, video, audio, link, base, math, input[autofocus], a[href]"


@pytest.fixture(scope="module")
def browser():
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("NO BROWSER: hostile text is not tested in a browser; install Chromium to do so")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture
def show(browser, tmp_path):
    """Open an HTML text; at the end nothing may have been asked for, logged, shown or run."""
    trouble: list[str] = []
    contexts = []

    def show(html):
        file = Path(tmp_path) / f"page{len(contexts)}.html"
        file.write_text(html, encoding="utf-8")
        context = browser.new_context()
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda m: trouble.append(m.text))
        page.on("pageerror", lambda e: trouble.append(str(e)))
        page.on("dialog", lambda d: (trouble.append(d.message), d.dismiss()))
        page.on("request", lambda r: trouble.append(r.url) if r.url != file.as_uri() else None)
        page.on("framenavigated", lambda f: trouble.append(f.url) if f.url != file.as_uri() else None)
        page.goto(file.as_uri())
        return page

    yield show
    for context in contexts:
        context.close()
    assert trouble == []


def counted(page, selector: str = ALIVE) -> list[str]:
    return page.eval_on_selector_all(
        selector, "nodes => nodes.map(n => n.tagName + ' ' + (n.getAttribute('href') || ''))"
    )


@pytest.mark.parametrize("example", ["fail", "error"])
def test_the_report_page(show, example):
    plain = counted(show(render_html(poisoned(fixtures.EXAMPLES[example](), cycle(["word"])))))
    for batch in BATCHES:
        page = show(render_html(poisoned(fixtures.EXAMPLES[example](), cycle(batch))))
        assert counted(page) == plain
        text = page.evaluate("document.body.innerText")
        assert not HIDDEN.search(text.replace("\t", "").replace("\r", "")), HIDDEN.search(text)
        for handler in ("onerror", "onload", "onclick", "onfocus", "ontoggle", "style"):
            assert page.locator(f"body [{handler}]").count() == 0


@pytest.mark.parametrize("example", ["fail", "error", "report_mode"])
def test_the_comment_without_github_s_own_cleaning(show, example):
    """GitHub cleans the page of a comment as well; here the comment has to be harmless by itself."""
    ours = counted(
        show(GFM.render(render_comment(poisoned(fixtures.EXAMPLES[example](), cycle(["word"])), limit=10**6)))
    )
    for batch in BATCHES:
        page = show(GFM.render(render_comment(poisoned(fixtures.EXAMPLES[example](), cycle(batch)), limit=10**6)))
        assert counted(page) == ours
        assert page.evaluate("document.title") == ""
