const THOUGHT_MARK = /<(\/?)(?:think|thinking|thought|reasoning|reflection)>/i;
/** What may be the beginning of a mark, at the end of a part. */
const PARTIAL_THOUGHT_MARK = /<\/?[a-z]{0,10}$/i;

/** Leaves out of a text that comes in parts what stands between marks of thinking aloud. */
export function createThoughtFilter(): { push(part: string): string; end(): string } {
  let held = "";
  let depth = 0;
  const push = (part: string): string => {
    let rest = held + part;
    let shown = "";
    held = "";
    for (let mark = THOUGHT_MARK.exec(rest); mark; mark = THOUGHT_MARK.exec(rest)) {
      if (depth === 0) shown += rest.slice(0, mark.index);
      depth = Math.max(0, depth + (mark[1] === "" ? 1 : -1));
      rest = rest.slice(mark.index + mark[0].length);
    }
    const begun = PARTIAL_THOUGHT_MARK.exec(rest);
    if (begun) {
      held = begun[0];
      rest = rest.slice(0, begun.index);
    }
    return depth === 0 ? shown + rest : shown;
  };
  return { push, end: () => (depth === 0 ? held : "") };
}
