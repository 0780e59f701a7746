"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const search = document.getElementById("search");
  const help = document.getElementById("help");
  const sections = all("section.kernel");
  const findings = all("article.f");
  const rows = new Map(all("tr[data-for]").map((row) => [row.dataset.for, row]));
  const words = new Map();
  const textOf = (element) => {
    if (!words.has(element)) words.set(element, element.textContent.toLowerCase());
    return words.get(element);
  };

  // Search and rules.
  const apply = () => {
    const wanted = search.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const boxes = all("input[name=rule]");
    const on = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    const filters = on.size < boxes.length;
    for (const each of all("[data-code]")) each.hidden = !on.has(each.dataset.code);
    let kernels = 0;
    for (const section of sections) {
      const fits = wanted.every((word) => textOf(section).includes(word));
      const has = !filters || all("[data-code]", section).some((each) => !each.hidden);
      section.hidden = !(fits && has);
      const row = rows.get(section.id);
      if (row) {
        row.hidden = section.hidden;
        // A gain is that of all findings together.
        row.querySelector(".gain").classList.toggle("part", all("[data-code]", section).some((each) => each.hidden));
        kernels += !section.hidden;
      }
    }
    const filtered = wanted.length || filters;
    document.getElementById("shown").textContent = filtered ? `${kernels} of ${rows.size} kernels` : "";
  };
  document.addEventListener("input", (event) => {
    if (event.target === search || event.target.name === "rule") apply();
    if (event.target.type === "range") slide(event.target);
  });
  document.querySelector("form[role=search]").addEventListener("submit", (event) => event.preventDefault());

  // Requests of an access.
  const slide = (range) => {
    const box = range.closest("details");
    all(".picture", box).forEach((picture, index) => {
      picture.hidden = index !== Number(range.value);
      if (!picture.hidden) range.parentElement.querySelector("output").textContent = picture.dataset.caption;
    });
  };

  // From one finding or kernel to the next.
  const go = (list, step) => {
    // To ask for boxes would have the browser lay out all that is out of sight.
    const seen = list.filter((each) => !each.closest("[hidden], details:not([open])"));
    if (!seen.length) return;
    const at = seen.indexOf(document.activeElement.closest?.("article.f, section.kernel"));
    const top = (each) => each.getBoundingClientRect().top;
    let next = at + step;
    if (at < 0) {
      next = seen.findIndex((each) => top(each) > 1);
      if (step < 0) next = (next < 0 ? seen.length : next) - 1;
    }
    const chosen = seen[Math.max(0, Math.min(seen.length - 1, next))];
    chosen.tabIndex = -1;
    chosen.focus({ preventScroll: true });
    chosen.scrollIntoView({ block: "start" });
    if (chosen.id) history.replaceState(null, "", `#${chosen.id}`);
  };

  // A change as a patch, for `git apply` or `patch -p0`.
  const patchOf = (diff) => {
    const parts = [];
    let hunk = null;
    for (const span of diff.children) {
      const line = span.textContent.replace(/\n$/, "");
      if (span.className === "at") {
        const [, path, start] = line.trim().match(/^(.*):(\d+)$/) || [];
        if (!path) return "";
        parts.push((hunk = { path, start: Number(start), lines: [] }));
      } else hunk.lines.push(line[0] + line.slice(2));
    }
    let text = "", path = null, moved = 0;
    for (const hunk of parts) {
      if (hunk.path !== path) {
        text += `--- ${hunk.path}\n+++ ${hunk.path}\n`;
        [path, moved] = [hunk.path, 0];
      }
      const before = hunk.lines.filter((line) => line[0] !== "+").length;
      const after = hunk.lines.filter((line) => line[0] !== "-").length;
      text += `@@ -${hunk.start},${before} +${hunk.start + moved},${after} @@\n${hunk.lines.join("\n")}\n`;
      moved += after - before;
    }
    return text;
  };
  const copy = async (button, text) => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "The browser does not let pages copy";
    }
  };
  for (const diff of all("pre.diff")) {
    const text = patchOf(diff);
    if (!text) continue;
    const button = document.createElement("button");
    [button.type, button.className, button.textContent] = ["button", "copy", "Copy as a patch"];
    button.addEventListener("click", () => copy(button, text));
    diff.before(button);
  }
  const openHelp = () => (help.open ? help.close() : help.showModal());
  document.getElementById("keys").addEventListener("click", openHelp);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && document.activeElement === search) {
      search.value = "";
      apply();
      search.blur();
      return;
    }
    if (event.target === search) return;
    switch (event.key) {
      case "j": go(findings, 1); break;
      case "k": go(findings, -1); break;
      case "n": go(sections, 1); break;
      case "p": go(sections, -1); break;
      case "o": {
        const near = document.activeElement.closest?.("tr, section.kernel") || document;
        const boxes = all("details.a", near);
        const open = boxes.some((box) => !box.open);
        for (const box of boxes) box.open = open;
        break;
      }
      case "/": search.focus(); break;
      case "?": openHelp(); break;
      default: return;
    }
    event.preventDefault();
  });

  // A link into what is closed opens it; so does printing.
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target?.closest("[hidden]")) {
      search.value = "";
      for (const box of all("input[name=rule]")) box.checked = true;
      apply();
    }
    for (let box = target?.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
    target?.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  addEventListener("beforeprint", () => all("details.a.waste").forEach((box) => (box.open = true)));
  if (location.hash) reveal();
})();
