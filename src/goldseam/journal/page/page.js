
"use strict";
(() => {
  const story = document.getElementById("story");
  const search = document.getElementById("search");
  const found = document.getElementById("found");
  const parts = [...story.querySelectorAll(".step, .note, .whole > details")];
  const steps = parts.filter((part) => part.classList.contains("step"));
  const texts = new Map();
  let opened = [];
  let waiting = 0;

  const textOf = (part) => {
    if (!texts.has(part)) texts.set(part, part.textContent.toLowerCase());
    return texts.get(part);
  };

  /* Ranges of `wanted` below `element`, for the highlight; text nodes alone, nothing is written. */
  const rangesIn = (element, wanted) => {
    const ranges = [];
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node.data.toLowerCase();
      if (text.length !== node.data.length) continue;
      for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + wanted.length);
        ranges.push(range);
      }
    }
    return ranges;
  };

  const openAround = (range) => {
    for (let node = range.startContainer.parentElement; node && node !== story; node = node.parentElement) {
      const inSummary = range.startContainer.parentElement.closest("summary");
      if (node.tagName === "DETAILS" && !node.open && inSummary?.parentElement !== node) {
        node.open = true;
        opened.push(node);
      }
    }
  };

  const highlight = (ranges) => {
    if (typeof Highlight === "undefined" || !CSS.highlights) return;
    if (ranges.length) CSS.highlights.set("found", new Highlight(...ranges));
    else CSS.highlights.delete("found");
  };

  const look = () => {
    const wanted = search.value.toLowerCase().trim();
    for (const details of opened) details.open = false;
    opened = [];
    const ranges = [];
    let count = 0;
    for (const part of parts) {
      part.hidden = wanted !== "" && !textOf(part).includes(wanted);
      if (wanted === "" || part.hidden) continue;
      count += steps.includes(part) ? 1 : 0;
      if (ranges.length < 5000) {
        const own = rangesIn(part, wanted);
        own.slice(0, 200).forEach(openAround);
        for (const range of own) ranges.push(range);
      }
    }
    highlight(ranges.slice(0, 5000));
    found.textContent = wanted === "" ? "" : `${count} of ${steps.length} steps`;
  };

  const current = () => steps.findIndex((step) => step.classList.contains("current"));

  const goTo = (step) => {
    if (!step) return;
    steps[current()]?.classList.remove("current");
    step.classList.add("current");
    step.focus({ preventScroll: true });
    step.scrollIntoView({ block: "start" });
  };

  const move = (by) => {
    let at = current() + by;
    while (steps[at]?.hidden) at += by;
    goTo(steps[at]);
  };

  const setAll = (part, open) => part.querySelectorAll("details").forEach((one) => { one.open = open; });

  const toggle = (step) => {
    if (!step) return;
    const all = [...step.querySelectorAll("details")];
    const open = all.some((one) => !one.open);
    setAll(step, open);
  };

  const clear = () => {
    search.value = "";
    look();
  };

  const keys = {
    "/": () => { search.focus(); search.select(); },
    j: () => move(1),
    k: () => move(-1),
    o: () => toggle(steps[current()]),
    Escape: clear,
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === search) {
      if (event.key === "Escape") { clear(); search.blur(); }
      if (event.key === "Enter") { look(); goTo(steps.find((step) => !step.hidden)); }
      return;
    }
    const act = Object.hasOwn(keys, event.key) ? keys[event.key] : null;
    if (act) { event.preventDefault(); act(); }
  });
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(look, 120);
  });
  document.getElementById("open-all").addEventListener("click", () => setAll(story, true));
  document.getElementById("close-all").addEventListener("click", () => setAll(story, false));
  document.getElementById("chart")?.querySelector("svg").addEventListener("click", (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const width = event.currentTarget.viewBox.baseVal.width;
    goTo(steps[Math.floor((event.clientX - box.left) / box.width * width)]);
  });
})();
