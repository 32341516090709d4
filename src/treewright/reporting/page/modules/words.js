// How numbers, tests and rules read; the same words as the text forms of the library.

export function number(x, digits = 4) {
  if (x === null || x === undefined || Number.isNaN(x)) return "–";
  if (Number.isInteger(x) && Math.abs(x) < 1e15) return x.toLocaleString("en").replaceAll(",", " ");
  const size = Math.abs(x);
  if (size >= 1e9 || (size > 0 && size < 1e-4)) return x.toExponential(digits - 1);
  return String(Number(x.toPrecision(Math.max(digits, Math.floor(Math.log10(size || 1)) + 1))));
}

/** Days as people write a date or time; the number where no such word is meant. */
export function moment(days, about) {
  if (!about.time) return number(days, 6);
  const written = new Date(Math.round(days * 1440) * 60_000).toISOString();
  if (about.time === "time") return written.slice(11, 16);
  return written.slice(11, 16) === "00:00" ? written.slice(0, 10) : written.slice(0, 16).replace("T", " ");
}

export function percent(share) {
  const value = 100 * share;
  if (share > 0 && value < 0.1) return "< 0.1 %";
  if (share < 1 && value > 99.9) return "> 99.9 %";
  return `${value.toFixed(value < 10 || (value > 99 && value < 100) ? 1 : 0)} %`;
}

export function plural(n, word, words = `${word}s`) {
  return `${number(n)} ${n === 1 ? word : words}`;
}

export function listing(words, most = 6) {
  if (words.length <= most) return words.join(", ");
  return `${words.slice(0, most).join(", ")}, … ${words.length - most} more`;
}

/** What a split is about: a feature's name, or a weighted sum. */
export function subject(book, split) {
  if (split.terms) {
    return split.terms
      .map(([feature, weight, code], k) => {
        const { name, categories } = book.features[feature];
        const size = number(Math.abs(weight), 3);
        const sign = weight < 0 ? "−" : k ? "+" : "";
        return `${sign}${k ? " " : ""}${size === "1" ? "" : `${size}·`}${code < 0 ? name : `[${name} = ${categories[code] ?? `category ${code}`}]`}`;
      })
      .join(" ");
  }
  return book.features[split.feature].name;
}

function category(book, split, code) {
  return book.features[split.feature].categories[code] ?? `category ${code}`;
}

/** Ends of a branch of breaks: words and whether each end is inside. */
function ends(split, branch) {
  const at = split.reversed ? split.breaks.length - branch : branch;
  const [least, most] = [Number(split.breaks[at - 1] ?? -Infinity), Number(split.breaks[at] ?? Infinity)];
  if (least === Infinity || most === -Infinity) return { low: null, high: null, word: "is a gap" };
  const words = split.words ?? split.breaks.map(String);
  const low = Number.isFinite(least) ? words[at - 1] : null;
  const high = Number.isFinite(most) ? words[at] : null;
  return { low, high, above: split.closed ? ">" : "≥", below: split.closed ? "≤" : "<" };
}

function between(name, { low, high, above, below, word }) {
  if (low === null && high === null) return `${name} ${word ?? "is known"}`;
  if (low === null) return `${name} ${below} ${high}`;
  if (high === null) return `${name} ${above} ${low}`;
  return `${low} ${above === ">" ? "<" : "≤"} ${name} ${below} ${high}`;
}

function ordinal(book, split, branch) {
  const names = book.features[split.feature].categories;
  const at = split.reversed ? split.breaks.length - branch : branch;
  const inside = names.filter((_, code) => {
    const below = split.breaks.filter((b) => (split.closed ? code > b : code >= b)).length;
    return below === at;
  });
  if (inside.length === 1) return `= ${inside[0]}`;
  if (!inside.length) return "never";
  if (inside[0] === names[0]) return `≤ ${inside.at(-1)}`;
  if (inside.at(-1) === names.at(-1)) return `≥ ${inside[0]}`;
  return `${inside[0]} to ${inside.at(-1)}`;
}

const is_ordinal = (book, split) =>
  split.breaks && !split.terms && book.features[split.feature].kind === "ordinal";

/** The condition of a branch without its subject, as on an edge. */
export function branch_label(book, split, branch) {
  if (split.groups) return listing(split.groups[branch].map((c) => category(book, split, c)));
  if (is_ordinal(book, split)) return ordinal(book, split, branch);
  const { low, high, above, below, word } = ends(split, branch);
  if (low === null) return high === null ? (word ?? "is known") : `${below} ${high}`;
  if (high === null) return `${above} ${low}`;
  return `${low} to ${high}`;
}

/** The condition of a branch as a sentence. */
export function branch_text(book, split, branch, most = 12) {
  const name = subject(book, split);
  if (split.groups) {
    const names = split.groups[branch].map((c) => category(book, split, c));
    if (!names.length) return `${name} is a gap`;
    return names.length === 1 ? `${name} = ${names[0]}` : `${name} in {${listing(names, most)}}`;
  }
  if (is_ordinal(book, split)) return `${name} ${ordinal(book, split, branch)}`;
  return between(name, ends(split, branch));
}

/** Conditions on the way to a node, those on one feature merged; [text, split node] pairs. */
export function rule(book, tree, node) {
  const found = new Map();
  for (const [above, branch] of tree.way(node)) {
    const split = tree.split(above);
    const key = split.terms ? `sum ${above}` : split.feature;
    if (!split.breaks || split.terms || is_ordinal(book, split)) {
      const kind = is_ordinal(book, split) ? `${key} ${branch}` : key;
      found.set(kind, branch_text(book, split, branch));
      continue;
    }
    const now = ends(split, branch);
    const old = found.get(key) ?? { low: null, high: null };
    const merged = {
      low: now.low ?? old.low,
      above: now.low === null ? old.above : now.above,
      high: now.high ?? old.high,
      below: now.high === null ? old.below : now.below,
      name: subject(book, split),
      word: now.word ?? old.word,
    };
    found.set(key, merged);
  }
  return [...found.values()].map((c) => (typeof c === "string" ? c : between(c.name, c)));
}
