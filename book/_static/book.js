// What this browser remembers of its reader, and sends nowhere: the choice of terms, the
// finished chapters, the exercises done. Without storage it lasts as long as the page.
const memory = (() => {
  const key = "the-transformer-encoder";
  let kept = {};
  try { kept = JSON.parse(localStorage.getItem(key)) ?? {}; } catch { /* forbidden */ }
  const write = () => {
    try { localStorage.setItem(key, JSON.stringify(kept)); } catch { /* forbidden */ }
  };
  return {
    get: (name, otherwise) => kept[name] ?? otherwise,
    set: (name, value) => { kept[name] = value; write(); },
    has: (name, item) => (kept[name] ?? []).includes(item),
    mark: (name, item, on) => {
      const others = (kept[name] ?? []).filter((other) => other !== item);
      kept[name] = on ? [...others, item] : others;
      write();
    },
    forget: (...names) => { for (const name of names) delete kept[name]; write(); },
  };
})();

// Opened from a folder, the browser refuses to fetch the pages that search results quote.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

// What scrolls sideways must be reachable by keyboard; only what does scroll is a stop.
const scrolling = () => document
  .querySelectorAll("mjx-container[display=true], div.math, .bd-article pre, .pst-scrollable-table-container")
  .forEach((e) => {
    if (e.scrollWidth > e.clientWidth) e.tabIndex = 0;
    else e.removeAttribute("tabindex");
  });
addEventListener("load", scrolling);
addEventListener("resize", scrolling);
