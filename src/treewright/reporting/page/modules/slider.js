// The size of the tree along the weakest-link sequence, and the error beside it.

import { svg } from "./dom.js";
import { number, percent, plural } from "./words.js";

const [WIDTH, HEIGHT] = [260, 74];

export function figure(book, value) {
  if (value === null || value === undefined) return "–";
  return book.measure.percent ? `${(100 * value).toFixed(1)} %` : number(value, 3);
}

/** The error of a size in words, and what it was measured on. */
export function error_words(book, tree, size) {
  const { train, error, std, kind, leaves } = tree.data.steps;
  const words = [`${plural(leaves[size], "leaf", "leaves")}`];
  if (error) {
    const spread = std ? ` ± ${figure(book, std[size])}` : "";
    words.push(`${book.measure.name} ${figure(book, error[size])}${spread} (${kind}${std ? "; ± one standard error" : ""})`);
  }
  words.push(`${error ? "" : `${book.measure.name} `}${figure(book, train[size])} on the training rows`);
  return words.join(" · ");
}

/** Error against size; the chosen size marked. */
export function chart(book, tree, size) {
  const { train, error, std, leaves } = tree.data.steps;
  const most = Math.log(leaves[0] || 1) || 1;
  const top = Math.max(...train, ...(error ?? []).map((e, i) => e + (std?.[i] ?? 0)), 1e-12);
  const x = (i) => 4 + ((WIDTH - 8) * Math.log(leaves[i])) / most;
  const y = (value) => HEIGHT - 4 - ((HEIGHT - 10) * value) / top;
  const line = (values) => values.map((v, i) => `${i ? "L" : "M"}${x(i).toFixed(1)} ${y(v).toFixed(1)}`).join("");
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "curve", role: "img", "aria-label": `Error against number of leaves, ${error_words(book, tree, size)}` });
  if (error && std) {
    const up = error.map((v, i) => `${i ? "L" : "M"}${x(i).toFixed(1)} ${y(v + std[i]).toFixed(1)}`).join("");
    const down = error.map((v, i) => `L${x(i).toFixed(1)} ${y(Math.max(0, v - std[i])).toFixed(1)}`).reverse().join("");
    picture.append(svg("path", { d: `${up}${down}Z`, class: "band" }));
  }
  picture.append(svg("path", { d: line(train), class: "line train" }));
  if (error) picture.append(svg("path", { d: line(error), class: "line held" }));
  const shown = error ?? train;
  picture.append(
    svg("line", { x1: x(size), x2: x(size), y1: 2, y2: HEIGHT - 2, class: "here" }),
    svg("circle", { cx: x(size), cy: y(shown[size]), r: 4, class: "here" }),
  );
  return picture;
}
