"use strict";
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    const head = button.parentElement;
    const table = head.closest("table");
    const column = head.cellIndex;
    const up = head.getAttribute("aria-sort") !== "ascending";
    for (const other of table.querySelectorAll("th")) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const numeric = head.classList.contains("n");
    const key = (row) => {
      const cell = row.cells[column];
      return numeric ? parseFloat(cell.dataset.k) : cell.textContent;
    };
    const compare = (one, two) => {
      if (!numeric) return (up ? 1 : -1) * one.localeCompare(two, undefined, { numeric: true });
      // What is undefined comes last, whichever way.
      if (isNaN(one) || isNaN(two)) return isNaN(one) - isNaN(two);
      return up ? one - two : two - one;
    };
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row) => [key(row), row]);
    rows.sort((one, two) => compare(one[0], two[0]));
    body.append(...rows.map((pair) => pair[1]));
  });
}
