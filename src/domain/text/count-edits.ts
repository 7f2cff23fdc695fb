/**
 * Gives the number of letters to add, remove, change or swap with a neighbour to turn one text into the other. Stops
 * counting above `most` (default: never), and then gives a larger number.
 */
export function countEdits(one: string, other: string, most: number = Number.POSITIVE_INFINITY): number {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: other.length + 1 }, (_, j) => j);
  for (let i = 1; i <= one.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const added = getCell(row, j - 1) + 1;
      const taken = getCell(last, j) + 1;
      const changed = getCell(last, j - 1) + (one[i - 1] === other[j - 1] ? 0 : 1);
      const isSwap = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      row.push(Math.min(added, taken, changed, isSwap ? getCell(beforeLast, j - 2) + 1 : changed));
    }
    // A swap looks two rows back.
    if (Math.min(...row, ...last) > most) return Number.POSITIVE_INFINITY;
    beforeLast = last;
    last = row;
  }
  return getCell(last, other.length);
}

function getCell(row: readonly number[], place: number): number {
  return row[place] ?? Number.POSITIVE_INFINITY;
}
