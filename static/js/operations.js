/* The page of a bulk operation: its button waits for the number that must be typed. The server
   asks for it as well, so that the page works without this. */
"use strict";

(() => {
  function watch(button) {
    const field = document.getElementById(button.dataset.countOf);
    if (!field || button.dataset.watched) return;
    button.dataset.watched = "1";
    const check = () => { button.disabled = field.value.trim() !== button.dataset.countIs; };
    field.addEventListener("input", check);
    check();
  }
  const watchAll = () => document.querySelectorAll("button[data-count-of]").forEach(watch);
  document.addEventListener("DOMContentLoaded", watchAll);
  document.addEventListener("htmx:afterSettle", watchAll);
  if (document.readyState !== "loading") watchAll();
})();
