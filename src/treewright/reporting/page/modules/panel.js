// What is known of one node: rule, counts, how its split was chosen.

import { html } from "./dom.js";
import { prediction } from "./draw.js";
import { branch_label, branch_text, number, percent, plural, rule, subject } from "./words.js";

const MOST_CLASSES = 8;

const is_number = (words) => /^(–|[<>]? ?[-−\d][\d .e+-]*%?)$/.test(words);

function cell(content) {
  return html("td", is_number(String(content)) ? { class: "number" } : {}, content);
}

function table(head, rows) {
  return html(
    "table",
    { class: "figures" },
    html("thead", {}, html("tr", {}, ...head.map((word) => html("th", { scope: "col" }, word)))),
    html(
      "tbody",
      {},
      ...rows.map((row) => html("tr", row.chosen ? { class: "chosen" } : {}, ...row.map(cell))),
    ),
  );
}

function swatch(colour) {
  return html("span", { class: "swatch", style: `background:${colour}`, "aria-hidden": "true" });
}

export function class_table(book, shares, counts) {
  const shown = shares.slice(0, MOST_CLASSES);
  const rest = shares.slice(MOST_CLASSES);
  const rows = shown.map(([k, share]) => {
    const meter = html("span", { class: "meter" }, html("span", { style: `width:${100 * share}%;background:${book.target.colours[k]}` }));
    const name = html("span", {}, swatch(book.target.colours[k]), book.target.classes[k]);
    return counts ? [name, meter, percent(share), number(counts.get(k) ?? 0)] : [name, meter, percent(share)];
  });
  if (rest.length) {
    const sum = rest.reduce((total, [, share]) => total + share, 0);
    const row = [`${rest.length} others`, "", percent(sum)];
    if (counts) row.push(number(rest.reduce((total, [k]) => total + (counts.get(k) ?? 0), 0)));
    rows.push(row);
  }
  return table(counts ? ["class", "", "share", "rows"] : ["class", "", "share"], rows);
}

function counts_of(tree, node) {
  const flat = tree.data.value[node];
  const counts = new Map();
  for (let k = 0; k < flat.length; k += 2) counts.set(flat[k], flat[k + 1]);
  return counts;
}

function gap_words(book, tree, node) {
  const split = tree.split(node);
  const gap = tree.data.gap[node];
  const n = (tree.data.surrogates?.[node] ?? []).length;
  const first = n ? `${plural(n, "surrogate split")} decide${n === 1 ? "s" : ""} for gaps; then they ` : "Gaps ";
  if (gap === -1) return `${first}go down every branch, by its weight.`;
  if (gap === -2) return `${first}end here.`;
  return `${first}go to “${branch_label(book, split, gap)}”.`;
}

function candidates(book, tree, node) {
  const found = tree.data.candidates?.[node];
  if (!found) return [];
  const rows = found.rows.map(([feature, test, score]) => {
    const row = [html("span", { title: test || book.features[feature].name }, test || book.features[feature].name), score];
    row.chosen = feature === tree.split(node)?.feature;
    return row;
  });
  return [html("h3", {}, "Candidates"), table(["best test of each feature", found.score], rows)];
}

export function describe(book, tree, node, state) {
  const is_end = tree.is_end(node, state.size);
  const conditions = rule(book, tree, node);
  const parts = [
    html("p", { class: "kicker" }, is_end ? `Leaf, node ${node}` : `Node ${node}`),
    html("h2", {}, prediction(book, tree, node)),
    conditions.length
      ? html("ul", { class: "rule" }, ...conditions.map((text) => html("li", {}, text)))
      : html("p", {}, "All rows begin here."),
    html("p", {}, `${plural(tree.data.n[node], "training row")}, ${percent(tree.weight(node) / Math.max(tree.weight(0), 1e-300))} of all.`),
  ];
  if (book.target.classes) parts.push(class_table(book, tree.shares(node), counts_of(tree, node)));
  else if (tree.data.spread) parts.push(html("p", {}, `Mean ${number(tree.data.value[node][0])}, standard deviation ${number(tree.data.spread[node])}.`));
  if (!is_end) {
    const split = tree.split(node);
    const branches = tree.children(node).map((child, b) => [branch_text(book, split, b), number(tree.data.n[child]), prediction(book, tree, child)]);
    parts.push(html("h3", {}, `Split on ${subject(book, split)}`), table(["branch", "rows", "predicts"], branches));
    parts.push(html("p", { class: "soft" }, gap_words(book, tree, node)));
    parts.push(...candidates(book, tree, node));
  }
  return parts;
}
