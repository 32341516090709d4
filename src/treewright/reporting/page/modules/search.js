// Which nodes a word is found in: the feature that is tested, a category on a branch, a class.

import { branch_text, subject } from "./words.js";

/** Nodes of the shown subtree that match, or null when nothing is sought. */
export function find_nodes(book, tree, state) {
  const word = state.find.trim().toLowerCase();
  if (!word) return null;
  const hits = new Set();
  const stack = [0];
  while (stack.length) {
    const node = stack.pop();
    const is_end = tree.is_end(node, state.size);
    if (words_of(book, tree, node, is_end).some((words) => words.toLowerCase().includes(word))) hits.add(node);
    if (!is_end) stack.push(...tree.children(node));
  }
  return hits;
}

function words_of(book, tree, node, is_end) {
  if (is_end) return book.target.classes ? [book.target.classes[tree.data.label[node]]] : [];
  const split = tree.split(node);
  return [subject(book, split), ...tree.children(node).map((_, b) => branch_text(book, split, b, 1e9))];
}
