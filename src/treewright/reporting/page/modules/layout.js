// Where boxes stand: children beside each other as close as their outlines allow, parents over
// the middle of them (after Reingold and Tilford, 1981).

/**
 * Positions of the visible nodes. ``across`` is what a box takes beside its sisters, ``along``
 * the distance of levels. Gives a map from node to {a, l}: place across and level.
 */
export function place(root, children, across) {
  const place_of = new Map();
  const shift = new Map();

  function settle(node, level) {
    const below = children(node);
    if (!below.length) {
      place_of.set(node, { a: 0, l: level });
      return { left: [0], right: [0] };
    }
    let merged = null;
    for (const child of below) {
      const outline = settle(child, level + 1);
      let move = 0;
      if (merged) {
        const shared = Math.min(merged.right.length, outline.left.length);
        for (let d = 0; d < shared; d++) {
          move = Math.max(move, merged.right[d] + across - outline.left[d]);
        }
      }
      shift.set(child, move);
      merged = join(merged, outline, move);
    }
    const first = place_of.get(below[0]).a + shift.get(below[0]);
    const last = place_of.get(below.at(-1)).a + shift.get(below.at(-1));
    const a = (first + last) / 2;
    place_of.set(node, { a, l: level });
    return { left: [a, ...merged.left], right: [a, ...merged.right] };
  }

  function join(merged, outline, move) {
    const left = outline.left.map((x) => x + move);
    const right = outline.right.map((x) => x + move);
    if (!merged) return { left, right };
    return {
      left: [...merged.left, ...left.slice(merged.left.length)],
      right: [...right, ...merged.right.slice(right.length)],
    };
  }

  settle(root, 0);
  const total = [[root, 0]];
  while (total.length) {
    const [node, moved] = total.pop();
    place_of.get(node).a += moved;
    for (const child of children(node)) total.push([child, moved + shift.get(child)]);
  }
  return place_of;
}
