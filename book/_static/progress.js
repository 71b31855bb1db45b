// Ticks for finished chapters and for exercises done.
(() => {
  const root = new URL(document.documentElement.dataset.content_root, location.href);
  const nameOf = (url) =>
    decodeURI(new URL(url, location.href).pathname.slice(root.pathname.length)).replace(/\.html$/, "");
  const here = nameOf(location.href);
  const summary = document.getElementById("progress");
  const chapters = summary?.dataset.chapters.split(" ") ?? [];
  const finished = document.querySelector("#finished input");
  const exercises = [...document.querySelectorAll(".exercise .tick-box input")];
  const idOf = (exercise) => `${here}#${exercise.closest(".exercise").id}`;
  const count = document.getElementById("exercises");
  const words = count?.textContent;

  const showFinished = () => {
    for (const link of document.querySelectorAll(".bd-links a.internal")) {
      link.querySelector(".tick")?.remove();
      if (memory.has("finished", nameOf(link.href)))
        link.insertAdjacentHTML("beforeend",
          ' <span class="tick"><span aria-hidden="true">✓</span><span class="visually-hidden">finished</span></span>');
    }
    if (finished) finished.checked = memory.has("finished", here);
    if (!summary) return;
    const done = chapters.filter((name) => memory.has("finished", name)).length;
    summary.querySelector("p").textContent = `${done} of ${chapters.length} chapters finished`;
    summary.hidden = false;
  };
  const showDone = () => {
    for (const exercise of exercises) exercise.checked = memory.has("done", idOf(exercise));
    if (!exercises.length || !count) return;
    const done = exercises.filter((exercise) => exercise.checked).length;
    count.textContent = done ? `${done} of ${words} done` : words;
  };

  finished?.addEventListener("change", () => {
    memory.mark("finished", here, finished.checked);
    showFinished();
  });
  for (const exercise of exercises)
    exercise.addEventListener("change", () => {
      memory.mark("done", idOf(exercise), exercise.checked);
      showDone();
    });
  summary?.querySelector("button").addEventListener("click", () => {
    memory.forget("finished", "done", "terms");
    location.reload();
  });
  showFinished();
  showDone();
})();
