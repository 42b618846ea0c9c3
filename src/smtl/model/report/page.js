// One task: its curves, calibration and mistakes, at a cut-off that can be moved.
const $ = (id) => document.getElementById(id);
const NOTHING = "\u2013";
const shown = (text) => String(text).replaceAll("-", "\u2212");
const figure = (value, digits = 3) => (Number.isFinite(value) ? shown(value.toFixed(digits)) : NOTHING);
const brief = (value) => shown(Number(value.toPrecision(3)));
const signed = (value) => (value > 0 ? `+${brief(value)}` : brief(value));
const count = (value) => value.toLocaleString("en");
let task = null;
let place = 0;
let asked = null; // a cut that was typed, where all cuts are known

// Rows above each cut: the page has how many lie between one cut and the next.
const totals = (total, steps) => {
  let left = total;
  return steps.map((step) => (left -= step));
};
const unpacked = new Map();
const unpack = (k) => {
  if (!unpacked.has(k)) {
    const found = { ...data.tasks[k] };
    found.negatives = found.rows - found.positives;
    if (found.rows) {
      found.tp = totals(found.positives, found.yes);
      found.fp = totals(found.negatives, found.no);
      found.own = found.cuts.indexOf(0);
    }
    unpacked.set(k, found);
  }
  return unpacked.get(k);
};

// The number with the fewest decimals from one cut to the next: it tells the same rows apart.
const shorten = (low, high) => {
  for (let digits = 0; digits < 16; digits += 1) {
    const rounded = Math.ceil(low * 10 ** digits) / 10 ** digits;
    if (rounded >= low && rounded < high) return rounded + 0;
  }
  return low;
};
const cutAt = (k) => {
  const low = task.cuts[k];
  if (!task.all) return low;
  const high = k + 1 < task.cuts.length ? task.cuts[k + 1] : low + (low - task.cuts[0] || 1) / 20;
  return low === 0 ? 0 : shorten(low, high);
};
const measures = (k) => {
  const [tp, fp] = [task.tp[k], task.fp[k]];
  const [fn, tn] = [task.positives - tp, task.negatives - fp];
  const known = task.positives > 0;
  return {
    tp, fp, fn, tn,
    precision: known ? (tp + fp ? tp / (tp + fp) : 0) : NaN,
    recall: known ? tp / task.positives : NaN,
    f1: known ? (2 * tp) / (2 * tp + fp + fn) : NaN,
  };
};

// Pictures.
const draw = (parent, name, attributes, text) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
};
const ticks = (low, high) => {
  const rough = (high - low) / 6 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high; k += 1) found.push(Number((k * step).toPrecision(12)));
  return found;
};
const frame = (svg, width, height, [low, high], names) => {
  const [left, right, top, bottom] = [46, width - 14, 10, height - 42];
  svg.replaceChildren();
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.style.setProperty("--wide", `${width}px`);
  const x = (value) => left + ((right - left) * (value - low)) / (high - low);
  const y = (value) => bottom - (bottom - top) * value;
  for (const value of [0, 0.2, 0.4, 0.6, 0.8, 1]) {
    draw(svg, "line", { class: "grid", x1: left, x2: right, y1: y(value), y2: y(value) });
    draw(svg, "text", { class: "tick", x: left - 6, y: y(value) + 4, "text-anchor": "end" }, value);
  }
  for (const value of ticks(low, high)) {
    draw(svg, "line", { class: "grid", x1: x(value), x2: x(value), y1: top, y2: bottom });
    draw(svg, "text", { class: "tick", x: x(value), y: bottom + 16, "text-anchor": "middle" }, shown(value));
  }
  draw(svg, "line", { class: "axis", x1: left, x2: right, y1: bottom, y2: bottom });
  draw(svg, "line", { class: "axis", x1: left, x2: left, y1: top, y2: bottom });
  draw(svg, "text", { class: "title", x: (left + right) / 2, y: height - 6, "text-anchor": "middle" }, names[0]);
  const middle = (top + bottom) / 2;
  draw(svg, "text", { class: "title", x: 12, y: middle, "text-anchor": "middle", transform: `rotate(-90 12 ${middle})` }, names[1]);
  return { svg, x, y, top, bottom };
};
const path = (points) => `M${points.map(([a, b]) => `${a.toFixed(1)} ${b.toFixed(1)}`).join("L")}`;
const diamond = (a, b) => `M${a} ${b - 7}L${a + 7} ${b}L${a} ${b + 7}L${a - 7} ${b}Z`;
const narrow = matchMedia("(max-width: 40rem)");
let moving = []; // what is to be put at the cut-off

const curves = () => {
  const both = task.positives > 0 && task.negatives > 0;
  $("curves").hidden = $("curve-key").hidden = !both;
  $("no-curves").hidden = both;
  if (!both) {
    $("no-curves").textContent = `All ${count(task.rows)} rows of this task are labelled ${task.positives ? "yes" : "no"} in these data: there are no curves without both classes${task.positives ? "" : ", and no precision, recall and F1 without positives"}.`;
    return;
  }
  const points = task.cuts.map((_, k) => measures(k));
  const steps = []; // precision from one recall to the next: that of the lower cut
  for (let k = points.length - 1; k >= 0; k -= 1) {
    if (points[k].tp + points[k].fp === 0) continue;
    if (steps.length) steps.push([steps.at(-1)[0], points[k].precision]);
    else steps.push([0, points[k].precision]);
    steps.push([points[k].recall, points[k].precision]);
  }
  const rate = (m) => m.fp / task.negatives;
  const base = task.positives / task.rows;
  const pr = frame($("pr"), 380, 340, [0, 1], ["recall", "precision"]);
  draw(pr.svg, "path", { class: "chance", d: path([[pr.x(0), pr.y(base)], [pr.x(1), pr.y(base)]]) });
  draw(pr.svg, "path", { class: "steps", d: path(steps.map(([a, b]) => [pr.x(a), pr.y(b)])) });
  const roc = frame($("roc"), 380, 340, [0, 1], ["share of negatives answered yes", "recall"]);
  draw(roc.svg, "path", { class: "chance", d: path([[roc.x(0), roc.y(0)], [roc.x(1), roc.y(1)]]) });
  draw(roc.svg, "path", { class: "steps", d: path(points.map((m) => [roc.x(rate(m)), roc.y(m.recall)])) });
  const at = [[pr, (m) => [pr.x(m.recall), pr.y(m.precision)]], [roc, (m) => [roc.x(rate(m)), roc.y(m.recall)]]];
  for (const [{ svg }, where] of at) {
    draw(svg, "path", { class: "own", d: diamond(...where(points[task.own])) });
    const dot = draw(svg, "circle", { class: "now", r: 5.5 });
    moving.push((m) => {
      const [a, b] = where(m);
      dot.setAttribute("cx", a.toFixed(2));
      dot.setAttribute("cy", b.toFixed(2));
    });
  }
  $("pr-caption").textContent = `Precision and recall at every cut-off; average precision ${figure(task.average_precision)}.`;
  $("roc-caption").textContent = `ROC curve: recall against false alarms; AUC ${figure(task.auc)}.`;
};

// Cells with their classes; a list is put in parts that are not broken.
const row = (cells) => {
  const made = document.createElement("tr");
  cells.forEach(([text, kind], k) => {
    const cell = document.createElement(k ? "td" : "th");
    if (!k) cell.scope = "row";
    if (Array.isArray(text)) {
      for (const part of text) {
        const made = document.createElement("span");
        made.className = "part";
        made.textContent = part;
        cell.append(made, " ");
      }
    } else cell.textContent = text;
    if (kind) cell.className = kind;
    made.append(cell);
  });
  return made;
};
const calibration = () => {
  const bins = task.bins;
  const says = bins[0].expected !== undefined;
  $("calibration-text").textContent = says
    ? "How often rows of a score are positive. This model has probabilities: the ring is the mean of what it says, and should lie within the interval."
    : "A score says on which side of the cut a row lies, and in which order rows come; it is not a probability. This is how often rows of a score are positive.";
  $("bins-caption").textContent = `Share of positives in ${bins.length} group${bins.length > 1 ? "s" : ""} of rows by score, each a dot at its mean score with a bar over its scores and the 95\u00a0% Wilson interval. Dashed across: the share in all rows; dotted up: the cut-off.`;
  let [low, high] = [bins[0].low, bins.at(-1).high];
  [low, high] = [Math.min(low, 0), Math.max(high, 0)];
  const margin = (high - low || 1) * 0.03;
  const range = [low - margin, high + margin];
  const at = frame($("bins"), narrow.matches ? 380 : 620, 320, range, ["score", "share of positives"]);
  const { svg, x, y } = at;
  const base = y(task.positives / task.rows);
  draw(svg, "path", { class: "chance", d: path([[x(range[0]), base], [x(range[1]), base]]) });
  const line = draw(svg, "line", { class: "at", y1: at.top, y2: at.bottom });
  moving.push((m, cut) => {
    const where = x(Math.min(Math.max(cut, range[0]), range[1])).toFixed(2);
    line.setAttribute("x1", where);
    line.setAttribute("x2", where);
  });
  for (const bin of bins) {
    const share = bin.positives / bin.rows;
    draw(svg, "line", { class: "span", x1: x(bin.low), x2: x(bin.high), y1: y(share), y2: y(share) });
    draw(svg, "line", { class: "interval", x1: x(bin.mean), x2: x(bin.mean), y1: y(bin.interval[0]), y2: y(bin.interval[1]) });
    if (says) draw(svg, "circle", { class: "expected", cx: x(bin.mean), cy: y(bin.expected), r: 5 });
    const dot = draw(svg, "circle", { class: "share", cx: x(bin.mean), cy: y(share), r: 4.5 });
    draw(dot, "title", {}, `${count(bin.positives)} of ${count(bin.rows)} rows with scores from ${brief(bin.low)} to ${brief(bin.high)}`);
  }
  $("expected-head").hidden = !says;
  $("bin-table").tBodies[0].replaceChildren(...bins.map((bin) => row([
    [`${brief(bin.low)} to ${brief(bin.high)}`, "w"],
    [count(bin.rows)],
    [count(bin.positives)],
    [figure(bin.positives / bin.rows)],
    [`${figure(bin.interval[0])} to ${figure(bin.interval[1])}`],
    ...(says ? [[figure(bin.expected)]] : []),
  ])));
};

const mistakes = () => {
  const kinds = { wrong_yes: "Answered yes, labelled no", wrong_no: "Answered no, labelled yes" };
  Object.entries(kinds).forEach(([kind, title], k) => {
    const [some, total] = [task[kind], task.wrong[k]];
    const table = $(kind);
    const number = !some.length ? "none" : some.length < total ? `${some.length} of ${count(total)}` : count(total);
    $(`${kind}-heading`).textContent = `${title}: ${number}`;
    table.closest(".box").hidden = !some.length;
    table.tBodies[0].replaceChildren(...some.map(({ row: name, score, parts, rest }) => row([
      [typeof name === "number" ? count(name) : name, "w"],
      [brief(score)],
      [rest === null ? "" : [...parts.map(([j, value]) => `${data.features[j]} ${signed(value)}`), `the rest ${signed(rest)}`], "w wrap"],
    ])));
  });
};

// The cut-off.
const slider = $("cut");
const box = $("cut-number");

// What the model's cuts were to keep, and whether it holds at this one, on these data.
const tellCondition = (m) => {
  const wanted = data.condition;
  $("condition").hidden = !wanted || task.positives === 0;
  if (!wanted || task.positives === 0) return;
  let [text, kept] = ["", ""];
  if (wanted.measure) {
    const reached = m[wanted.measure];
    kept = reached >= wanted.floor ? "yes" : "no";
    text = `The model's cut is to keep ${wanted.measure} \u2265 ${wanted.floor} on new rows. Here it is ${figure(reached)}: ${kept === "yes" ? "kept" : "not kept"}.`;
  } else if (wanted.costs) {
    const [miss, falseAlarm] = wanted.costs[data.tasks.findIndex((one) => one.number === task.number)];
    const total = m.fn * miss + m.fp * falseAlarm;
    text = `A miss costs ${brief(miss)}, a false alarm ${brief(falseAlarm)}. Here they cost ${brief(total / task.rows)} a row, in the mean.`;
  } else {
    text = `The model's answers follow the rule ${wanted.rows} for all labels of a row; figures here are those of this cut alone.`;
  }
  $("condition").textContent = text;
  $("condition").dataset.kept = kept;
};
const show = () => {
  const m = measures(place);
  const cut = asked ?? cutAt(place);
  slider.value = place;
  box.value = cut;
  for (const key of ["precision", "recall", "f1"]) {
    $(key).textContent = figure(m[key]);
    $(key).dataset.value = Number.isFinite(m[key]) ? m[key] : "";
  }
  for (const key of ["tp", "fp", "fn", "tn"]) $(key).textContent = count(m[key]);
  const told = `${count(m.tp + m.fp)} of ${count(task.rows)} rows have a score above ${shown(cut)} and are answered yes.`;
  $("at-cut").textContent = told;
  tellCondition(m);
  slider.setAttribute("aria-valuetext", `${cut}: precision ${figure(m.precision)}, recall ${figure(m.recall)}, F1 ${figure(m.f1)}`);
  for (const move of moving) move(m, cut);
};
const moveTo = (k, typed = null) => {
  place = Math.min(Math.max(k, 0), task.cuts.length - 1);
  asked = typed;
  show();
};
slider.addEventListener("input", () => moveTo(Number(slider.value)));
box.addEventListener("change", () => {
  const cut = box.valueAsNumber;
  if (!Number.isFinite(cut)) return show();
  let k = task.cuts.findLastIndex((one) => one <= cut);
  if (task.all) return moveTo(k, cut);
  // Cuts between two of those that the page has are not known: the nearer one.
  if (k < 0 || (k + 1 < task.cuts.length && task.cuts[k + 1] - cut < cut - task.cuts[k])) k += 1;
  return moveTo(k);
});
$("back").addEventListener("click", () => moveTo(task.own));
$("best").addEventListener("click", () => {
  let best = 0;
  task.cuts.forEach((_, k) => { if (measures(k).f1 > measures(best).f1) best = k; });
  moveTo(best);
});

// The task.
const which = $("which");
const choose = (k) => {
  which.value = k;
  task = unpack(k);
  moving = [];
  $("name").textContent = `Task ${task.name}`;
  $("about").textContent = task.rows
    ? `${count(task.positives)} of ${count(task.rows)} labelled rows are positive, ${figure((100 * task.positives) / task.rows, 1)}\u00a0%.`
    : "No row has a label for this task: there is nothing to show.";
  $("with-rows").hidden = !task.rows;
  $("previous").disabled = k === 0;
  $("next").disabled = k === data.tasks.length - 1;
  if (!task.rows) return;
  slider.max = task.cuts.length - 1;
  $("best").disabled = task.positives === 0;
  $("thinned").textContent = task.all
    ? ""
    : `The slider stops at ${count(task.cuts.length)} cut-offs, spread evenly by rows and by positives; figures at each of them are exact, and those between are left out.`;
  curves();
  calibration();
  mistakes();
  moveTo(task.own);
};
which.addEventListener("change", () => choose(Number(which.value)));
$("previous").addEventListener("click", () => choose(Number(which.value) - 1));
$("next").addEventListener("click", () => choose(Number(which.value) + 1));
// The picture of the calibration has another shape on a narrow screen.
narrow.addEventListener("change", () => {
  const kept = [place, asked];
  choose(Number(which.value));
  if (task.rows) moveTo(...kept);
});
for (const link of all("a[data-task]")) link.addEventListener("click", () => choose(Number(link.dataset.task)));
if (data.tasks.length) {
  $("one").hidden = false;
  $("chooser").hidden = data.tasks.length < 2;
  choose(0);
}

// A weight of a map without numbers: where there is no mouse, a tap shows it.
if ($("cell")) {
  for (const kind of ["pointerover", "click"]) {
    $("heat").addEventListener(kind, (event) => {
      if (event.target.tagName === "TD") $("cell").textContent = event.target.title;
    });
  }
}
