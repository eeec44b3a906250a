"use strict";
// Hovering over a mark, or stepping through the marks with the arrow keys, shows its tooltip.
const tip = document.getElementById("tip");
const spoken = document.getElementById("spoken");
const MAX_DISTANCE = 24; // pixels from the pointer to a mark

// Each picture is once in the page, and shown where its number is.
const pictures = JSON.parse(document.getElementById("pictures").textContent);
for (const image of document.querySelectorAll("img[data-picture]")) image.src = pictures[image.dataset.picture];

function show(plot, mark, speak) {
  hide();
  mark.classList.add("current");
  tip.textContent = mark.dataset.tip;
  if (mark.dataset.picture) {
    const image = document.createElement("img");
    image.alt = "";
    image.src = pictures[mark.dataset.picture];
    tip.prepend(image);
  }
  tip.hidden = false;
  const box = mark.getBoundingClientRect();
  const own = tip.getBoundingClientRect();
  const left = Math.min(Math.max(8, box.left + box.width / 2 - own.width / 2), window.innerWidth - own.width - 8);
  const above = box.top - own.height - 10;
  tip.style.left = `${left + window.scrollX}px`;
  tip.style.top = `${(above > 4 ? above : box.bottom + 10) + window.scrollY}px`;
  if (speak) spoken.textContent = mark.dataset.tip;
}

function hide() {
  for (const mark of document.querySelectorAll(".current")) mark.classList.remove("current");
  tip.hidden = true;
}

function nearest(marks, x, y) {
  let best = null;
  let least = MAX_DISTANCE * MAX_DISTANCE;
  for (const mark of marks) {
    const box = mark.getBoundingClientRect();
    const dx = Math.max(box.left - x, 0, x - box.right);
    const dy = Math.max(box.top - y, 0, y - box.bottom);
    const distance = dx * dx + dy * dy;
    if (distance < least) [best, least] = [mark, distance];
  }
  return best;
}

for (const plot of document.querySelectorAll("[data-plot]")) {
  const marks = [...plot.querySelectorAll("[data-tip]")];
  let at = -1;
  const point = (event) => {
    const mark = nearest(marks, event.clientX, event.clientY);
    if (mark) show(plot, mark, false);
    else hide();
  };
  plot.addEventListener("pointermove", point);
  plot.addEventListener("pointerdown", point);
  plot.addEventListener("pointerleave", hide);
  plot.addEventListener("blur", hide);
  plot.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") hide();
    if (!step || !marks.length) return;
    event.preventDefault();
    at = (at + step + marks.length) % marks.length;
    show(plot, marks[at], true);
  });
}

// A button of the legend highlights the rows of its class on the map.
for (const button of document.querySelectorAll("[data-pick]")) {
  button.addEventListener("click", () => {
    const chosen = button.getAttribute("aria-pressed") !== "true";
    for (const other of document.querySelectorAll("[data-pick]")) other.setAttribute("aria-pressed", "false");
    button.setAttribute("aria-pressed", String(chosen));
    for (const mark of document.querySelectorAll("[data-class]")) {
      mark.classList.toggle("faded", chosen && mark.dataset.class !== button.dataset.pick);
    }
  });
}
