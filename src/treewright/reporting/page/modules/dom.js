// Elements without markup in strings: text from the data never becomes HTML.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export function html(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

let pen = null;

/** Width of words in pixels. */
export function wide(words, size, weight = 400) {
  pen ??= document.createElement("canvas").getContext("2d");
  pen.font = `${weight} ${size}px system-ui, -apple-system, "Segoe UI", sans-serif`;
  return pen.measureText(words).width;
}

/** The longest beginning of words that fits, with an ellipsis if something is lost. */
export function fitted(words, room, size, weight = 400) {
  if (wide(words, size, weight) <= room) return words;
  const letters = Array.from(words);
  let low = 0;
  let high = letters.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (wide(letters.slice(0, middle).join("") + "…", size, weight) <= room) low = middle;
    else high = middle - 1;
  }
  return letters.slice(0, low).join("") + "…";
}
