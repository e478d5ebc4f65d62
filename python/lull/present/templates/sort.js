"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
    const up = head.getAttribute("aria-sort") !== "ascending";
    heads.forEach(other => other.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const value = row => row.cells[column].dataset.v ?? row.cells[column].textContent.trim();
    const order = (a, b) => {
      const [x, y] = [value(a), value(b)];
      const numbers = x !== "" && y !== "" && !isNaN(x) && !isNaN(y);
      return numbers ? x - y : x.localeCompare(y, undefined, { numeric: true });
    };
    const body = table.tBodies[0];
    body.append(...[...body.rows].sort((a, b) => up ? order(a, b) : order(b, a)));
  }));
}
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach(each => { each.open = true; }));
