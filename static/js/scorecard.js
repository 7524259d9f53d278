// The scorecard's form: what the plain page does not do by itself. Everything here is comfort; saving works without.
"use strict";

// The line says what becomes of a save, while it is on its way and when it fails.
function sayInLine(state, words) {
  const saved = document.querySelector("[data-saved]");
  if (!saved) return;
  saved.dataset.state = state;
  saved.textContent = words;
}
const autosaved = (element) => element?.matches?.("form[data-autosave]");

document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
  if (autosaved(ctx.sourceElement)) sayInLine("saving", "Saving…");
});
document.addEventListener("htmx:error", ({ detail: { ctx } }) => {
  if (ctx && autosaved(ctx.sourceElement)) sayInLine("failed", "Not saved: no connection");
});
document.addEventListener("htmx:response:error", ({ detail: { ctx } }) => {
  if (autosaved(ctx.sourceElement) && ctx.response.status >= 500) sayInLine("failed", "Not saved");
});

// Keys inside a group of choices: a digit picks a level, a letter picks met, not met, not seen, not applicable.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !event.target.matches?.(".segments input[type=radio]")) return;
  const choice = event.target.closest(".segments").querySelector(`input[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
  if (!choice || choice.checked) return;
  event.preventDefault();
  choice.checked = true;
  choice.focus();
  choice.dispatchEvent(new Event("input", { bubbles: true }));
});

// A list of rows always ends in an empty one.
document.addEventListener("input", (event) => {
  const row = event.target.closest?.("[data-rows] > li");
  if (!row || row.nextElementSibling || !row.querySelector("input").value) return;
  const copy = row.cloneNode(true);
  const number = row.parentElement.children.length + 1;
  copy.querySelectorAll("input").forEach((input) => { input.value = ""; });
  copy.querySelectorAll("[aria-label]").forEach((part) => {
    part.setAttribute("aria-label", part.getAttribute("aria-label").replace(/\d+/, number));
  });
  row.after(copy);
});

// "Close" puts an editor away; the focus goes back to what opened it.
document.addEventListener("click", (event) => {
  const close = event.target.closest?.("[data-close]");
  const slot = close?.closest("[id^='evidence-slot-'], [id^='step-slot-']");
  if (!slot) return;
  event.preventDefault();
  const opener = slot.parentElement.querySelector("[data-refocus]");
  slot.replaceChildren();
  opener?.focus();
});

// After a swap: an editor takes the focus; a section that was saved gives it back to its first action.
document.addEventListener("htmx:after:swap", ({ detail: { ctx } }) => {
  spy();
  if (ctx?.response?.status === 200 && document.querySelector("[data-saved]")?.textContent === "Saved") {
    sayInLine("saved", `Saved ${new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23" })}`);
  }
  // Where the answer replaced the element that asked, htmx names the new one as the source.
  const replaced = document.activeElement === document.body ? ctx?.sourceElement : null;
  const place = ctx?.target instanceof Element && ctx.target.isConnected ? ctx.target : replaced;
  const next = ["[autofocus]", "input[name=level]:checked", "[data-refocus]"]
    .map((selector) => place?.querySelector?.(selector)).find(Boolean);
  next?.focus();
});

// The index marks the part that one is reading.
let watcher = null;
function spy() {
  const index = document.querySelector("[data-spy]");
  if (!index) return;
  watcher?.disconnect();
  const links = new Map([...index.querySelectorAll("a[href^='#']")].map((link) => [link.hash.slice(1), link]));
  watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      index.querySelectorAll("[aria-current]").forEach((link) => link.removeAttribute("aria-current"));
      links.get(entry.target.id)?.setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-20% 0px -70% 0px" });
  for (const id of links.keys()) {
    const part = document.getElementById(id);
    if (part) watcher.observe(part);
  }
}
spy();
