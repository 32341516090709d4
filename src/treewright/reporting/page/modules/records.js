// The record explorer: rows that were held out, what the models say, and their way in the tree.

import { html } from "./dom.js";
import { moment, number, percent } from "./words.js";

function words_of(book, feature, value) {
  if (value === null) return "gap";
  const about = book.features[feature];
  if (about.kind === "continuous") return moment(value, about);
  return book.records.categories[feature]?.[value] ?? `category ${value}`;
}

function said(words, sure) {
  return sure === null ? words : `${words} (${percent(sure)})`;
}

/** Fill the table; a row that is chosen is followed through the tree of ``page``. */
export function show_records(book, page) {
  const records = book.records;
  const body = document.querySelector("#record-table tbody");
  const card = document.getElementById("record-card");
  const only = document.getElementById("only-wrong");
  const find = document.getElementById("record-find");
  const lines = records.row.map((row, i) => {
    const wrong = records.wrong[i] ? { class: "wrong" } : {};
    const cells = [
      html("td", {}, html("button", { type: "button", "aria-label": `Follow row ${row}` }, String(row))),
      html("td", {}, records.truth[i]),
      html("td", wrong, said(records.readable[i], records.sure[i][0])),
    ];
    if (records.two) cells.push(html("td", {}, said(records.strong[i], records.sure[i][1])));
    const line = html("tr", { "data-record": i }, ...cells);
    line.addEventListener("click", () => choose(i));
    return line;
  });
  body.replaceChildren(...lines);

  function choose(i) {
    lines.forEach((line, k) => line.classList.toggle("chosen", k === i));
    const row = {};
    records.values.forEach((column, f) => {
      if (column[i] !== null) row[f] = column[i];
    });
    page.follow_row(row, i);
    page.rebuild_form();
    describe(i);
  }

  /** What moved the answer: the largest Shapley values of a record. */
  function moved(i) {
    const found = records.shapley;
    if (!found) return [];
    const parts = found.features.map((name, k) => [name, found.values[i][k]]);
    parts.sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
    const signed = (x) => `${x < 0 ? "−" : "+"}${number(Math.abs(x), 3)}`;
    const rows = parts.slice(0, 6).map(([name, x]) => html("tr", {}, html("th", { scope: "row" }, name), html("td", { class: "number" }, signed(x))));
    const about = found.output ? ` about ${found.output}` : "";
    return [
      html("h3", {}, "What moved the answer"),
      html("p", { class: "soft" }, `SHAP values of ${found.learner}${about}, from ${number(found.base, 3)} where nothing is known.`),
      html("table", {}, html("tbody", {}, ...rows)),
    ];
  }

  function describe(i) {
    const asked = new Set(page.tree().data.splits.filter(Boolean).flatMap((s) => (s.terms ? s.terms.map(([f]) => f) : [s.feature])));
    const order = book.features.map((_, f) => f).sort((a, b) => asked.has(b) - asked.has(a) || a - b);
    const rows = order.map((f) =>
      html("tr", {}, html("th", { scope: "row" }, book.features[f].name), html("td", {}, words_of(book, f, records.values[f][i]))),
    );
    card.replaceChildren(
      html("p", { class: "kicker" }, `Row ${records.row[i]}`),
      html("p", {}, `True: ${records.truth[i]}`),
      ...moved(i),
      html("h3", {}, "Values"),
      html("table", {}, html("tbody", {}, ...rows)),
    );
  }

  function filter() {
    const word = find.value.trim().toLowerCase();
    let shown = 0;
    lines.forEach((line, i) => {
      const values = word ? records.values.map((column, f) => words_of(book, f, column[i])) : [];
      const text = [records.truth[i], records.readable[i], records.strong[i], String(records.row[i]), ...values];
      const hit = (!only.checked || records.wrong[i]) && (!word || text.some((t) => t.toLowerCase().includes(word)));
      line.hidden = !hit;
      shown += hit;
    });
    document.getElementById("record-count").textContent = `${shown} shown`;
  }
  only.addEventListener("change", filter);
  find.addEventListener("input", filter);
  filter();
  if (page.given.record < lines.length) choose(page.given.record);
}

/** The toggle that explains each number. */
export function show_lessons(page) {
  const toggle = document.getElementById("learn");
  toggle.checked = Boolean(page.given.learn);
  const apply = () => {
    document.body.classList.toggle("learn", toggle.checked);
    page.save();
  };
  toggle.addEventListener("change", apply);
  apply();
}
