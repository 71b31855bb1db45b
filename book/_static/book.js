// Opened from a folder, the browser refuses to fetch the pages that search results quote.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

// What scrolls sideways must be reachable by keyboard; only what does scroll is a stop.
const scrolling = () => document
  .querySelectorAll("mjx-container[display=true], div.math, .bd-article pre, .pst-scrollable-table-container")
  .forEach((e) => {
    if (e.scrollWidth > e.clientWidth) e.tabIndex = 0;
    else e.removeAttribute("tabindex");
  });
addEventListener("load", () => {
  scrolling();
  window.MathJax?.startup?.promise?.then(scrolling);
});
addEventListener("resize", scrolling);
