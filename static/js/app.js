// Small listeners on the document, so that swapped-in content needs no wiring.
// Nothing here is needed for reading: pages work without it.
"use strict";

const notices = () => document.getElementById("notices");

function notice(kind, word, sentence) {
  const region = notices();
  if (!region) return;
  region.querySelectorAll("[data-from-script]").forEach((old) => old.remove());
  const box = document.createElement("div");
  box.className = `notice ${kind}`;
  box.dataset.fromScript = "";
  const strong = document.createElement("strong");
  strong.textContent = word;
  const text = document.createElement("p");
  text.textContent = sentence;
  const close = document.createElement("button");
  close.type = "button";
  close.className = "button quiet small dismiss";
  close.textContent = "Close";
  close.addEventListener("click", () => box.remove());
  box.append(strong, text, close);
  region.append(box);
  region.scrollIntoView({ block: "nearest" });
}

// Copy buttons: <button data-copy="#id"> copies that element; an empty value, the nearest <pre> or <code>.
document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("[data-copy]");
  if (!button) return;
  const source = button.dataset.copy
    ? document.querySelector(button.dataset.copy)
    : button.closest(".copyable, .copy-line")?.querySelector("pre, code");
  if (!source) return;
  const label = button.dataset.label ?? button.textContent;
  button.dataset.label = label;
  try {
    await navigator.clipboard.writeText((source.value ?? source.textContent).trim());
    button.textContent = "Copied";
  } catch {
    // No clipboard (plain http, or refused): select the text, so that the reader can copy it.
    getSelection().selectAllChildren(source);
    button.textContent = "Selected";
  }
  setTimeout(() => { button.textContent = label; }, 2000);
});

// Theme: as the system, light, dark.
const THEMES = ["system", "light", "dark"];
const THEME_WORDS = { system: "Theme: as the system", light: "Theme: light", dark: "Theme: dark" };

function showTheme() {
  const now = document.documentElement.dataset.theme ?? "system";
  document.querySelectorAll("[data-theme-toggle]").forEach((button) => {
    button.hidden = false;
    button.textContent = THEME_WORDS[now];
  });
}

document.addEventListener("click", (event) => {
  if (!event.target.closest?.("[data-theme-toggle]")) return;
  const root = document.documentElement;
  const next = THEMES[(THEMES.indexOf(root.dataset.theme ?? "system") + 1) % THEMES.length];
  if (next === "system") delete root.dataset.theme;
  else root.dataset.theme = next;
  try { localStorage.setItem("theme", next); } catch { /* kept for this page only */ }
  showTheme();
});

// Menus: one open at a time, closed by Escape or a click elsewhere; focus returns to the menu's own button.
function closeMenus({ except = null, focus = false } = {}) {
  document.querySelectorAll("details[data-menu][open]").forEach((menu) => {
    if (menu === except) return;
    if (focus && menu.contains(document.activeElement)) menu.querySelector("summary").focus();
    menu.open = false;
  });
}
document.addEventListener("click", (event) => closeMenus({ except: event.target.closest?.("details[data-menu]") }));

// Dialogs: <button data-dialog="id"> opens one.
const openDialog = (id) => document.getElementById(id)?.showModal?.();
document.addEventListener("click", (event) => {
  if (event.target.closest?.("[data-shortcuts]")) openDialog("shortcuts");
  const opener = event.target.closest?.("[data-dialog]");
  if (opener) openDialog(opener.dataset.dialog);
  if (event.target.matches?.("dialog[open]")) event.target.close(); // the backdrop
});

// Keyboard: / to search, ? for the list, arrows in a result list.
const TYPING = "input:not([type=checkbox], [type=radio], [type=button], [type=submit]), textarea, select, [contenteditable]";

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    closeMenus({ focus: true });
    const results = document.querySelector(".results:not(:empty)");
    if (results && !document.querySelector("dialog[open]")) results.replaceChildren();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const typing = event.target.matches?.(TYPING);
  if (event.key === "/" && !typing) {
    const search = document.querySelector("[data-search], input[type=search]");
    if (search) { event.preventDefault(); search.focus(); search.select?.(); }
  } else if (event.key === "?" && !typing && !document.querySelector("dialog[open]")) {
    event.preventDefault();
    openDialog("shortcuts");
  } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    const box = event.target.closest?.(".search, .autocomplete");
    const links = box ? [...box.querySelectorAll(".results :is(a, button)")] : [];
    if (!links.length) return;
    event.preventDefault();
    const at = links.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
    if (at < 0) box.querySelector("input")?.focus();
    else links[Math.min(at, links.length - 1)].focus();
  }
});

// A queued save was collected when it was triggered: give it the version that the last answer brought,
// or it conflicts with ourselves.
document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
  const now = ctx.request.form?.elements?.namedItem("version");
  if (now && ctx.request.body?.has?.("version")) ctx.request.body.set("version", now.value);
});

// While a request is out, the old content stays, dimmed, with a word; polls and autosaves do so silently.
const waiting = new Map();

function isSilent(element) {
  return /\b(every|load|input)\b/.test(element?.getAttribute?.("hx-trigger") ?? "");
}

document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
  const silent = isSilent(ctx.sourceElement);
  const target = silent || !(ctx.target instanceof Element) ? null : ctx.target;
  target?.setAttribute("aria-busy", "true");
  waiting.set(ctx, { target, timer: silent ? 0 : setTimeout(() => say("Loading"), 300) });
});

document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
  const entry = waiting.get(ctx);
  if (!entry) return;
  waiting.delete(ctx);
  clearTimeout(entry.timer);
  entry.target?.removeAttribute("aria-busy");
  if (![...waiting.values()].some((other) => other.timer)) say("");
});

function say(word) {
  const output = document.getElementById("progress-word");
  if (output) output.textContent = word;
}

// Unsaved: leaving the page asks first while a form's save is out, has failed or was refused.
// A form opts in with data-guard; a plain form so marked is guarded from the first change until it is sent.
const unsaved = new Set();
const sent = new WeakMap(); // form → nothing was typed since its last save went out
const guarded = (element) => element?.closest?.("form[data-guard]");
// What the server gave back unsaved, after a preview or a refusal, is still to be lost.
document.querySelectorAll("form[data-guard][data-unsaved]").forEach((form) => unsaved.add(form));

document.addEventListener("input", (event) => {
  const form = guarded(event.target);
  if (form) { unsaved.add(form); sent.set(form, false); }
});
document.addEventListener("submit", (event) => {
  const form = guarded(event.target);
  if (form && !form.hasAttribute("hx-post")) unsaved.delete(form);
});
document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
  const form = guarded(ctx.sourceElement);
  if (form) { unsaved.add(form); sent.set(form, true); }
});
document.addEventListener("htmx:after:request", ({ detail: { ctx } }) => {
  const form = guarded(ctx.sourceElement);
  // What was typed meanwhile is in the next save, which will clear it.
  if (form && sent.get(form) && (ctx.response?.status ?? 500) < 400) unsaved.delete(form);
});
window.addEventListener("beforeunload", (event) => {
  for (const form of unsaved) if (!form.isConnected) unsaved.delete(form);
  if (unsaved.size) event.preventDefault();
});

// Errors: one sentence. 4xx answers that bring their own partial (409, 422) speak for themselves.
const SENTENCES = {
  403: "You may see this, but not change it. Nothing was saved.",
  404: "This is no longer here, or not for you. Reload the page.",
  413: "The file is larger than the server accepts. Nothing was saved.",
  429: "Too many requests at once. Wait a minute and try again.",
};

document.addEventListener("htmx:response:error", ({ detail: { ctx } }) => {
  const status = ctx.response.status;
  if (status === 409 || status === 422) return;
  const sentence = SENTENCES[status] ?? (status >= 500
    ? "The server could not do this. Nothing on this page has changed; try again, and tell us if it happens twice."
    : "The server refused this request. Reload the page and try again.");
  notice("error", "Error", sentence);
});
document.addEventListener("htmx:error", ({ detail: { ctx } }) => {
  if (ctx && !ctx.response) notice("error", "Error", "The server could not be reached. What you typed is still here; try again when you are online.");
});

document.querySelectorAll("[data-shortcuts]").forEach((button) => { button.hidden = false; });
showTheme();
