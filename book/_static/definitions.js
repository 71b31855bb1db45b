// Definitions of terms: on hover, on keyboard focus and on touch, as many as a reader wants.
(() => {
  const box = Object.assign(document.createElement("div"), { id: "definition", hidden: true });
  box.setAttribute("role", "tooltip");
  document.body.append(box);
  let shown = null, timer, wasShown = false;

  const hide = () => {
    clearTimeout(timer);
    shown?.removeAttribute("aria-describedby");
    shown = null;
    box.hidden = true;
  };
  const show = (link) => {
    if (!link.hasAttribute("href") || link === shown) return clearTimeout(timer);
    hide();
    shown = link;
    box.textContent = link.dataset.definition;
    box.hidden = false;
    link.setAttribute("aria-describedby", box.id);
    const line = link.getClientRects()[0], margin = 12, page = document.documentElement;
    box.style.left = "0";  // else the page's edge squeezes the box before it is measured
    const right = page.clientWidth - box.offsetWidth - margin;
    box.style.left = `${Math.max(margin, Math.min(line.left, right)) + scrollX}px`;
    const fits = line.bottom + box.offsetHeight + margin < innerHeight;
    const top = fits ? line.bottom + 4 : line.top - box.offsetHeight - 4;
    box.style.top = `${top + scrollY}px`;
  };
  const later = (what, milliseconds) => {
    clearTimeout(timer);
    timer = setTimeout(what, milliseconds);
  };

  const links = document.querySelectorAll("a.term");
  for (const link of links) {
    link.addEventListener("focus", () => show(link));
    link.addEventListener("blur", hide);
    link.addEventListener("pointerenter", (e) => e.pointerType === "touch" || later(() => show(link), 150));
    link.addEventListener("pointerleave", (e) => e.pointerType === "touch" || later(hide, 250));
    link.addEventListener("pointerdown", () => { wasShown = link === shown; });
    // the first tap shows the definition, a second one follows the link
    link.addEventListener("click", (e) => {
      if (e.pointerType !== "touch" || wasShown) return;
      e.preventDefault();
      show(link);
    });
  }
  box.addEventListener("pointerenter", () => clearTimeout(timer));
  box.addEventListener("pointerleave", () => later(hide, 250));
  addEventListener("keydown", (e) => e.key === "Escape" && hide());
  addEventListener("pointerdown", (e) => e.target.closest("a.term, #definition") || hide());

  // A term that is not to be explained is no link, and the keyboard does not stop there.
  const choice = document.getElementById("terms");
  const apply = (level) => {
    hide();
    for (const link of links) {
      link.dataset.href ??= link.getAttribute("href");
      const explain = level === "all" || (level === "fewer" && link.classList.contains("core"));
      if (explain) link.setAttribute("href", link.dataset.href);
      else link.removeAttribute("href");
    }
  };
  choice.value = memory.get("terms", "all");
  apply(choice.value);
  choice.addEventListener("change", () => {
    memory.set("terms", choice.value);
    apply(choice.value);
  });
})();
