/* The review queue: rows that change in place, the lease's clock, digits for reasons, and drafts
   that survive a lost network. Everything here adds to pages that work without it. */
"use strict";

(() => {
  const POLL_MS = 2000; // a row is never more than three seconds behind
  const RENEW_MS = 60_000; // at most this often, while somebody is there
  const console_ = window.MemConsole || {};
  const say = (text) => console_.announce?.(text);
  const table = () => document.getElementById("queue-table");
  const item = () => document.getElementById("queue-item");

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
      if (was !== now.state) row.dataset.lease = now.state;
      if (now.state !== "free" || was !== "free") setText(row.querySelector("[data-says]"), now.says);
      const box = row.querySelector("input[type=checkbox]");
      if (now.state === "decided" && box) { box.checked = false; box.disabled = true; }
    }
    const pill = list.querySelector(".arrivals");
    if (pill && answer.arrivals) {
      const shown = answer.arrivals > answer.arrivals_cap ? `${answer.arrivals_cap}+` : String(answer.arrivals);
      if (pill.hidden) say(`${shown} new held facts can be loaded.`);
      pill.hidden = false;
      setText(pill.querySelector("[data-arrivals]"), `${shown} new`);
    }
  }

  /* The open item: when somebody else (or another tab) decides it, it says so in its place. */
  async function pollItem() {
    const open = item();
    if (!open?.dataset.states || open.getAttribute("aria-busy")) return;
    const url = new URL(open.dataset.states, location.href);
    if (open.dataset.token) url.searchParams.set("token", open.dataset.token);
    const answer = await ask(url);
    const now = answer?.rows[open.dataset.id];
    if (!now || open !== item() || open.getAttribute("aria-busy") || !open.dataset.token) return;
    if (now.state === "decided" || now.state === "colleague") replaceItem(open);
    else if (now.is_here === false) warn(open, "This item is open in another tab of yours now.");
  }

  function warn(open, text) {
    if (open.querySelector(".other-tab")) return;
    const notice = document.createElement("p");
    notice.className = "notice notice-warning below other-tab";
    notice.setAttribute("role", "alert");
    const again = document.createElement("a");
    again.href = location.href;
    again.className = "button button-small";
    again.textContent = "Use this tab";
    notice.append(text + " ", again);
    open.querySelector("form.decision").before(notice);
  }

  function replaceItem(open) {
    keepDraft(open);
    window.htmx.ajax("GET", location.pathname + location.search, { target: "#queue-item", swap: "outerHTML" });
  }

  /* A note that was begun stays with its item, whatever is swapped in. */
  let draft = null;
  function keepDraft(open) {
    const note = open.querySelector("textarea[name=note]");
    draft = note && note.value ? { id: open.dataset.id, text: note.value } : null;
  }
  function restoreDraft() {
    const open = item();
    const note = open?.querySelector("textarea[name=note]");
    if (draft && note && draft.id === open.dataset.id && !note.value) note.value = draft.text;
    draft = null;
  }

  /* The lease: renewed while somebody is there; a warning before it ends; given back on leaving. */
  let endsAt = 0;
  let renewedAt = 0;
  let held = null;
  function startClock() {
    const open = item();
    held = open?.dataset.token ? open : null;
    if (!held) return;
    renewedAt = Date.now();
    endsAt = renewedAt + Number(held.dataset.seconds) * 1000;
  }
  function leaseForm(open, act) {
    const body = new FormData(open.querySelector("#give-back"));
    body.set("act", act);
    return body;
  }
  async function renew() {
    if (!held) return;
    renewedAt = Date.now();
    const open = held;
    try {
      const response = await fetch(open.dataset.leaseUrl, { method: "POST", body: leaseForm(open, "renew") });
      if (response.ok && open === held) {
        endsAt = Date.now() + (await response.json()).seconds * 1000;
        showWarning();
      }
    } catch { /* offline: the clock goes on, and the warning with it */ }
  }
  function showWarning() {
    const warning = held?.querySelector(".lease-warning");
    if (!warning) return;
    const left = Math.round((endsAt - Date.now()) / 1000);
    const near = left <= Number(held.dataset.warning);
    if (near) setText(warning.querySelector("[data-left]"), left > 0 ? `${left} s` : "moment: it may be gone");
    if (near && warning.hidden) say("Your hold on this item ends in a minute.");
    warning.hidden = !near;
  }
  function noteActivity() {
    if (held && Date.now() - renewedAt > RENEW_MS) renew();
  }
  for (const kind of ["pointerdown", "pointermove", "keydown", "wheel"]) {
    document.addEventListener(kind, noteActivity, { passive: true });
  }
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-renew]")) renew();
    if (event.target.id === "diff") event.target.focus();
    // At the warning the lease's key keeps the item; at other times it gives it back.
    const giveBack = event.target.closest("button[form=give-back]");
    if (giveBack && held && !held.querySelector(".lease-warning").hidden && event.detail === 0) {
      event.preventDefault();
      renew();
    }
  });
  window.addEventListener("pagehide", () => {
    if (held) navigator.sendBeacon(held.dataset.leaseUrl, leaseForm(held, "leave"));
  });

  /* Digits choose reasons, by their ids, while a list of reasons is open. */
  function openList() {
    return document.querySelector("details.act[open]");
  }
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const list = openList();
    if (!list || document.querySelector("dialog[open]")) return;
    if (event.key === "Escape") {
      list.open = false;
      list.querySelector("summary").focus();
      return;
    }
    // Enter in a panel's field presses that panel's button, never another's.
    if (event.key === "Enter" && event.target.matches("input")) {
      event.preventDefault();
      list.querySelector(".act-panel > button:not(.reason)")?.click();
      return;
    }
    const isOn = document.documentElement.dataset.shortcuts === "on";
    if (!isOn || event.target.closest("input, textarea, select") || !/^[0-9]$/.test(event.key)) return;
    if (document.querySelector(".htmx-request[data-decision]")) return;
    const button = list.querySelector(`[data-digit="${event.key}"]`);
    if (button) { event.preventDefault(); button.click(); }
  });
  document.addEventListener("toggle", (event) => {
    if (!event.target.matches?.("details.act") || !event.target.open) return;
    const field = event.target.querySelector("textarea, .act-panel > .field:first-child input");
    if (field) { field.focus(); field.select?.(); }
  }, true);
  document.addEventListener("click", (event) => {
    const list = openList();
    if (list && !list.contains(event.target)) list.open = false;
  });

  /* A decision that did not reach the server is sent once more by itself, under the same key. */
  let lastAct = "";
  let isPending = false;
  document.addEventListener("submit", (event) => {
    if (event.target.id === "decision" && event.submitter) lastAct = event.submitter.value;
  }, true);
  document.addEventListener("htmx:configRequest", (event) => {
    if (event.detail.elt.id === "decision" && !event.detail.parameters.act) event.detail.parameters.act = lastAct;
  });
  document.addEventListener("htmx:sendError", (event) => { isPending = event.detail.elt.id === "decision"; });
  document.addEventListener("htmx:beforeRequest", () => { isPending = false; });
  window.addEventListener("online", () => {
    if (!isPending) return;
    isPending = false;
    document.querySelector(".swap-failure")?.remove();
    document.getElementById("decision")?.requestSubmit();
  });

  /* X: everything of the row's session. k: back to the item before. */
  if (console_.acts) {
    const rowBefore = console_.acts.previous;
    console_.acts.previous = () => {
      if (!item()) return rowBefore();
      history.back();
      return true;
    };
    console_.acts["select-session"] = () => {
      const link = document.activeElement.closest("[data-row]")?.querySelector('a[href*="/sessions/"]');
      if (!link) return false;
      location.assign(`${location.pathname.replace(/\/queue.*$/, "/queue/bulk")}?session=${link.href.split("/").pop()}`);
      return true;
    };
  }
  /* The way to the next item follows the filters of the list. */
  document.addEventListener("htmx:pushedIntoHistory", () => {
    for (const link of document.querySelectorAll("[data-keeps-query]")) {
      const query = new URLSearchParams(location.search);
      query.delete("after");
      link.href = link.dataset.keepsQuery + (query.size ? `?${query}` : "");
    }
  });

  document.addEventListener("htmx:afterSettle", () => {
    if (item() !== held) { restoreDraft(); startClock(); }
  });
  startClock();
  window.setInterval(showWarning, 1000);
  window.setInterval(() => {
    if (document.hidden) return;
    pollTable();
    pollItem();
  }, POLL_MS);
})();
