// Every state lives in the address, so that a link shows what its sender saw.

const LIST = /^\d+(,\d+)*$/;

export function read_hash() {
  const found = {};
  const words = new URLSearchParams(location.hash.slice(1));
  const whole = (name) => (/^\d{1,7}$/.test(words.get(name) ?? "") ? Number(words.get(name)) : undefined);
  for (const name of ["tree", "size", "node", "record"]) found[name] = whole(name);
  for (const name of ["folded", "opened"]) {
    if (LIST.test(words.get(name) ?? "")) found[name] = words.get(name).split(",").map(Number);
  }
  if (words.has("find")) found.find = words.get("find");
  if (["down", "right"].includes(words.get("turn"))) found.turn = words.get("turn");
  if (words.get("learn") === "1") found.learn = true;
  const view = (words.get("view") ?? "").split(",").map(Number);
  if (view.length === 3 && view.every(Number.isFinite)) found.view = { x: view[0], y: view[1], k: view[2] };
  if (words.has("row")) {
    try {
      const row = JSON.parse(words.get("row"));
      if (row && typeof row === "object" && !Array.isArray(row)) found.row = row;
    } catch {
      // a damaged link opens the page as new
    }
  }
  return found;
}

let waiting = null;

export function write_hash(state) {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    const words = new URLSearchParams();
    for (const [name, value] of Object.entries(state)) {
      if (value === undefined || value === null || value === "" || value === false) continue;
      if (Array.isArray(value)) {
        if (value.length) words.set(name, value.join(","));
      } else if (name === "view") words.set(name, [value.x, value.y, value.k].map((v) => +v.toFixed(3)).join(","));
      else if (name === "row") {
        if (Object.keys(value).length) words.set(name, JSON.stringify(value));
      } else words.set(name, value === true ? "1" : String(value));
    }
    try {
      history.replaceState(null, "", `#${words}`);
    } catch {
      // inside a notebook's frame there is no address to write to
    }
  }, 60);
}
