const MARK = /<(\/?)(?:think|thinking|thought|reasoning|reflection)>/i;
/** What may be the beginning of a mark, at the end of a part. */
const BEGUN = /<\/?[a-z]{0,10}$/i;

/** Leaves out of a text that comes in parts what stands between marks of thinking aloud. */
export function thoughtFilter(): { push(part: string): string; end(): string } {
  let held = "";
  let depth = 0;
  const push = (part: string): string => {
    let rest = held + part;
    let shown = "";
    held = "";
    for (let mark = MARK.exec(rest); mark; mark = MARK.exec(rest)) {
      if (depth === 0) shown += rest.slice(0, mark.index);
      depth = Math.max(0, depth + (mark[1] === "" ? 1 : -1));
      rest = rest.slice(mark.index + mark[0].length);
    }
    const begun = BEGUN.exec(rest);
    if (begun) {
      held = begun[0];
      rest = rest.slice(0, begun.index);
    }
    return depth === 0 ? shown + rest : shown;
  };
  return { push, end: () => (depth === 0 ? held : "") };
}
