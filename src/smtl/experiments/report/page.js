// Filters: what is not chosen is hidden by a style sheet of its own, wherever it stands.
const form = document.getElementById("choosers");
form.hidden = false;
const style = document.getElementById("chosen");
const apply = () => {
  const rules = [];
  const told = [];
  for (const chooser of all("details", form)) {
    const boxes = all("input", chooser);
    const off = boxes.filter((box) => !box.checked);
    for (const box of off) rules.push(`[data-${chooser.dataset.kind}="${box.value}"]`);
    chooser.querySelector(".how-many").textContent = `${boxes.length - off.length} of ${boxes.length}`;
    if (off.length === boxes.length) told.push(`No ${chooser.dataset.one} is chosen.`);
  }
  style.textContent = rules.length ? `${rules.join(",")}{display:none!important}` : "";
  document.getElementById("told").textContent = told.join(" ");
};
for (const chooser of all("details", form)) {
  chooser.addEventListener("change", apply);
  for (const button of all("button", chooser)) {
    button.addEventListener("click", () => {
      for (const box of all("input", chooser)) box.checked = button.value === "all";
      apply();
    });
  }
  chooser.addEventListener("toggle", () => {
    if (chooser.open) for (const other of all("details[open]", form)) if (other !== chooser) other.open = false;
  });
}
document.getElementById("reset").addEventListener("click", () => {
  for (const box of all("input", form)) box.checked = box.defaultChecked;
  apply();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const open of all("details[open]", form)) {
    open.open = false;
    open.querySelector("summary").focus();
  }
});
document.addEventListener("click", (event) => {
  if (!form.contains(event.target)) for (const open of all("details[open]", form)) open.open = false;
});
form.addEventListener("submit", (event) => event.preventDefault());
apply();

// Paired tests: the rows of another method or measure.
const ours = document.getElementById("ours");
const by = document.getElementById("by");
const cell = (name, content) => {
  const [text, kind] = Array.isArray(content) ? content : [content, ""];
  const made = document.createElement(name);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
};
const fill = (id, rows) => {
  const table = document.getElementById(id);
  table.tBodies[0].replaceChildren(...rows.map(([d, m, ...cells]) => {
    const row = document.createElement("tr");
    if (d !== null) {
      row.dataset.d = d;
      row.append(cell("th", [data.datasets[d], "w"]));
    }
    row.dataset.m = m;
    row.append(cell(d === null ? "th" : "td", [data.methods[m], "w"]), ...cells.map((one) => cell("td", one)));
    row.cells[0].scope = "row";
    return row;
  }));
  const sorted = table.querySelector('th[aria-sort="ascending"],th[aria-sort="descending"]');
  if (sorted) sortTable(table, sorted, sorted.getAttribute("aria-sort") === "ascending" ? 1 : -1);
};
const refill = () => {
  const found = data.tests[by.value]?.[ours.value];
  for (const id of ["tests", "opponents"]) {
    fill(id, found ? found[id] : []);
    document.getElementById(`${id}-caption`).textContent = found ? found[`${id}_caption`] : "No such runs.";
  }
};
if (ours) for (const select of [ours, by]) select.addEventListener("change", refill);
