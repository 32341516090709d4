// The keyboard: arrows walk over the tree as it is drawn, Enter folds, + and − zoom.

export function listen_to_keys(picture, page) {
  function toward(key) {
    const { tree, drawn, focus, state } = page;
    const node = focus();
    const down = drawn().turn === "down";
    const [up_key, down_key, before_key, after_key] = down
      ? ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"]
      : ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"];
    if (key === up_key) return tree().parent[node] >= 0 ? tree().parent[node] : null;
    if (key === down_key) {
      const is_closed = tree().is_end(node, state.size) || state.folds.has(node);
      return is_closed ? null : tree().data.first[node];
    }
    if (key !== before_key && key !== after_key) return null;
    return beside(drawn(), tree(), node, key === after_key ? 1 : -1);
  }

  /** The next box on the same level. */
  function beside(drawn, tree, node, step) {
    const level = drawn.nodes.filter((other) => tree.depth[other] === tree.depth[node]);
    const axis = drawn.turn === "down" ? "x" : "y";
    level.sort((a, b) => drawn.spots.get(a)[axis] - drawn.spots.get(b)[axis]);
    return level[level.indexOf(node) + step] ?? null;
  }

  picture.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { actions, focus, fold, go } = page;
    const keys = {
      Enter: () => fold(focus()),
      " ": () => fold(focus()),
      "+": actions["zoom-in"],
      "=": actions["zoom-in"],
      "-": actions["zoom-out"],
      0: actions.fit,
      Home: () => go(0),
      Escape: () => go(0),
    };
    const goal = event.key.startsWith("Arrow") ? toward(event.key) : null;
    if (goal !== null) go(goal);
    else if (keys[event.key]) keys[event.key]();
    else if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
    page.box(focus())?.focus({ preventScroll: true });
  });

  addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "");
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    document.getElementById("find").focus();
  });
}
