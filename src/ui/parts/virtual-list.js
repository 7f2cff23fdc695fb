import { make } from "./make.js";

const PAGE = 100;
/** Rows kept above and below those in sight. */
const SPARE = 6;
/** While somebody scrolls fast, pages that flew by are not asked for. */
const PAUSE_MS = 40;

/**
 * A list of any length, of which only the rows in sight are in the document. `fetchPage(number, signal)` gives
 * `{ items, total }` of the hundred entries from `number * 100` on. `makeRow(item)` makes the content of a row; `height` gives
 * a row's height in rem. `loaded` is called with the total.
 */
export function virtualList({ label, height, fetchPage, makeRow, loaded, failed }) {
  const rows = make("ul", { class: "rows", "aria-label": label });
  const element = make("div", { class: "scroller" }, rows);
  const drawer = rowDrawer(rows, makeRow);
  const store = pageStore({
    fetchPage,
    failed,
    loaded(isOtherTotal) {
      // The number of all is in every row.
      if (isOtherTotal) drawer.drop();
      loaded(store.total());
      render();
    },
  });
  let timer;

  const rowHeight = () => height() * Number.parseFloat(getComputedStyle(document.documentElement).fontSize);

  function range() {
    const size = rowHeight();
    const first = Math.max(0, Math.floor(element.scrollTop / size) - SPARE);
    const last = Math.min(
      store.total(),
      Math.ceil((element.scrollTop + element.clientHeight) / size) + SPARE,
    );
    return [first, last, size];
  }

  function render() {
    const [first, last, size] = range();
    drawer.draw({ first, last, size, store });
    clearTimeout(timer);
    timer = setTimeout(() => store.ensure(first, last), PAUSE_MS);
  }

  element.addEventListener("scroll", () => requestAnimationFrame(render), { passive: true });
  new ResizeObserver(render).observe(element);

  return {
    element,
    total: store.total,
    known: store.known,
    /** Forgets all pages and loads again. `keepPlace` stays where it was scrolled to. */
    async reload({ keepPlace = false } = {}) {
      store.clear();
      if (!keepPlace) element.scrollTop = 0;
      element.ariaBusy = "true";
      const isLast = await store.load(Math.floor(range()[0] / PAGE));
      if (isLast) element.ariaBusy = "false";
    },
    /** Draws the rows again, for a change of their look. */
    redraw() {
      drawer.drop();
      render();
    },
    /** Brings a row into sight and puts the focus on its link. */
    focus(place) {
      if (place < 0 || place >= store.total()) return;
      scrollInto(element, place, rowHeight());
      render();
      rows.querySelector(`[data-place="${place}"] a`)?.focus({ preventScroll: true });
    },
    /** The place of the row that has the focus; -1 for none. */
    focused: () => Number(document.activeElement?.closest?.(".row")?.dataset.place ?? -1),
  };
}

function scrollInto(element, place, size) {
  if (place * size < element.scrollTop) element.scrollTop = place * size;
  const end = (place + 1) * size - element.clientHeight;
  if (end > element.scrollTop) element.scrollTop = end;
}

/** The pages that are known. `loaded` is called after each, and told whether there are more or fewer entries than before. */
function pageStore({ fetchPage, loaded, failed }) {
  let pages = new Map();
  let total = 0;
  let control = new AbortController();

  /** Gives whether the page is still wanted once it is there, or has failed. */
  async function load(number) {
    const { signal } = control;
    const page = {};
    pages.set(number, page);
    try {
      const found = await fetchPage(number, signal);
      if (signal.aborted) return false;
      page.items = found.items;
      const before = total;
      total = found.total;
      loaded(before !== total);
    } catch (error) {
      if (signal.aborted) return false;
      pages.delete(number);
      failed(error);
    }
    return true;
  }

  return {
    load,
    total: () => total,
    at: (place) => pages.get(Math.floor(place / PAGE))?.items?.[place % PAGE],
    /** The items that are known, in order. */
    known: () => [...pages].sort(([a], [b]) => a - b).flatMap(([, page]) => page.items ?? []),
    clear() {
      control.abort();
      control = new AbortController();
      pages = new Map();
    },
    /** Loads what is missing between two places. */
    ensure(first, last) {
      const end = Math.floor(Math.max(first, last - 1) / PAGE);
      for (let number = Math.floor(first / PAGE); number <= end; number += 1)
        if (!pages.has(number)) load(number);
    },
  };
}

/** Draws rows. It adds and removes only what differs, so that the focus stays and the order of tabs is that of the list. */
function rowDrawer(rows, makeRow) {
  let shown = new Map();

  function newRow(item, place, total) {
    const look = item ? "row" : "row blank";
    const row = make("li", {
      class: look,
      "aria-setsize": total,
      "aria-posinset": place + 1,
      "data-place": place,
    });
    if (item) row.append(...makeRow(item));
    else row.setAttribute("aria-busy", "true");
    return row;
  }

  function replace(next) {
    for (const [place, { row }] of shown) if (next.get(place)?.row !== row) row.remove();
    let before = null;
    for (const [, { row }] of [...next].reverse()) {
      if (row.parentNode !== rows || row.nextSibling !== before) rows.insertBefore(row, before);
      before = row;
    }
    shown = next;
  }

  return {
    draw({ first, last, size, store }) {
      rows.style.height = `${store.total() * size}px`;
      const next = new Map();
      for (let place = first; place < last; place += 1) {
        const item = store.at(place);
        const held = shown.get(place);
        const row = held?.item === item && held ? held.row : newRow(item, place, store.total());
        row.style.height = `${size}px`;
        row.style.transform = `translateY(${place * size}px)`;
        next.set(place, { item, row });
      }
      const giveBack = keepFocus(rows);
      replace(next);
      giveBack();
    },
    /** Makes every row anew at the next drawing. */
    drop() {
      shown = new Map([...shown].map(([place, { row }]) => [place, { item: {}, row }]));
    },
  };
}

/** Gives a function that puts the focus back where it was, if its row was made anew. */
function keepFocus(rows) {
  const { activeElement } = document;
  const row = rows.contains(activeElement) ? activeElement.closest(".row") : undefined;
  return () => {
    if (!row || row.isConnected) return;
    const next = rows.querySelector(`[data-place="${row.dataset.place}"] ${activeElement.localName}`);
    next?.focus({ preventScroll: true });
  };
}
