// A tree of the book: its structure, what its nodes say, and the way of a row.

/** Class weights of inner nodes, where they are the sums of their children's. */
function fill_values(data, parent) {
  const sums = data.value.map(() => new Map());
  for (let i = data.value.length - 1; i >= 0; i--) {
    if (data.count[i]) data.value[i] = [...sums[i]].sort((a, b) => a[0] - b[0]).flat();
    if (parent[i] < 0) continue;
    const above = sums[parent[i]];
    for (let k = 0; k < data.value[i].length; k += 2) {
      above.set(data.value[i][k], (above.get(data.value[i][k]) ?? 0) + data.value[i][k + 1]);
    }
  }
  data.sums = 0;
}

/** Wrap the arrays of one tree; node i's branch b leads to node first[i] + b. */
export function read_tree(book, data) {
  const n = data.first.length;
  const parent = new Int32Array(n).fill(-1);
  const depth = new Int32Array(n);
  const leaves = new Int32Array(n);
  for (let i = 0; i < n; i++) {
    for (let b = 0; b < data.count[i]; b++) {
      parent[data.first[i] + b] = i;
      depth[data.first[i] + b] = depth[i] + 1;
    }
  }
  for (let i = n - 1; i >= 0; i--) {
    if (!data.count[i]) leaves[i] = 1;
    if (parent[i] >= 0) leaves[parent[i]] += leaves[i];
  }
  if (data.sums) fill_values(data, parent);
  const tree = {
    n,
    data,
    parent,
    depth,
    leaves,
    split: (node) => data.splits[node],
    weight: (node) => (data.weight ?? data.n)[node],
    /** Whether a node has no branches in the subtree of this size. */
    is_end: (node, size) => !data.count[node] || size >= data.until[node],
    children: (node) => Array.from({ length: data.count[node] }, (_, b) => data.first[node] + b),
    /** [node, branch] pairs from the root down to a node. */
    way(node) {
      const steps = [];
      for (let at = node; parent[at] >= 0; at = parent[at]) {
        steps.push([parent[at], at - data.first[parent[at]]]);
      }
      return steps.reverse();
    },
    /** Leaves below a node in the subtree of this size. */
    leaves_at(node, size) {
      if (tree.is_end(node, size)) return 1;
      return tree.children(node).reduce((sum, child) => sum + tree.leaves_at(child, size), 0);
    },
    /** [class, share] pairs of a node, the largest first; null for numbers. */
    shares(node) {
      const pairs = [];
      let total = 0;
      const flat = data.value[node];
      for (let k = 0; k < flat.length; k += 2) {
        const size = flat[k + 1] * (book.target.factor?.[flat[k]] ?? 1);
        pairs.push([flat[k], size]);
        total += size;
      }
      if (!(total > 0)) return parent[node] >= 0 ? tree.shares(parent[node]) : [];
      return pairs.map(([k, size]) => [k, size / total]).sort((a, b) => b[1] - a[1] || a[0] - b[0]);
    },
  };
  return tree;
}

function projected(split, row) {
  if (!split.terms) return row[split.feature];
  return split.terms.reduce(
    (sum, [f, w, code]) =>
      sum === null || row[f] === null || row[f] === undefined ? null : sum + w * (code < 0 ? row[f] : row[f] === code),
    0,
  );
}

/** Branch of a row at one split; null for a gap. */
function branch_of(split, row) {
  const x = projected(split, row);
  if (x === null || x === undefined || Number.isNaN(x)) return null;
  if (split.groups) {
    const at = split.groups.findIndex((codes) => codes.includes(x));
    return at < 0 ? null : at;
  }
  const branch = split.breaks.filter((b) => (split.closed ? x > b : x >= b)).length;
  return split.reversed ? 1 - branch : branch;
}

/**
 * The way of a row, its values as numbers, codes or null, through the subtree of a size:
 * every node it meets with the share of the row and why it went on as it did.
 */
export function follow(tree, row, size) {
  const steps = [];
  const stack = [[0, 1]];
  while (stack.length) {
    const [node, share] = stack.pop();
    if (tree.is_end(node, size)) {
      steps.push({ node, share, end: true });
      continue;
    }
    const split = tree.split(node);
    let branch = branch_of(split, row);
    let why = "value";
    for (const other of branch === null ? (tree.data.surrogates?.[node] ?? []) : []) {
      branch = branch_of(other, row);
      why = "surrogate";
      if (branch !== null) break;
    }
    if (branch === null) {
      branch = tree.data.gap[node];
      why = "gap";
    }
    if (branch === -2) steps.push({ node, share, end: true, why: "stop" });
    else if (branch === -1) {
      steps.push({ node, share, why: "every" });
      const children = tree.children(node);
      const total = children.reduce((sum, child) => sum + tree.weight(child), 0);
      for (const child of children.reverse()) {
        const part = total > 0 ? tree.weight(child) / total : 1 / children.length;
        if (part > 0) stack.push([child, share * part]);
      }
    } else {
      steps.push({ node, share, branch, why });
      stack.push([tree.data.first[node] + branch, share]);
    }
  }
  return steps;
}

/** What the ends of a way say together: class shares and the class, or a number. */
export function verdict(book, tree, steps) {
  const ends = steps.filter((step) => step.end);
  if (!book.target.classes) {
    return { number: ends.reduce((sum, { node, share }) => sum + share * tree.data.value[node][0], 0) };
  }
  const shares = new Array(book.target.classes.length).fill(0);
  for (const { node, share } of ends) {
    for (const [k, part] of tree.shares(node)) shares[k] += share * part;
  }
  if (ends.length === 1) return { shares, label: tree.data.label[ends[0].node] };
  const costs = book.target.costs;
  const loss = (j) => shares.reduce((sum, p, i) => sum + p * (costs ? costs[i][j] : Number(i !== j)), 0);
  let label = 0;
  for (let j = 1; j < shares.length; j++) if (loss(j) < loss(label) - 1e-12) label = j;
  return { shares, label };
}
