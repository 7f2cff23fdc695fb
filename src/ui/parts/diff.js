/** The most words that are compared; longer texts are shown as removed and added whole. */
const MOST_WORDS = 400;

/**
 * Compares two texts by words. Gives pieces in order: `["same" | "removed" | "added", text]`. Removed words come before the
 * added ones that take their place.
 */
export function compareWords(before, after) {
  const [old, now] = [before, after].map((text) => text.match(/\s+|[^\s]+/g) ?? []);
  if (old.length > MOST_WORDS || now.length > MOST_WORDS) {
    return [
      ["removed", before],
      ["added", after],
    ];
  }
  return join(walk(old, now, lengths(old, now)));
}

/** The length of the longest common sequence of the words from each pair of places on. */
function lengths(old, now) {
  const table = Array.from({ length: old.length + 1 }, () => new Uint16Array(now.length + 1));
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      table[i][j] = old[i] === now[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
    }
  }
  return table;
}

function* walk(old, now, table) {
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && old[i] === now[j]) {
      yield ["same", old[i]];
      i += 1;
      j += 1;
    } else if (i < old.length && (j >= now.length || table[i + 1][j] >= table[i][j + 1])) {
      yield ["removed", old[i]];
      i += 1;
    } else {
      yield ["added", now[j]];
      j += 1;
    }
  }
}

function join(pieces) {
  const joined = [];
  for (const [kind, text] of pieces) {
    const last = joined.at(-1);
    if (last?.[0] === kind) last[1] += text;
    else joined.push([kind, text]);
  }
  return joined;
}
