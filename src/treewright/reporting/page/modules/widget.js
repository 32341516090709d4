// The interactive tree: one state, one way to change it, and everything drawn from it.

import { camera } from "./camera.js";
import { html } from "./dom.js";
import { draw } from "./draw.js";
import { answer, answer_words, build_form } from "./form.js";
import { read_hash, write_hash } from "./hash.js";
import { listen_to_keys } from "./keys.js";
import { describe } from "./panel.js";
import { find_nodes } from "./search.js";
import { chart, error_words } from "./slider.js";
import { read_tree } from "./tree.js";

const FIRST_SEEN = 30;
const SEEN_ON_A_PHONE = 7;
const NARROW = 600;

/** Nodes folded at first, so that at most `most` are seen: the heaviest stay open. */
function folded_at_first(tree, size, most) {
  const folds = new Set();
  const open = [0];
  let seen = 1;
  while (open.length) {
    open.sort((a, b) => tree.data.gain[b] - tree.data.gain[a] || a - b);
    const node = open.shift();
    if (tree.is_end(node, size)) continue;
    if (seen + tree.data.count[node] > most && seen > 3) {
      folds.add(node);
      continue;
    }
    seen += tree.data.count[node];
    open.push(...tree.children(node));
  }
  return folds;
}

export function mount(book) {
  const by = (id) => document.getElementById(id);
  const picture = by("picture");
  const stage = by("stage");
  const given = read_hash();
  const trees = book.trees.map((data) => read_tree(book, data));
  const state = { tree: 0, size: 0, folds: new Set(), node: null, find: "", turn: null, row: {}, record: null };
  let tree = trees[0];
  let first_folds = new Set();
  let drawn = null;
  let hovered = null;
  let focus = 0;
  let way = null;

  const lens = camera(picture, stage, () => save());
  const last_size = () => tree.data.steps.leaves.length - 1;

  function save() {
    const moved = (a, b) => [...a].filter((node) => !b.has(node)).sort((x, y) => x - y);
    write_hash({
      tree: state.tree || null,
      size: state.size === tree.data.start ? null : state.size,
      node: state.node,
      folded: moved(state.folds, first_folds),
      opened: moved(first_folds, state.folds),
      find: state.find,
      turn: state.turn,
      row: state.row,
      record: state.record,
      learn: document.body.classList.contains("learn"),
      view: lens.view,
    });
  }

  function marks() {
    const shown = hovered ?? state.node;
    const on = new Set();
    if (way) for (const step of way.steps) on.add(step.node);
    else if (shown !== null) for (let at = shown; at >= 0; at = tree.parent[at]) on.add(at);
    return { way: on, hits: find_nodes(book, tree, state) };
  }

  function render({ fit = false } = {}) {
    const had_focus = picture.contains(document.activeElement);
    const found = marks();
    drawn = draw(stage, book, tree, state, found, focus);
    if (!drawn.spots.has(focus)) focus = 0;
    if (fit) lens.fit(drawn);
    if (had_focus) box(focus)?.focus({ preventScroll: true });
    by("size-words").textContent = error_words(book, tree, state.size);
    by("curve").replaceChildren(chart(book, tree, state.size));
    by("hits").textContent = found.hits ? `${found.hits.size} found` : "";
    picture.classList.toggle("followed", way !== null);
    explain();
    save();
  }

  function explain() {
    const node = hovered ?? state.node ?? 0;
    by("details").replaceChildren(...describe(book, tree, node, state));
  }

  /** Mark the way to what the pointer is on, without drawing anew. */
  function remark() {
    const { way: on } = marks();
    for (const group of stage.querySelectorAll("[data-node]")) {
      group.classList.toggle("on-way", on.has(Number(group.dataset.node)));
    }
    explain();
  }

  const box = (node) => stage.querySelector(`[data-node="${node}"]`);

  function fold(node) {
    if (tree.is_end(node, state.size)) return;
    if (state.folds.has(node)) state.folds.delete(node);
    else state.folds.add(node);
    const before = drawn.spots.get(node);
    render();
    const after = drawn.spots.get(node);
    // the box under the pointer stays where it is
    lens.pan((before.x - after.x) * lens.view.k, (before.y - after.y) * lens.view.k);
  }

  function choose(node, { reveal = false } = {}) {
    let at = node === null ? -1 : tree.parent[node];
    for (; at >= 0; at = tree.parent[at]) state.folds.delete(at);
    state.node = node;
    focus = node ?? 0;
    render();
    if (reveal && node !== null) lens.reveal(drawn.spots.get(node), drawn.form);
  }

  function resize(size) {
    state.size = Math.min(last_size(), Math.max(0, size));
    by("size").value = String(last_size() - state.size);
    by("size").setAttribute("aria-valuetext", error_words(book, tree, state.size));
    if (state.node !== null) {
      const ends = tree.way(state.node).map(([above]) => above).filter((above) => tree.is_end(above, state.size));
      if (ends.length) state.node = ends[0];
    }
    if (way) way = answer(book, tree, state);
    refresh_answer();
    render({ fit: true });
  }

  function refresh_answer() {
    const place = by("answer");
    if (way) place.replaceChildren(...answer_words(book, tree, way));
    else place.replaceChildren(html("p", { class: "soft" }, "Fill in what is known; what is left empty is a gap."));
  }

  /** Follow a row: its values by feature number, and optionally its place among the records. */
  function follow_row(row, record = null) {
    state.row = row;
    state.record = record;
    const asked = Object.values(row).some((value) => value !== null);
    way = asked || record !== null ? answer(book, tree, state) : null;
    if (way) for (const step of way.steps) if (!step.end) state.folds.delete(step.node);
    refresh_answer();
    render();
  }

  function rebuild_form() {
    build_form(by("fields"), book, tree, state, (feature, value) => {
      const row = { ...state.row };
      if (value === null || Number.isNaN(value)) delete row[feature];
      else row[feature] = value;
      follow_row(row);
    });
  }

  function take_tree(k, start) {
    state.tree = k;
    tree = trees[k];
    by("size").max = String(last_size());
    by("size").disabled = last_size() === 0;
    state.size = start <= last_size() ? start : tree.data.start;
    by("size").value = String(last_size() - state.size);
    const most = picture.clientWidth < NARROW ? SEEN_ON_A_PHONE : FIRST_SEEN;
    first_folds = folded_at_first(tree, state.size, most);
    state.folds = new Set(first_folds);
    state.node = null;
    rebuild_form();
  }

  /** The next hit after the chosen node, in reading order. */
  function next_hit(step) {
    const hits = [...(find_nodes(book, tree, state) ?? [])].sort((a, b) => a - b);
    if (!hits.length) return;
    const at = hits.findIndex((node) => node > (state.node ?? -1));
    const here = step > 0 ? (at < 0 ? 0 : at) : (at < 0 ? hits.length : at) - 2;
    choose(hits.at(here % hits.length), { reveal: true });
  }

  const actions = {
    "zoom-in": () => lens.by(1.25),
    "zoom-out": () => lens.by(0.8),
    fit: () => lens.fit(drawn),
    open: () => {
      state.folds.clear();
      render({ fit: true });
    },
    close: () => {
      for (let node = 1; node < tree.n; node++) if (tree.data.count[node]) state.folds.add(node);
      render({ fit: true });
    },
    turn: () => {
      state.turn = drawn.turn === "down" ? "right" : "down";
      render({ fit: true });
    },
    clear: () => {
      way = null;
      state.row = {};
      state.record = null;
      rebuild_form();
      refresh_answer();
      render();
    },
  };
  for (const button of document.querySelectorAll("[data-action]")) {
    const action = actions[button.dataset.action];
    if (action) button.addEventListener("click", action);
  }

  stage.addEventListener("click", (event) => {
    const handle = event.target.closest("[data-fold]");
    if (handle) return fold(Number(handle.dataset.fold));
    const group = event.target.closest("[data-node]");
    if (group) choose(Number(group.dataset.node));
  });
  stage.addEventListener("dblclick", (event) => {
    const group = event.target.closest("[data-node]");
    if (group) fold(Number(group.dataset.node));
  });
  stage.addEventListener("pointerover", (event) => {
    const group = event.target.closest("[data-node]");
    const node = group ? Number(group.dataset.node) : null;
    if (node !== hovered) {
      hovered = node;
      remark();
    }
  });
  picture.addEventListener("pointerleave", () => {
    hovered = null;
    remark();
  });
  by("size").addEventListener("input", (event) => resize(last_size() - Number(event.target.value)));
  by("find").addEventListener("input", (event) => {
    state.find = event.target.value;
    render();
  });
  by("find").addEventListener("keydown", (event) => {
    if (event.key === "Enter") next_hit(event.shiftKey ? -1 : 1);
  });
  by("member")?.addEventListener("change", (event) => {
    take_tree(Number(event.target.value));
    if (way) follow_row(state.row, state.record);
    render({ fit: true });
  });
  listen_to_keys(picture, {
    tree: () => tree,
    state,
    drawn: () => drawn,
    focus: () => focus,
    go: (node) => choose(node, { reveal: true }),
    fold,
    lens,
    actions,
    box,
  });
  addEventListener("resize", () => render());

  function open_page() {
    take_tree(given.tree < trees.length ? given.tree : 0, given.size);
    if (by("member")) by("member").value = String(state.tree);
    for (const node of given.opened ?? []) state.folds.delete(node);
    for (const node of given.folded ?? []) if (node < tree.n) state.folds.add(node);
    state.find = given.find ?? "";
    by("find").value = state.find;
    state.turn = given.turn ?? null;
    state.node = given.node < tree.n ? given.node : null;
    focus = state.node ?? 0;
    for (const [feature, value] of Object.entries(given.row ?? {})) {
      if (book.features[feature] && Number.isFinite(value)) state.row[feature] = value;
    }
    rebuild_form();
    if (Object.keys(state.row).length) way = answer(book, tree, state);
    refresh_answer();
    render({ fit: !given.view });
    if (given.view) lens.set(given.view);
  }
  open_page();
  return { follow_row, rebuild_form, save, state, given, tree: () => tree };
}
