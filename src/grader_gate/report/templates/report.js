"use strict";
// Filters and sorts the rows that are already in the page. Without it the page is whole, only unfiltered.
(function () {
  const tools = document.getElementById("tools");
  const body = document.getElementById("rows");
  if (!tools || !body) return;
  const rows = Array.from(body.rows);
  const search = document.getElementById("search");
  const selects = ["group", "suite", "status"].map((name) => document.getElementById("by-" + name));
  const blocking = document.getElementById("by-blocking");
  const shown = document.getElementById("shown");
  const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));

  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      const keep =
        (!blocking.checked || row.dataset.blocking === "yes") &&
        selects.every((select) => !select.value || row.dataset[select.name] === select.value) &&
        words.every((word) => texts.get(row).includes(word));
      row.hidden = !keep;
      if (keep) count += 1;
    }
    shown.textContent = count + " of " + rows.length + " findings shown";
  }

  function sort(head, key, numeric) {
    const down = head.getAttribute("aria-sort") === "ascending" || (numeric && !head.hasAttribute("aria-sort"));
    for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const sign = down ? -1 : 1;
    const compare = numeric
      ? (a, b) => Number(a.dataset[key]) - Number(b.dataset[key])
      : (a, b) => a.dataset[key].localeCompare(b.dataset[key], "en", { numeric: true });
    // The page's own order breaks ties, so that sorting twice gives the same page.
    rows.sort((a, b) => sign * compare(a, b) || Number(a.dataset.order) - Number(b.dataset.order));
    body.append(...rows);
  }

  for (const head of document.querySelectorAll("#findings-table th[data-key]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sort(head, head.dataset.key, head.hasAttribute("data-numeric")));
  }
  search.addEventListener("input", filter);
  for (const control of [...selects, blocking]) control.addEventListener("change", filter);
  tools.hidden = false;
  filter();
})();
