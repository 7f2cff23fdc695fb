/** How many letters must be added, taken, changed, or swapped with their neighbour, to make one text the other. */
export function countEdits(one: string, other: string): number {
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
    beforeLast = last;
    last = row;
  }
  return getCell(last, other.length);
}

function getCell(row: readonly number[], place: number): number {
  return row[place] ?? Number.POSITIVE_INFINITY;
}
