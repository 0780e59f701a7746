"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const search = document.getElementById("search");
  const help = document.getElementById("help");
  const list = document.getElementById("list");
  const sections = all("section.kernel");
  const cells = new Map(all("[data-cell]").map((cell) => [cell.dataset.cell, cell]));
  const boxOf = (section) => section.querySelector("details.k");

  // Of a page with many kernels, a kernel is text until it is opened; without scripts it is there at once.
  const asleep = (section) => section.querySelector("noscript");
  const wake = (section) => {
    const text = asleep(section);
    if (!text) return;
    text.outerHTML = text.textContent;
    hide(section);
    addCopying(section);
  };
  const open = (section) => {
    wake(section);
    boxOf(section).open = true;
  };
  document.addEventListener("toggle", (event) => {
    if (event.target.open && event.target.matches?.("details.k")) wake(event.target.closest("section"));
  }, true);
  const words = new Map();
  const ENTITIES = { "&lt;": "<", "&gt;": ">", "&#34;": '"', "&#39;": "'", "&amp;": "&" };
  const textOf = (section) => {
    if (!words.has(section)) {
      const text = asleep(section)?.textContent.replace(/<[^>]*>/g, "").replace(/&[#\w]+;/g, (each) => ENTITIES[each] || " ");
      words.set(section, `${section.querySelector("summary").textContent} ${text ?? section.textContent}`.toLowerCase());
    }
    return words.get(section);
  };

  // Search and filters.
  const KINDS = ["severity", "rule", "folder"];
  const on = {};
  const isOff = (code, severity) => Boolean((on.rule && !on.rule.has(code)) || (on.severity && !on.severity.has(severity)));
  const hide = (root) => {
    for (const each of all("[data-code]", root)) each.hidden = isOff(each.dataset.code, each.dataset.severity);
  };
  const apply = () => {
    const wanted = search.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    for (const kind of KINDS) {
      const boxes = all(`input[name=${kind}]`);
      const checked = boxes.filter((box) => box.checked).map((box) => box.value);
      on[kind] = checked.length < boxes.length ? new Set(checked) : null;
      const picked = document.querySelector(`[data-picked=${kind}]`);
      if (picked) picked.textContent = on[kind] ? `${checked.length} of ${boxes.length}` : "";
    }
    hide(document);
    let kernels = 0;
    for (const section of sections) {
      const its = section.dataset.has.split(" ").filter(Boolean).map((each) => isOff(...each.split("/")));
      const fits = wanted.every((word) => textOf(section).includes(word));
      const has = !(on.rule || on.severity) || its.includes(false);
      section.hidden = !(fits && has && (!on.folder || on.folder.has(section.dataset.folder)));
      // What is at stake is that of all findings together.
      section.querySelector(".gain").classList.toggle("some", its.includes(true));
      cells.get(section.id)?.classList.toggle("off", section.hidden);
      kernels += !section.hidden;
    }
    const filtered = wanted.length || KINDS.some((kind) => on[kind]);
    document.getElementById("shown").textContent = filtered ? `${kernels} of ${sections.length} kernels` : "";
  };
  const pick = (kind, checked) => {
    for (const box of all(`input[name=${kind}]`)) box.checked = checked;
    apply();
  };
  for (const button of all("[data-all]")) button.addEventListener("click", () => pick(button.dataset.all, true));
  for (const button of all("[data-none]")) button.addEventListener("click", () => pick(button.dataset.none, false));
  document.getElementById("sort").addEventListener("change", (event) => {
    const by = event.target.value;
    const of = (section) => section.dataset[by];
    const before = (a, b) => {
      if (by === "name" || by === "file") return of(a).localeCompare(of(b));
      return by === "order" ? of(a) - of(b) : of(b) - of(a);
    };
    sections.sort((a, b) => before(a, b) || a.dataset.order - b.dataset.order);
    list.append(...sections);
  });
  const fold = document.getElementById("fold");
  fold.addEventListener("click", () => {
    const seen = sections.filter((section) => !section.hidden);
    const opens = seen.some((section) => !boxOf(section).open);
    for (const section of seen) opens ? open(section) : (boxOf(section).open = false);
    fold.textContent = opens ? "Close all" : "Open all";
  });
  document.addEventListener("input", (event) => {
    if (event.target === search || KINDS.includes(event.target.name)) apply();
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

  // From one finding or kernel to the next, opening what it is in.
  const unfold = (element) => {
    for (let box = element.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
  };
  const go = (chosen, selector, step) => {
    const seen = chosen().filter((each) => !each.closest("[hidden], .allowed"));
    if (!seen.length) return;
    const active = document.activeElement;
    let at = seen.indexOf(active.closest?.(selector));
    if (at < 0 && active !== document.body) {
      // Beside none of them: the first one behind where one is, or the one before that.
      const behind = seen.findIndex((each) => active.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING);
      at = (behind < 0 ? seen.length : behind) - (step > 0 ? 1 : 0);
    }
    const next = seen[Math.max(0, Math.min(seen.length - 1, at + step))];
    if (selector === "article.f") unfold(next);
    const focused = next.querySelector(":scope > details > summary") || next;
    if (focused === next) next.tabIndex = -1;
    focused.focus({ preventScroll: true });
    next.scrollIntoView({ block: "start" });
    if (next.id) history.replaceState(null, "", `#${next.id}`);
  };
  const toFinding = (step) => {
    // The kernel where one is, and the next one that has any.
    const seen = sections.filter((section) => !section.hidden && section.dataset.has);
    if (step < 0) seen.reverse();
    const active = document.activeElement;
    const own = active.closest?.("section.kernel");
    const follows = step > 0 ? Node.DOCUMENT_POSITION_FOLLOWING : Node.DOCUMENT_POSITION_PRECEDING;
    const isBeyond = (section) =>
      active === document.body ? step > 0 : active.compareDocumentPosition(section) & follows && section !== own;
    if (own) wake(own);
    const next = seen.find((section) => isBeyond(section) && (wake(section), all("article.f:not([hidden])", section).length));
    if (next) wake(next);
    go(() => all("article.f"), "article.f", step);
  };
  const toKernel = (step) => go(() => sections, "section.kernel", step);

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
  const addCopying = (root) => {
    for (const diff of all("pre.diff", root)) {
      const text = patchOf(diff);
      if (!text) continue;
      const button = document.createElement("button");
      [button.type, button.className, button.textContent] = ["button", "copy", "Copy as a patch"];
      button.addEventListener("click", () => copy(button, text));
      diff.before(button);
    }
  };
  addCopying(document);
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
      case "j": toFinding(1); break;
      case "k": toFinding(-1); break;
      case "n": toKernel(1); break;
      case "p": toKernel(-1); break;
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

  // A link into what is closed opens it; so does printing, of the kernels that have findings.
  const reveal = () => {
    const name = decodeURIComponent(location.hash.slice(1));
    if (!name) return;
    if (!document.getElementById(name)) {
      sections.filter((section) => asleep(section)?.textContent.includes(` id="${name}"`)).forEach(wake);
    }
    const target = document.getElementById(name);
    if (!target) return;
    if (target.closest("[hidden]")) {
      search.value = "";
      for (const kind of KINDS) for (const box of all(`input[name=${kind}]`)) box.checked = true;
      apply();
    }
    if (target.matches("section.kernel")) open(target);
    unfold(target);
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  document.addEventListener("click", (event) => {
    // The address may be there already, and what it is of closed again.
    if (event.target.closest?.("a")?.getAttribute("href") === location.hash) reveal();
  });
  addEventListener("beforeprint", () => {
    const seen = sections.filter((section) => !section.hidden);
    if (!seen.some((section) => boxOf(section).open)) seen.filter((section) => section.dataset.has).forEach(open);
    for (const box of all("details.a.waste")) box.open = true;
  });
  if (location.hash) reveal();
})();
