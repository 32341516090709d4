// Zoom and pan: one transform on the stage, moved by wheel, drag, pinch and buttons.

const LEAST = 0.04;
const MOST = 4;
/** The least scale at which words can be read, and the margin of a picture that fits. */
export const LEAST_FIT = 0.68;
export const PAD = 16;

export function camera(picture, stage, changed) {
  const view = { x: 0, y: 0, k: 1 };
  const fingers = new Map();
  let moved = false;

  function apply(silent) {
    stage.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.k})`);
    if (!silent) changed({ ...view });
  }
  function zoom(factor, x, y) {
    const k = Math.min(MOST, Math.max(LEAST, view.k * factor));
    view.x = x - ((x - view.x) * k) / view.k;
    view.y = y - ((y - view.y) * k) / view.k;
    view.k = k;
    apply();
  }
  const middle = () => [picture.clientWidth / 2, picture.clientHeight / 2];
  const local = (event) => {
    const frame = picture.getBoundingClientRect();
    return [event.clientX - frame.left, event.clientY - frame.top];
  };

  picture.addEventListener(
    "wheel",
    (event) => {
      // A wheel over the picture scrolls the page, as readers expect; with Ctrl it zooms.
      if (!event.ctrlKey && !event.metaKey && !picture.hasAttribute("data-alone")) return;
      event.preventDefault();
      zoom(Math.exp(-event.deltaY * 0.0015), ...local(event));
    },
    { passive: false },
  );
  picture.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    fingers.set(event.pointerId, local(event));
    moved = false;
  });
  picture.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const now = local(event);
    if (!moved && Math.hypot(now[0] - before[0], now[1] - before[1]) < 4) return;
    if (!moved) picture.setPointerCapture(event.pointerId);
    moved = true;
    if (fingers.size === 1) {
      view.x += now[0] - before[0];
      view.y += now[1] - before[1];
      apply();
    } else {
      const other = [...fingers].find(([id]) => id !== event.pointerId)[1];
      const length = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]);
      zoom(length(now) / Math.max(1, length(before)), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    }
    fingers.set(event.pointerId, now);
  });
  for (const name of ["pointerup", "pointercancel", "pointerleave"]) {
    picture.addEventListener(name, (event) => fingers.delete(event.pointerId));
  }
  // A drag must not end as a click on the box under the pointer.
  picture.addEventListener(
    "click",
    (event) => {
      if (moved) event.stopPropagation();
      moved = false;
    },
    true,
  );

  return {
    view,
    by: (factor) => zoom(factor, ...middle()),
    pan(dx, dy) {
      view.x += dx;
      view.y += dy;
      apply();
    },
    set({ x, y, k }) {
      Object.assign(view, { x, y, k: Math.min(MOST, Math.max(LEAST, k)) });
      apply(true);
    },
    /** Show everything, no larger than life; what is far too large is shown from its root. */
    fit(drawn) {
      const pad = PAD;
      const [width, height] = [picture.clientWidth, picture.clientHeight];
      const k = Math.min((width - 2 * pad) / drawn.size.width, (height - 2 * pad) / drawn.size.height, 1);
      view.k = Math.max(k, LEAST_FIT);
      const root = drawn.spots.get(0);
      const fits = view.k === k;
      if (drawn.turn === "down") {
        const centre = root.x + drawn.form.width / 2;
        view.x = fits ? (width - drawn.size.width * view.k) / 2 : width / 2 - centre * view.k;
        view.y = pad;
      } else {
        const centre = root.y + drawn.form.height / 2;
        const wide = drawn.size.width * view.k + 2 * pad > width;
        view.x = wide ? pad : (width - drawn.size.width * view.k) / 2;
        view.y = fits ? (height - drawn.size.height * view.k) / 2 : height / 2 - centre * view.k;
      }
      apply();
    },
    /** Bring a box into the picture. */
    reveal(spot, form) {
      const [x, y] = [view.x + spot.x * view.k, view.y + spot.y * view.k];
      const [w, h] = [form.width * view.k, form.height * view.k];
      const inside = x >= 0 && y >= 0 && x + w <= picture.clientWidth && y + h <= picture.clientHeight;
      if (inside) return;
      view.x += picture.clientWidth / 2 - x - w / 2;
      view.y += picture.clientHeight / 2 - y - h / 2;
      apply();
    },
  };
}
