/* What every page needs beyond htmx: the live region, focus after swaps, dialogs, copying,
   local times, the menu of small screens, and errors that keep what was typed. */
"use strict";

(() => {
  const live = () => document.getElementById("live");

  /** Say something in the polite live region; an empty turn makes repeats heard. */
  function announce(text) {
    const region = live();
    if (!region || !text) return;
    region.textContent = "";
    window.setTimeout(() => { region.textContent = text; }, 30);
  }
  window.MemConsole = Object.assign(window.MemConsole || {}, { announce });

  document.addEventListener("announce", (event) => announce(event.detail.value));

  document.addEventListener("DOMContentLoaded", () => {
    const said = [...document.querySelectorAll("[data-announce]")].map((one) => one.textContent.trim());
    if (said.length) announce(said.join(" "));
  });

  /* After a swap the reader is where the new content begins, never on the body. */
  document.addEventListener("htmx:afterSettle", (event) => {
    const target = event.detail.elt;
    const asked = event.detail.requestConfig?.elt;
    // What loads by itself, after the page or every now and then, takes the focus from nobody.
    if (!target || !target.querySelector || /^(load|every )/.test(asked?.getAttribute("hx-trigger") || "")) return;
    const heading = target.matches("[data-focus]") ? target : target.querySelector("[data-focus]");
    if (heading) heading.focus({ preventScroll: false });
    else if (document.activeElement === document.body && target.id) {
      target.tabIndex = -1;
      target.focus({ preventScroll: true });
    }
  });
  document.addEventListener("htmx:beforeRequest", (event) => event.detail.target.setAttribute("aria-busy", "true"));
  document.addEventListener("htmx:afterRequest", (event) => event.detail.target.removeAttribute("aria-busy"));

  /* An answer that cannot be swapped in leaves the region as it is, with a retry above it. */
  function showFailure(event, text) {
    const target = event.detail.target;
    target.querySelector(":scope > .swap-failure")?.remove();
    const notice = document.createElement("div");
    notice.className = "notice notice-error swap-failure";
    notice.setAttribute("role", "alert");
    const words = document.createElement("span");
    words.textContent = text + " ";
    const retry = document.createElement("button");
    retry.type = "button";
    retry.className = "button button-small";
    retry.textContent = "Try again";
    const asked = event.detail.elt;
    retry.addEventListener("click", () => {
      notice.remove();
      if (asked.requestSubmit) asked.requestSubmit();
      else if (asked.getAttribute("hx-trigger") === "load") {
        // Loading happens once, when the piece comes; there is no such event to send again.
        window.htmx.ajax("GET", asked.getAttribute("hx-get"), { source: asked, target: asked, swap: asked.getAttribute("hx-swap") });
      }
      else asked.click();
    });
    notice.append(words, retry);
    target.prepend(notice);
  }
  document.addEventListener("htmx:sendError", (event) => showFailure(event, "There is no connection. Nothing you typed is lost."));
  document.addEventListener("htmx:timeout", (event) => showFailure(event, "No answer came in time. Nothing you typed is lost."));
  document.addEventListener("htmx:responseError", (event) => {
    const xhr = event.detail.xhr;
    if (xhr.status === 401) showFailure(event, xhr.responseText);
    else if (xhr.status >= 500) showFailure(event, "The server could not answer. Nothing you typed is lost.");
  });

  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-dialog]");
    if (opener) { document.getElementById(opener.dataset.dialog)?.showModal(); return; }
    const closer = event.target.closest("[data-close]");
    if (closer?.closest("dialog")) {
      event.preventDefault();
      closer.closest("dialog").close();
      return;
    }
    if (event.target.matches("dialog")) { event.target.close(); return; }
    const toggle = event.target.closest("[data-toggle]");
    if (toggle) {
      const open = document.getElementById(toggle.dataset.toggle).classList.toggle("is-open");
      toggle.setAttribute("aria-expanded", String(open));
      return;
    }
    const copy = event.target.closest("[data-copy]");
    if (copy) {
      const text = copy.dataset.copy === "link" ? location.href : document.getElementById(copy.dataset.copy).textContent;
      navigator.clipboard.writeText(text).then(
        () => announce("Copied."),
        () => announce("The browser does not allow copying here."),
      );
    }
  });
  /* A link in a dialog to a part of the page behind it leads out of the dialog. */
  document.addEventListener("click", (event) => {
    const link = event.target.closest("dialog a[href*='#']");
    if (!link || link.pathname !== location.pathname || link.search !== location.search) return;
    const dialog = link.closest("dialog");
    if (!dialog.querySelector(`[id="${CSS.escape(link.hash.slice(1))}"]`)) dialog.close();
  });
  /* What is swapped into the dialog's body opens the dialog. */
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target.id !== "modal-body") return;
    const modal = document.getElementById("modal");
    if (!modal.open) modal.showModal();
    (modal.querySelector("[autofocus], [data-focus]") || modal).focus();
  });

  document.addEventListener("click", (event) => {
    for (const open of document.querySelectorAll("details.switch[open]")) {
      if (!open.contains(event.target)) open.open = false;
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const open of document.querySelectorAll("details.switch[open]")) {
      open.open = false;
      open.querySelector("summary").focus();
    }
  });

  /* Theme and density change at once; the form tells the server. */
  document.addEventListener("submit", (event) => {
    const form = event.target.closest("form[data-look]");
    const button = event.submitter;
    if (!form || !button) return;
    event.preventDefault();
    const root = document.documentElement;
    root.dataset[button.name] = button.value;
    if (button.name === "theme") {
      for (const one of form.querySelectorAll("[name=theme]")) one.setAttribute("aria-pressed", String(one === button));
    } else {
      const roomy = button.value === "comfortable";
      button.setAttribute("aria-pressed", String(roomy));
      button.value = roomy ? "compact" : "comfortable";
    }
    const body = new URLSearchParams(new FormData(form));
    body.set(button.name, root.dataset[button.name]);
    fetch(form.action, { method: "POST", body, redirect: "manual" });
  });

  /* Exact times are UTC; on hover the reader's own time is beside it. */
  document.addEventListener("mouseover", (event) => {
    const time = event.target.closest?.("time[data-local]");
    if (!time || time.dataset.told) return;
    time.dataset.told = "1";
    const local = new Date(time.dateTime).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "long" });
    time.title = (time.title ? time.title + "\n" : "") + local + " (yours)";
  });

  /* A choice that filters sends its form; empty fields stay out of the URL. */
  document.addEventListener("change", (event) => {
    if (event.target.matches("select[data-submits]")) event.target.form.requestSubmit();
  });
  document.addEventListener("htmx:configRequest", (event) => {
    if (!event.detail.elt.matches("form[data-lean]")) return;
    for (const [name, value] of Object.entries(event.detail.parameters)) {
      if (value === "") delete event.detail.parameters[name];
    }
  });

  /* A box with data-select-all answers for the boxes of its table. */
  document.addEventListener("change", (event) => {
    const all = event.target.closest("[data-select-all]");
    if (!all) return;
    for (const box of all.closest("table").querySelectorAll("tbody input[type=checkbox]:not(:disabled)")) box.checked = all.checked;
  });
})();
