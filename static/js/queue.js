/* The review queue: rows that change in place, the lease's clock, keys for reasons, and drafts
   that survive a lost network. Everything here adds to pages that work without it. */
"use strict";

(() => {
  const POLL_MS = 2500;
  const say = (text) => window.MemConsole?.announce?.(text);
  const table = () => document.getElementById("queue-table");

  /* The list: every few seconds each row is told where it stands now. None comes, goes or moves. */
  async function pollTable() {
    const list = table();
    if (!list) return;
    const rows = [...list.querySelectorAll("tr[data-id]")];
    const url = new URL(list.dataset.states, location.href);
    url.searchParams.set("seen", rows.map((row) => row.dataset.id).join(","));
    if (list.dataset.since) url.searchParams.set("since", list.dataset.since);
    const answer = await ask(url);
    if (!answer || list !== table()) return;
    for (const row of rows) {
      const now = answer.rows[row.dataset.id];
      if (!now) continue;
      const was = row.dataset.lease;
      row.dataset.lease = now.state;
      const cell = row.querySelector("[data-says]");
      if (now.state !== "free" || was !== "free") setText(cell, now.says);
      const box = row.querySelector("input[type=checkbox]");
      if (now.state === "decided" && box) { box.checked = false; box.disabled = true; }
    }
    const pill = list.querySelector(".arrivals");
    if (answer.arrivals) {
      const shown = answer.arrivals > answer.arrivals_cap ? `${answer.arrivals_cap}+` : answer.arrivals;
      const text = `${shown} new `;
      if (pill.hidden) say(`${shown} new held facts. Press ${window.MemConsole.keys["load-new"]} to load them.`);
      pill.hidden = false;
      setText(pill.querySelector("[data-arrivals]"), text);
    }
  }

  function setText(element, text) {
    if (element && element.textContent !== text) element.textContent = text;
  }

  async function ask(url) {
    try {
      const response = await fetch(url, { headers: { Accept: "application/json" } });
      return response.ok ? await response.json() : null;
    } catch {
      return null; // the next turn asks again
    }
  }

  window.setInterval(() => {
    if (document.hidden) return;
    pollTable();
  }, POLL_MS);

  /* X: everything of the row's session. */
  Object.assign(window.MemConsole.acts, {
    "select-session": () => {
      const link = document.activeElement.closest("[data-row]")?.querySelector("[data-session]");
      if (!link) return false;
      location.assign(`${location.pathname.replace(/\/queue.*$/, "/queue/bulk")}?session=${link.dataset.session}`);
      return true;
    },
  });
})();
