/* The page of a bulk operation: its button waits for the number that must be typed (the server
   asks for it as well), and whoever watched it run is led to its receipt. */
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

  /* When the run has ended its receipt takes the place of all; a reader who was nowhere else, or
     in what is gone, begins at its heading. */
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.detail.target?.id !== "operation" || document.activeElement !== document.body) return;
    document.querySelector("#operation h1")?.focus({ preventScroll: true });
  });
})();
