import { make } from "../parts/make.js";

/** The height of a bar, in percent. What is not 0 can be seen. */
function heightOf(value, most) {
  return value <= 0 || most <= 0 ? 0 : Math.max(2, (100 * value) / most);
}

/** One bar. The policy of the page allows no styles in markup, so the height is set on the element. */
function bar(text, height) {
  const element = make("span", { class: "chart-bar", title: text });
  element.style.height = `${height}%`;
  return element;
}

/**
 * A chart of bars, with its numbers as a table below. `points` are `{ label, value, cells }`: `cells` are the row of the table after
 * its label, and `columns` their headings; `shown` writes a value. The longest bar has the whole height.
 */
export function barChart({ title, columns, points, shown }) {
  const most = Math.max(0, ...points.map(({ value }) => value));
  const bars = points.map(({ label, value }) => bar(`${label}: ${shown(value)}`, heightOf(value, most)));
  const [first, last] = [points[0], points.at(-1)];
  return make(
    "figure",
    { class: "chart-figure" },
    make("figcaption", {}, title, make("span", { class: "chart-most" }, `most ${shown(most)}`)),
    make("div", { class: "chart", "aria-hidden": "true" }, bars),
    make(
      "p",
      { class: "chart-ends", "aria-hidden": "true" },
      make("span", {}, first?.label ?? ""),
      make("span", {}, last?.label ?? ""),
    ),
    make("details", {}, make("summary", {}, "As a table"), tableOf(title, columns, points)),
  );
}

function tableOf(title, columns, points) {
  return make(
    "table",
    { class: "numbers" },
    make("caption", { class: "unseen" }, title),
    make(
      "thead",
      {},
      make(
        "tr",
        {},
        columns.map((name) => make("th", { scope: "col" }, name)),
      ),
    ),
    make(
      "tbody",
      {},
      points.map(({ label, cells }) =>
        make(
          "tr",
          {},
          make("th", { scope: "row" }, label),
          cells.map((cell) => make("td", {}, cell)),
        ),
      ),
    ),
  );
}
