"""The page in a real Chromium: it works, asks for nothing, and hostile text does nothing."""

import shutil
from pathlib import Path

import pytest

from grader_gate.report.html import render_html
from tests.report import fixtures
from tests.report.strategies import PIECES, poison

pytestmark = pytest.mark.browser
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]


@pytest.fixture(scope="module")
def browser():
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("NO BROWSER: the HTML report is not tested in a browser; install Chromium to do so")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture
def show(browser, tmp_path):
    """Open a result's page; at the end nothing may have been requested, logged as an error or shown as a dialog."""
    trouble: list[str] = []
    contexts = []

    def show(result, **options):
        file = Path(tmp_path) / "report.html"
        file.write_text(render_html(result), encoding="utf-8")
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda m: trouble.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda e: trouble.append(str(e)))
        page.on("dialog", lambda d: (trouble.append(d.message), d.dismiss()))
        page.on("request", lambda r: trouble.append(r.url) if r.url != file.as_uri() else None)
        page.goto(file.as_uri())
        return page

    yield show
    for context in contexts:
        context.close()
    assert trouble == []


def shown(page) -> int:
    return page.locator("#rows tr:visible").count()


def test_filters_narrow_and_widen(show):
    page = show(fixtures.failing())
    assert shown(page) == 20
    page.get_by_label("only what blocks").check()
    assert shown(page) == 11
    page.get_by_label("only what blocks").uncheck()
    page.get_by_label("Group").select_option("survivors")
    assert shown(page) == 4
    page.get_by_label("Search").fill("LIMA 17")
    assert shown(page) == 1
    assert page.locator("#shown").inner_text() == "1 of 20 findings shown"
    page.get_by_label("Search").fill("")
    page.get_by_label("Group").select_option("")
    page.get_by_label("Status").select_option("dismissed")
    assert shown(page) == 1
    page.locator("#by-suite").select_option("style")
    assert shown(page) == 0


def test_sorting_by_keyboard_says_its_direction(show):
    page = show(fixtures.failing())
    page.get_by_role("button", name="Severity").focus()
    page.keyboard.press("Enter")
    head = page.locator("th[data-key=severity]")
    assert head.get_attribute("aria-sort") == "descending"
    severities = [float(t) for t in page.locator("#rows td[data-label=Severity]").all_inner_texts()]
    assert severities == sorted(severities, reverse=True)
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    page.get_by_role("button", name="Case").click()
    assert head.get_attribute("aria-sort") is None
    cases = [row.get_attribute("data-case") for row in page.locator("#rows tr").all()]
    assert cases.index("chile-3") < cases.index("peru-1") < cases.index("peru-10")


def test_hostile_text_is_inert_and_filters_still_work(show):
    texts = [*PIECES, "<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>", '"><svg onload=alert(3)>']
    turn = iter(range(10**6))
    page = show(poison(fixtures.failing(), lambda: texts[next(turn) % len(texts)] + "x"))
    assert page.locator("script").count() == 1
    assert page.locator("img, svg, iframe").count() == 0
    page.get_by_label("Group").select_option("regressions")
    assert 0 < shown(page) < 20


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_needs_no_sideways_scrolling(show, scheme):
    page = show(fixtures.failing(), viewport={"width": 360, "height": 740}, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.locator("#rows tr").first.bounding_box()["width"] <= 360


CONTRAST = """() => {
  const parse = (c) => (c.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  };
  let worst = 21;
  for (const e of document.querySelectorAll("body *")) {
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || e.closest("script")) continue;
    const [a, b] = [light(parse(getComputedStyle(e).color)), light(ground(e))];
    worst = Math.min(worst, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
  }
  return worst;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["fail", "error", "pass", "not_applicable"])
def test_text_has_the_contrast_that_wcag_asks_for(show, scheme, name):
    """WCAG 2.2, success criterion 1.4.3: at least 4.5 to 1."""
    assert show(fixtures.EXAMPLES[name](), color_scheme=scheme).evaluate(CONTRAST) >= 4.5


def test_the_page_is_whole_without_its_script(show):
    page = show(fixtures.failing(), java_script_enabled=False)
    assert shown(page) == 20
    assert not page.locator("#tools").is_visible()


def test_two_thousand_findings_stay_usable(show):
    page = show(fixtures.many())
    assert shown(page) == 2_000
    page.get_by_label("Search").fill("case-0007")
    assert shown(page) == 1
