"use strict";
(() => {
  const root = document.documentElement, all = (what, within = document) => [...within.querySelectorAll(what)];
  const say = (text) => { document.getElementById("said").textContent = text; };
  root.classList.add("js");

  // Tables: a column's button sorts by it, up and then down; what is empty comes last.
  const key = (row, column) => {
    const cell = row.cells[column], text = cell.dataset.key ?? cell.textContent;
    return text !== "" && !isNaN(text) ? Number(text) : text;
  };
  const order = (a, b) => typeof a === "number" && typeof b === "number" ? a - b
    : String(a).localeCompare(String(b), "en", { numeric: true });
  for (const button of all("thead button")) {
    button.addEventListener("click", () => {
      const head = button.parentElement, table = head.closest("table"), body = table.tBodies[0];
      const down = head.getAttribute("aria-sort") === "ascending";
      all("[aria-sort]", table).forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...body.rows].map((row) => [key(row, head.cellIndex), row]);
      rows.sort(([a], [b]) => (a === "") - (b === "") || (a === "" ? 0 : down ? order(b, a) : order(a, b)));
      body.append(...rows.map(([, row]) => row));
      say(`${table.caption.textContent}: sorted by ${button.textContent}, ${down ? "downwards" : "upwards"}`);
    });
  }

  // Runs: those that have all words of the search.
  const filter = document.getElementById("filter"), found = document.getElementById("found");
  const show = () => {
    const words = filter.value.toLowerCase().split(/\s+/), rows = all("#runs tbody tr");
    for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
    found.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length}`;
  };
  filter.addEventListener("input", show);
  show();

  // The theme: that of the system, light or dark; kept where the browser keeps anything.
  const theme = document.getElementById("theme"), themes = ["automatic", "light", "dark"];
  const dress = (name) => {
    if (name === "automatic") delete root.dataset.theme; else root.dataset.theme = name;
    theme.textContent = `Theme: ${name}`;
    try { localStorage.setItem("theme", name); } catch { /* a page from a file may not */ }
  };
  theme.addEventListener("click", () => {
    dress(themes[(themes.indexOf(root.dataset.theme ?? "automatic") + 1) % themes.length]);
  });
  try { dress(themes.find((name) => name === localStorage.getItem("theme")) ?? "automatic"); } catch { /* as above */ }

  // Learning curves by steps, updates or seconds.
  const turn = (axis) => all("figure[data-axis]").forEach((figure) => { figure.hidden = figure.dataset.axis !== axis; });
  all("input[name=axis]").forEach((choice) => {
    choice.addEventListener("change", () => turn(choice.value));
    if (choice.checked) turn(choice.value);
  });

  const theirs = document.getElementById("theirs");
  const mark = () => root.classList.toggle("no-paper", !theirs.checked);
  theirs.addEventListener("change", mark);
  mark();

  // Pictures stand still until asked for, and where the system asks for less motion stay so.
  for (const button of all(".play")) {
    const picture = button.previousElementSibling, still = picture.src, name = button.textContent.replace("Play ", "");
    const play = (moves) => {
      picture.src = moves ? picture.dataset.moving : still;
      button.setAttribute("aria-pressed", String(moves));
      button.textContent = `${moves ? "Stop" : "Play"} ${name}`;
    };
    button.addEventListener("click", () => play(button.getAttribute("aria-pressed") !== "true"));
    play(!matchMedia("(prefers-reduced-motion: reduce)").matches);
  }

  // What is folded is printed, too, but for the commands of runs.
  const closed = () => all("main > section:not(#runs) details:not([open])");
  let opened = [];
  addEventListener("beforeprint", () => { opened = closed(); opened.forEach((part) => { part.open = true; }); });
  addEventListener("afterprint", () => opened.forEach((part) => { part.open = false; }));

  // A link to a folded part opens it.
  addEventListener("hashchange", () => document.getElementById(location.hash.slice(1))?.focus({ preventScroll: true }));
})();
