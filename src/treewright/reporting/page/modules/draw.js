// The diagram: boxes, edges, and what stands on them.

import { LEAST_FIT, PAD } from "./camera.js";
import { svg, fitted } from "./dom.js";
import { place } from "./layout.js";
import { branch_label, number, percent, plural, rule, subject } from "./words.js";

const FORMS = {
  down: { width: 170, height: 54, across: 184, along: 108 },
  right: { width: 176, height: 40, across: 54, along: 300 },
  small: { width: 150, height: 20, across: 24, along: 262 },
};
const MANY = 130;
const WIDE = 14;
/** The least distance of levels at which words fit between the boxes. */
const LABELLED = 245;

/** Which nodes are seen, and those whose branches are folded away. */
function seen(tree, state) {
  const nodes = [];
  const is_folded = (node) => state.folds.has(node) && !tree.is_end(node, state.size);
  const children = (node) =>
    tree.is_end(node, state.size) || is_folded(node) ? [] : tree.children(node);
  const stack = [0];
  while (stack.length) {
    const node = stack.pop();
    nodes.push(node);
    stack.push(...children(node).reverse());
  }
  return { nodes, children, is_folded };
}

function form_of(state, n_nodes, n_ends, room) {
  if (n_nodes > MANY) return ["right", FORMS.small];
  // a phone is higher than wide, and so are few ends below each other
  const fits = n_ends <= (room < 600 ? 4 : WIDE) && n_ends * FORMS.down.across < Math.max(1.9 * room, 800);
  const turn = state.turn ?? (fits ? "down" : "right");
  return [turn, FORMS[turn]];
}

/** Levels beside each other, closer together where all of them would not fit otherwise. */
function in_room(form, levels, room) {
  const space = (room - 2 * PAD) / LEAST_FIT;
  if (form.width + levels * form.along <= space) return form;
  const width = Math.min(form.width, 150);
  return { ...form, width, along: Math.min(form.along, Math.max(LABELLED, (space - width) / levels)) };
}

export function prediction(book, tree, node) {
  if (!book.target.classes) return number(tree.data.value[node][0]);
  return book.target.classes[tree.data.label[node]];
}

function titles(book, tree, node, is_end) {
  const rows = plural(tree.data.n[node], "row");
  if (!book.target.classes) {
    const value = number(tree.data.value[node][0]);
    return is_end ? [value, rows] : [subject(book, tree.split(node)), `${value} · ${rows}`];
  }
  const label = tree.data.label[node];
  const share = percent(tree.shares(node).find(([k]) => k === label)?.[1] ?? 0);
  const said = `${book.target.classes[label]} (${share})`;
  return is_end ? [said, rows] : [subject(book, tree.split(node)), `${said} · ${rows}`];
}

/** A bar of class shares, or the place of a number on the scale of all leaves. */
function bar(book, tree, node, x, y, width, height) {
  const group = svg("g", { "aria-hidden": "true" });
  if (book.target.classes) {
    let at = x;
    const shares = tree.shares(node).sort((a, b) => a[0] - b[0]);
    for (const [k, share] of shares) {
      group.append(
        svg("rect", { x: at, y, width: Math.max(0, share * width), height, fill: book.target.colours[k] }),
      );
      at += share * width;
    }
    return group;
  }
  const [low, high] = book.target.scale;
  const at = high > low ? (tree.data.value[node][0] - low) / (high - low) : 0.5;
  const where = Math.min(1, Math.max(0, at));
  group.append(
    svg("rect", { x, y, width, height, class: "rail" }),
    svg("rect", { x, y, width: Math.max(2, where * width), height, class: "level" }),
  );
  return group;
}

function colour_of(book, tree, node) {
  if (!book.target.classes) return null;
  return book.target.colours[tree.data.label[node]];
}

function box(context, node, at) {
  const { book, tree, state, form, turn, is_folded, marks } = context;
  const is_end = tree.is_end(node, state.size);
  const folded = is_folded(node);
  const { width, height } = form;
  const [title, note] = titles(book, tree, node, is_end);
  const small = form === FORMS.small;
  const classes = ["node", is_end ? "leaf" : "inner", folded && "folded"];
  if (marks.way.has(node)) classes.push("on-way");
  if (marks.hits && !marks.hits.has(node)) classes.push("dim");
  if (marks.hits?.has(node)) classes.push("hit");
  if (state.node === node) classes.push("chosen");
  const tests = rule(book, tree, node).join(", ");
  const group = svg("g", {
    class: classes.filter(Boolean).join(" "),
    transform: `translate(${at.x} ${at.y})`,
    "data-node": node,
    role: "treeitem",
    tabindex: node === context.focus ? 0 : -1,
    "aria-level": tree.depth[node] + 1,
    "aria-expanded": is_end ? null : String(!folded),
    "aria-selected": String(state.node === node),
  });
  group.append(svg("title", {}, `${tests ? `If ${tests}: ` : "All rows: "}${title}, ${note}`));
  const colour = colour_of(book, tree, node);
  group.append(svg("rect", { class: "box", width, height, rx: small ? 4 : 8 }));
  if (is_end && colour) group.append(svg("rect", { class: "stripe", width: 5, height, rx: 2.5, fill: colour }));
  if (small) {
    const words = is_end ? `${title} · ${note}` : title;
    group.append(svg("text", { x: 10, y: 14, class: is_end ? "title" : "" }, fitted(words, width - 50, 11, 600)));
    group.append(bar(book, tree, node, width - 36, 7, 30, 6));
  } else {
    const tall = turn === "down";
    group.append(
      svg("text", { x: 12, y: tall ? 20 : 16, class: "title" }, fitted(title, width - 20, 12.5, 600)),
      svg("text", { x: 12, y: tall ? 36 : 30, class: "note" }, fitted(note, width - 20, 11)),
      bar(book, tree, node, 12, height - (tall ? 11 : 7), width - 24, tall ? 5 : 4),
    );
  }
  if (!is_end) group.append(knob(context, node, folded));
  return group;
}

/** The handle that folds and unfolds. */
function knob({ tree, state, form, turn }, node, folded) {
  const words = folded ? `+${number(tree.leaves_at(node, state.size))}` : "–";
  const width = folded ? 12 + 7 * words.length : 16;
  const [x, y] = turn === "down" ? [form.width / 2, form.height] : [form.width, form.height / 2];
  return svg(
    "g",
    { class: "knob", "aria-hidden": "true", "data-fold": node, transform: `translate(${x} ${y})` },
    svg("rect", { x: -width / 2, y: -8, width, height: 16, rx: 8 }),
    svg("text", { y: 4, "text-anchor": "middle" }, words),
  );
}

function edge(context, parent, child, from, to) {
  const { book, tree, form, turn, marks } = context;
  const { width, height } = form;
  const branch = child - tree.data.first[parent];
  const label = branch_label(book, tree.split(parent), branch);
  const share = tree.weight(child) / Math.max(tree.weight(0), 1e-300);
  const stroke = 1 + 5 * Math.sqrt(Math.max(0, share));
  const classes = ["edge", marks.way.has(child) && "on-way", marks.hits && "dim"];
  let path;
  let text;
  if (turn === "down") {
    const [x1, y1] = [from.x + width / 2, from.y + height];
    const [x2, y2] = [to.x + width / 2, to.y];
    const middle = (y1 + y2) / 2 - 6;
    path = `M${x1} ${y1}C${x1} ${middle} ${x2} ${middle} ${x2} ${y2}`;
    text = { x: x2, y: y2 - 8, "text-anchor": "middle" };
  } else {
    const [x1, y1] = [from.x + width, from.y + height / 2];
    const [x2, y2] = [to.x, to.y + height / 2];
    const middle = x1 + 22;
    path = `M${x1} ${y1}C${middle} ${y1} ${x1 + 6} ${y2} ${middle + 10} ${y2}L${x2} ${y2}`;
    text = { x: x2 - 6, y: y2 - 4, "text-anchor": "end" };
  }
  const room = turn === "down" ? form.across - 12 : form.along - width - 44;
  return [
    svg("path", { class: classes.filter(Boolean).join(" "), d: path, "stroke-width": stroke.toFixed(1) }),
    svg("text", { class: marks.hits ? "label dim" : "label", ...text }, fitted(label, room, 11)),
  ];
}

/** Draw the visible part of a tree; gives where the boxes stand and the size of the whole. */
export function draw(stage, book, tree, state, marks, focus) {
  const { nodes, children, is_folded } = seen(tree, state);
  const n_ends = nodes.filter((node) => !children(node).length).length;
  const room = stage.ownerSVGElement.clientWidth || 900;
  const [turn, usual] = form_of(state, nodes.length, n_ends, room);
  const places = place(0, children, usual.across);
  const n_levels = [...places.values()].reduce((deepest, { l }) => Math.max(deepest, l), 0);
  const form = turn === "down" ? usual : in_room(usual, n_levels, room);
  const spots = new Map();
  let [least, most, levels] = [Infinity, -Infinity, 0];
  for (const [node, { a, l }] of places) {
    least = Math.min(least, a);
    most = Math.max(most, a);
    levels = Math.max(levels, l);
    spots.set(node, turn === "down" ? { x: a, y: l * form.along } : { x: l * form.along, y: a });
  }
  const origin = turn === "down" ? { x: least, y: 0 } : { x: 0, y: least };
  for (const spot of spots.values()) {
    spot.x -= origin.x;
    spot.y -= origin.y;
  }
  const context = { book, tree, state, form, turn, is_folded, marks, focus };
  const edges = svg("g", { "aria-hidden": "true" });
  const labels = svg("g", { "aria-hidden": "true" });
  const boxes = svg("g", { role: "tree", "aria-label": "Decision tree" });
  for (const node of nodes) {
    for (const child of children(node)) {
      const [path, label] = edge(context, node, child, spots.get(node), spots.get(child));
      edges.append(path);
      labels.append(label);
    }
    boxes.append(box(context, node, spots.get(node)));
  }
  stage.replaceChildren(edges, labels, boxes);
  const across = most - least;
  const size =
    turn === "down"
      ? { width: across + form.width, height: levels * form.along + form.height + 10 }
      : { width: levels * form.along + form.width + 40, height: across + form.height };
  return { nodes, spots, size, turn, form };
}
