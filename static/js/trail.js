/* The audit trail by keys: arrows go from cell to cell, one key shows only what a cell says,
   another leaves it out. Links do the first without any script. */
"use strict";

(() => {
  const cellOf = () => document.activeElement.closest?.("[data-cell]");

  document.addEventListener("keydown", (event) => {
    if (!["ArrowLeft", "ArrowRight"].includes(event.key) || event.altKey || event.ctrlKey || event.metaKey) return;
    const row = document.activeElement.closest?.("tr[data-row]");
    if (!row) return;
    const links = [...row.querySelectorAll("a")];
    const step = event.key === "ArrowRight" ? 1 : -1;
    const next = links[links.indexOf(document.activeElement) + step];
    if (next) { event.preventDefault(); next.focus(); }
  });

  function needCell() {
    const cell = cellOf();
    if (!cell) window.MemConsole.announce("Go to a cell with the arrow keys first.");
    return cell;
  }

  document.addEventListener("DOMContentLoaded", () => {
    Object.assign(window.MemConsole.acts, {
      "filter-cell": () => { needCell()?.click(); return true; },
      "exclude-cell": () => {
        const cell = needCell();
        if (!cell) return true;
        const only = new URL(cell.href);
        const here = new URL(location.href);
        here.searchParams.delete("after");
        here.searchParams.append(`not_${cell.dataset.cell}`, only.searchParams.get(cell.dataset.cell));
        location.assign(here);
        return true;
      },
    });
  });
})();
