// Formulas come after the page: MathJax starts when all else has been painted, and typesets one
// formula at a time, so that the page answers in between. `typeset` is the promise of the last.
const typeset = (async () => {
  const formulas = document.querySelectorAll(".math");
  if (!formulas.length) return;
  await new Promise((loaded) => addEventListener("load", loaded));
  await new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)));
  const script = document.createElement("script");
  const root = document.documentElement.dataset.content_root;
  await new Promise((loaded) => {
    script.onload = loaded;
    script.src = `${root}_static/mathjax/startup.js`;
    document.head.append(script);
  });
  await MathJax.startup.promise;
  for (const formula of formulas) {
    await MathJax.typesetPromise([formula]);
    await new Promise((next) => setTimeout(next));
  }
})();
typeset.then(scrolling);
