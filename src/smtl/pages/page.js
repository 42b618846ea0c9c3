const root = document.documentElement;
const data = JSON.parse(document.getElementById("data").textContent);
const all = (selector, from = document) => [...from.querySelectorAll(selector)];

// Theme: the system's unless chosen, and the choice is kept.
const theme = document.getElementById("theme");
theme.hidden = false;
for (const input of all("input", theme)) {
  input.checked = input.value === (root.dataset.theme || "");
  input.addEventListener("change", () => {
    if (input.value) root.dataset.theme = input.value;
    else delete root.dataset.theme;
    try {
      if (input.value) localStorage.setItem("smtl-theme", input.value);
      else localStorage.removeItem("smtl-theme");
    } catch (error) { /* not kept */ }
  });
}

// Sorting: once by the column, again the other way round, a third time as it was.
const number = (text) => {
  const found = text.replaceAll("\u2212", "-").match(/[-+]?\d[\d,]*\.?\d*(e[-+]?\d+)?/i);
  if (!found) return NaN;
  return parseFloat(found[0].replaceAll(",", "")) - (text.trim().startsWith("<") ? 1e-9 : 0);
};
const sortTable = (table, head, direction) => {
  const column = Number(head.dataset.c);
  const words = head.classList.contains("w");
  for (const body of table.tBodies) {
    const rows = [...body.rows];
    rows.forEach((row, place) => { row.place ??= place; });
    const key = (row) => {
      const text = row.cells[column].textContent;
      return words ? text : number(text);
    };
    rows.sort((one, other) => {
      if (!direction) return one.place - other.place;
      const [a, b] = [key(one), key(other)];
      if (words) return direction * a.localeCompare(b, "en", { numeric: true }) || one.place - other.place;
      if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b) || one.place - other.place;
      return direction * (a - b) || one.place - other.place;
    });
    body.append(...rows);
  }
};
for (const head of all("th[data-c]")) {
  // Not a button element: where a head is repeated in print, Chromium leaves those empty.
  const button = document.createElement("span");
  button.className = "sort";
  button.tabIndex = 0;
  button.setAttribute("role", "button");
  button.append(...head.childNodes);
  head.append(button);
  head.setAttribute("aria-sort", "none");
  button.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    button.click();
  });
  button.addEventListener("click", () => {
    const table = head.closest("table");
    const first = head.classList.contains("w") ? "ascending" : "descending";
    const second = first === "ascending" ? "descending" : "ascending";
    const now = head.getAttribute("aria-sort");
    const next = now === "none" ? first : now === first ? second : "none";
    for (const other of all("th[aria-sort]", table)) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", next);
    sortTable(table, head, { ascending: 1, descending: -1, none: 0 }[next]);
  });
}
