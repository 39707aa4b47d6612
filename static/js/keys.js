/* Single keys. An element with data-shortcut="<id>" answers to that id's key: a field is
   focused, anything else is pressed. Silent in fields, in dialogs, with modifiers, while a
   request is under way, and where the person has switched keys off. */
"use strict";

(() => {
  const source = document.getElementById("keymap");
  if (!source) return;
  const keys = JSON.parse(source.textContent);
  const byKey = new Map(Object.entries(keys).map(([id, key]) => [key, id]));
  const PREFIX_MS = 1200;
  let prefix = "";
  let prefixTimer = 0;

  const isOn = () => document.documentElement.dataset.shortcuts === "on";
  const isTyping = (element) => element.closest("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]") !== null;
  const isBusy = () => document.querySelector(".htmx-request[data-decision], [data-decision] .htmx-request") !== null;
  const isSeen = (element) => element.offsetParent !== null || getComputedStyle(element).position === "fixed";

  function targetOf(id) {
    return [...document.querySelectorAll(`[data-shortcut~="${id}"]`)].find((one) => isSeen(one) && !one.disabled);
  }

  function rows() {
    return [...document.querySelectorAll("[data-row]")].filter(isSeen);
  }

  function currentRow() {
    return document.activeElement.closest("[data-row]");
  }

  /** Go to the next or previous row of the list; the row's own link takes the focus. */
  function move(step) {
    const all = rows();
    if (!all.length) return false;
    const here = all.indexOf(currentRow());
    const row = all[Math.min(all.length - 1, Math.max(0, here === -1 ? (step > 0 ? 0 : all.length - 1) : here + step))];
    const link = row.querySelector("[data-row-link]") || row;
    link.focus();
    row.scrollIntoView({ block: "nearest" });
    return true;
  }

  const acts = {
    next: () => move(1),
    previous: () => move(-1),
    open: () => { const link = currentRow()?.querySelector("[data-row-link]"); link?.click(); return Boolean(link); },
    select: () => { const box = currentRow()?.querySelector("input[type=checkbox]"); box?.click(); return Boolean(box); },
    "copy-link": () => { navigator.clipboard.writeText(location.href).then(() => window.MemConsole.announce("Link copied.")); return true; },
  };
  window.MemConsole = Object.assign(window.MemConsole || {}, { keys, acts });

  function act(id) {
    const target = targetOf(id);
    if (target) {
      if (target.matches("input, select, textarea")) { target.focus(); target.select?.(); } else { target.click(); }
      return true;
    }
    return acts[id] ? acts[id]() : false;
  }

  document.addEventListener("keydown", (event) => {
    if (!isOn() || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (isTyping(event.target) || document.querySelector("dialog[open]") || isBusy()) return;
    const key = event.key;
    if (key.length !== 1) return;
    const pressed = prefix + key;
    window.clearTimeout(prefixTimer);
    if (!prefix && key === "g") {
      prefix = "g ";
      prefixTimer = window.setTimeout(() => { prefix = ""; }, PREFIX_MS);
      return;
    }
    prefix = "";
    const id = byKey.get(pressed);
    if (id && act(id)) event.preventDefault();
  });

  /* The help dialog shows at full strength what this page answers to. */
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-dialog=help]")) return;
    const kept = document.querySelector("#help template");
    if (kept) kept.replaceWith(kept.content);
    for (const line of document.querySelectorAll("[data-help]")) {
      const id = line.dataset.help;
      const isHere = Boolean(targetOf(id)) || (["next", "previous", "open"].includes(id) && rows().length > 0) || id === "copy-link";
      line.classList.toggle("is-absent", !isHere);
    }
  });
})();
