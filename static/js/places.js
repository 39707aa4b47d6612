/* Where somebody was in a list: Back, and the way up, return to the same row at the same height.
   Kept for this tab alone, by the list's URL; a row is known by its link, never by its text. */
"use strict";

(() => {
  const MOST = 50;
  const key = () => "place:" + location.pathname + location.search;

  function keep(place) {
    const all = Object.keys(sessionStorage).filter((one) => one.startsWith("place:"));
    if (all.length >= MOST && !(key() in sessionStorage)) sessionStorage.removeItem(all[0]);
    sessionStorage.setItem(key(), JSON.stringify(place));
  }

  /* What leaves the list is the row that was followed, by pointer or by key. */
  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-row] a[href]");
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      const row = link.closest("[data-row]").querySelector("[data-row-link]") || link;
      keep({ row: row.getAttribute("href"), top: window.scrollY });
    }
  }, true);

  /* Pages of a table that were turned here stand in the history between this page and the list. */
  let turned = 0;
  document.addEventListener("htmx:pushedIntoHistory", () => { turned += 1; });

  /* The way up to a list that one came from is the way back: its filters and its page stand. */
  document.addEventListener("click", (event) => {
    const up = event.target.closest("a[data-shortcut~=back]");
    if (!up || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey || !document.referrer) return;
    const from = new URL(document.referrer);
    if (from.origin === location.origin && from.pathname === new URL(up.href).pathname && history.length > 1) {
      event.preventDefault();
      history.go(-1 - turned);
    }
  });

  function comeBack() {
    const kept = sessionStorage.getItem(key());
    if (!kept) return;
    const place = JSON.parse(kept);
    const row = [...document.querySelectorAll("[data-row] [data-row-link]")].find((one) => one.getAttribute("href") === place.row);
    if (!row) return;
    window.scrollTo(0, place.top);
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
  }
  window.addEventListener("pageshow", (event) => {
    const how = performance.getEntriesByType("navigation")[0];
    if (event.persisted || how?.type === "back_forward") comeBack();
  });
})();
