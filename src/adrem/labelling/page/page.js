"use strict";
// The page knows nothing that the server does not: each answer is sent, and the reply is shown.
const byId = (id) => document.getElementById(id);
const MOST_KEYS = 9;
const LONG = 80; // letters of a cell that needs the whole width
let state = null;
let busy = false;
let timer = null;

async function ask(path, sent) {
  const options = sent === undefined ? {} : {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(sent),
  };
  const answer = await fetch(path, options);
  const found = await answer.json().catch(() => ({ error: "The server gave no answer." }));
  if (!answer.ok) throw new Error(found.error || answer.statusText);
  return found;
}

// One request at a time: a key that is pressed before the next row is there would be about a row that nobody has seen.
async function act(path, sent, said) {
  if (busy) return;
  busy = true;
  try {
    take(await ask(path, sent));
    tell(said ? said(state) : "");
  } catch (error) {
    tell(error instanceof TypeError ? "The server can't be reached: is adrem label running? Your answers are on disk." : error.message, true);
  } finally {
    busy = false;
  }
}

function tell(text, failed = false) {
  byId("status").textContent = text;
  byId("status").classList.toggle("failed", failed);
}

function give(kind, label) {
  if (!state || !state.row) return;
  const sent = { kind, row: state.row.row, label };
  const own = state.row;
  const what = kind === "label" ? label : kind === "none" ? "none of these" : "skipped";
  act("answer", sent, (found) => {
    const elsewhere = found.replaced !== null && own.answer === null;
    return elsewhere ? `${own.name} was answered in another window: ${found.replaced}. It is now: ${what}.` : `${own.name}: ${what}.`;
  });
}

const open = (row) => act(row === null ? "state" : `state?row=${row}`);

// The labels that have a key: all of a few in a fixed order, of many the most probable ones.
function keyed() {
  const { classes, row } = state;
  return classes.length <= MOST_KEYS ? classes : row.order.slice(0, MOST_KEYS).map((k) => classes[k]);
}

// A row that is on the screen keeps its guess and its keys, though the model may be a new one.
function take(found) {
  const shown = state && state.row;
  const stays = Boolean(shown && found.row && found.row.row === shown.row);
  if (stays) Object.assign(found.row, { order: shown.order, share: shown.share });
  state = found;
  show(stays);
}

function show(stays) {
  const { row, estimate, work, classes } = state;
  byId("answered").textContent = state.answered;
  byId("learnt").textContent = `${work.learnt} ${work.learnt === 1 ? "label" : "labels"}`;
  byId("estimate").textContent = estimate === null ? "unknown" : inWords(estimate);
  byId("other").hidden = row === null || classes.length <= MOST_KEYS;
  for (const id of ["none", "skip"]) byId(id).disabled = row === null;
  byId("undo").disabled = state.answered === 0;
  byId("back").disabled = (row === null ? state.back : row.back) === null;
  byId("forth").disabled = row === null || row.answer === null;
  showWork(work);
  if (row === null) {
    byId("name").textContent = "All rows were asked for";
    for (const id of ["cells", "labels", "guess", "note"]) byId(id).replaceChildren();
    byId("picture").hidden = true;
    return;
  }
  if (!stays) {
    showRow(row, classes);
    byId("name").focus({ preventScroll: true });
  }
  showAnswer(row.answer);
}

function showAnswer(given) {
  const press = (button, pressed) => button.setAttribute("aria-pressed", String(given !== null && pressed));
  const labels = keyed();
  [...byId("labels").children].forEach((button, k) => press(button, given?.kind === "label" && given.label === labels[k]));
  for (const kind of ["none", "skip"]) press(byId(kind), given?.kind === kind);
}

function showRow(row, classes) {
  byId("name").textContent = row.name;
  byId("note").textContent = row.is_check ? "A random row, to estimate the accuracy by" : "A row to learn from";
  byId("picture").hidden = !row.picture;
  if (row.picture) {
    byId("picture").src = `picture/${row.row}`;
    byId("picture").alt = `Picture ${row.name}`;
  }
  byId("cells").replaceChildren(...row.cells.map(([name, value]) => {
    const cell = document.createElement("div");
    cell.classList.toggle("long", value.length > LONG);
    cell.append(element("dt", name), element("dd", value === "" ? "(empty)" : value));
    return cell;
  }));
  byId("cells").hidden = row.cells.length === 0;
  if (byId("cells").scrollHeight > byId("cells").clientHeight) byId("cells").tabIndex = 0;
  else byId("cells").removeAttribute("tabindex");
  const [first, second] = row.order.map((k) => classes[k]);
  const hint = element("span", "gives the guess.");
  hint.className = "hint";
  hint.prepend(element("kbd", "Enter"));
  byId("guess").replaceChildren("Guess: ", element("strong", first), ` (${Math.round(100 * row.share)} %), then ${second}. `, hint);
  byId("labels").replaceChildren(...keyed().map((label, k) => {
    const button = document.createElement("button");
    button.append(element("kbd", String(k + 1)), label);
    button.addEventListener("click", () => give("label", label));
    return button;
  }));
  byId("all").replaceChildren(...(classes.length > MOST_KEYS ? classes.map((label) => new Option(label, label)) : []));
  byId("wanted").value = "";
}

function element(tag, text) {
  const made = document.createElement(tag);
  made.textContent = text;
  return made;
}

function inWords({ accuracy, low, high, n_labels: n }) {
  const [a, b, c] = [accuracy, low, high].map((share) => Math.round(100 * share));
  return `${a} %, likely ${b} to ${c} % (${n} random ${n === 1 ? "row" : "rows"})`;
}

function showWork(work) {
  const { running, seconds, usual, waiting, problem, round } = work;
  byId("waiting").textContent = waiting === 0 ? "The model has learnt all labels." : `${waiting} ${waiting === 1 ? "label is" : "labels are"} new to the model.`;
  byId("adapt").disabled = running;
  byId("progress").hidden = !running;
  if (running && usual) {
    byId("progress").max = usual;
    byId("progress").value = Math.min(seconds, 0.97 * usual);
  }
  const said = running ? "Adapting. You can go on labelling." : problem ? `It failed: ${problem}` : round > 1 ? `Adapted ${round - 1} ${round === 2 ? "time" : "times"}.` : "";
  if (byId("work").textContent !== said) byId("work").textContent = said;
  byId("work").classList.toggle("failed", !running && problem !== "");
  if (running) later(1000);
}

// One timer, however many answers are given while a model is adapted.
function later(wait) {
  clearTimeout(timer);
  timer = setTimeout(watch, wait);
}

// While a model is adapted, its progress is asked for; the row on the screen stays until it is answered.
async function watch() {
  if (busy) {
    later(200);
    return;
  }
  try {
    const row = state.row;
    const found = await ask(row === null ? "state" : `state?row=${row.row}`);
    if (busy || (state.row && state.row.row) !== (row && row.row)) {
      later(200);
      return;
    }
    take(found);
  } catch (error) {
    tell("The server can't be reached: is adrem label running? Your answers are on disk.", true);
  }
}

const adapt = () => { if (state && !state.work.running) act("adapt", { row: state.row && state.row.row }); };
const KEYS = {
  0: () => give("none"), s: () => give("skip"), u: () => byId("undo").click(), Backspace: () => byId("undo").click(),
  ArrowLeft: () => byId("back").click(), ArrowRight: () => byId("forth").click(), a: () => byId("adapt").click(),
  "/": () => { if (!byId("other").hidden) byId("wanted").focus(); },
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !state) return;
  if (event.target.tagName === "INPUT") {
    if (event.key === "Escape") byId("name").focus();
    return;
  }
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (state.row && key >= "1" && key <= "9" && key.length === 1) {
    const label = keyed()[Number(key) - 1];
    if (label !== undefined) give("label", label);
  } else if (key === "Enter" && state.row && !["BUTTON", "A"].includes(event.target.tagName)) {
    give("label", state.classes[state.row.order[0]]);
  } else if (KEYS[key]) {
    KEYS[key]();
  } else {
    return;
  }
  event.preventDefault();
});

byId("none").addEventListener("click", () => give("none"));
byId("skip").addEventListener("click", () => give("skip"));
byId("undo").addEventListener("click", () => act("undo", {}, () => "The last answer was taken back."));
byId("back").addEventListener("click", () => open(state.row === null ? state.back : state.row.back));
byId("forth").addEventListener("click", () => open(state.row.forth));
byId("adapt").addEventListener("click", adapt);
byId("other").addEventListener("submit", (event) => {
  event.preventDefault();
  const wanted = byId("wanted").value;
  if (state.classes.includes(wanted)) give("label", wanted);
  else tell(`There is no label ${wanted}.`, true);
});
// What was answered in another window is seen when one comes back to this one.
document.addEventListener("visibilitychange", () => { if (!document.hidden && state && state.row) open(state.row.row); });
open(null);
