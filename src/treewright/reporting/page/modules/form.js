// "Try a row": a form made from the schema, and the way of that row through the tree.

import { html } from "./dom.js";
import { class_table } from "./panel.js";
import { branch_text, number, percent } from "./words.js";
import { follow, verdict } from "./tree.js";

/** Features that the tree asks for, the most used first. */
function asked(book, tree) {
  const uses = new Map();
  const use = (split) => {
    for (const f of split.terms ? split.terms.map(([f]) => f) : [split.feature]) {
      uses.set(f, (uses.get(f) ?? 0) + 1);
    }
  };
  tree.data.splits.forEach((split, node) => {
    if (!split) return;
    use(split);
    (tree.data.surrogates?.[node] ?? []).forEach(use);
  });
  const order = [];
  for (const split of tree.data.splits) {
    if (!split) continue;
    for (const f of split.terms ? split.terms.map(([f]) => f) : [split.feature]) {
      if (!order.includes(f)) order.push(f);
    }
  }
  return [...order, ...[...uses.keys()].filter((f) => !order.includes(f))];
}

const MOMENTS = { date: "date", datetime: "datetime-local", time: "time" };

function moment_field(about, id, value, changed) {
  const input = html("input", { id, type: MOMENTS[about.time], step: "any" });
  if (value !== null && value !== undefined) input.valueAsNumber = Math.round(value * 86_400_000);
  input.addEventListener("input", () => changed(input.value === "" ? null : input.valueAsNumber / 86_400_000));
  return html("div", { class: "field" }, html("label", { for: id }, about.name), input);
}

function field(book, feature, value, changed) {
  const about = book.features[feature];
  const id = `field-${feature}`;
  let input;
  if (about.kind === "continuous") {
    if (about.time) return moment_field(about, id, value, (days) => changed(feature, days));
    const hint = about.range ? `${number(about.range[0])} to ${number(about.range[2])}` : "gap";
    input = html("input", { id, type: "number", step: "any", placeholder: hint, value: value ?? "" });
    input.addEventListener("input", () => changed(feature, input.value === "" ? null : Number(input.value)));
  } else {
    input = html("select", { id }, html("option", { value: "" }, "gap"));
    about.categories.forEach((name, code) => input.append(html("option", { value: code, selected: code === value }, name)));
    input.addEventListener("change", () => changed(feature, input.value === "" ? null : Number(input.value)));
  }
  return html("div", { class: "field" }, html("label", { for: id }, about.name), input);
}

const REASONS = {
  surrogate: "value is a gap; a surrogate split decides",
  gap: "value is a gap, or new to this node; gaps go this way",
  every: "value is a gap: every branch by its weight",
  stop: "value is a gap: the way ends here",
};

function step_words(book, tree, step) {
  const part = step.share < 1 ? ` (${percent(step.share)} of the row)` : "";
  if (step.end) return null;
  const split = tree.split(step.node);
  if (step.why === "every") return `${REASONS.every}${part}`;
  const reason = REASONS[step.why] ? ` — ${REASONS[step.why]}` : "";
  return `${branch_text(book, split, step.branch, 4)}${reason}${part}`;
}

/** The answer of the tree for the row in the form. */
export function answer(book, tree, state) {
  const row = book.features.map((_, f) => state.row[f] ?? null);
  const steps = follow(tree, row, state.size);
  return { steps, said: verdict(book, tree, steps) };
}

export function answer_words(book, tree, { steps, said }) {
  const way = steps.map((step) => step_words(book, tree, step)).filter(Boolean);
  const parts = [];
  if (said.shares) {
    const sorted = said.shares.map((share, k) => [k, share]).filter(([, s]) => s > 0).sort((a, b) => b[1] - a[1]);
    parts.push(html("p", { class: "said" }, "Prediction: ", html("strong", {}, book.target.classes[said.label])));
    parts.push(class_table(book, sorted));
  } else {
    parts.push(html("p", { class: "said" }, "Prediction: ", html("strong", {}, number(said.number))));
  }
  parts.push(html("ol", { class: "way" }, ...way.map((words) => html("li", {}, words))));
  return parts;
}

/** Fill the form; ``changed(feature, value)`` is told of every entry. */
export function build_form(place, book, tree, state, changed) {
  const features = asked(book, tree);
  const fields = features.map((f) => field(book, f, state.row[f], changed));
  if (!fields.length) fields.push(html("p", {}, "This tree asks no question."));
  place.replaceChildren(...fields);
}
