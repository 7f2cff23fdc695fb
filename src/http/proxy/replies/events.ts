/**
 * Reads server-sent events from bytes as they come (WHATWG HTML, 9.2): gives the data of each event that is whole. More than
 * `LONGEST` of one event is given up: nobody sends that, and it would be held here.
 */
export function createEventReader(onData: (data: string) => void): { take(bytes: Uint8Array): void } {
  const decoder = new TextDecoder();
  let rest = "";
  let data: string[] = [];
  const line = (text: string): void => {
    if (text === "") {
      if (data.length > 0) onData(data.join("\n"));
      data = [];
    } else if (text.startsWith("data:")) data.push(text.slice(text[5] === " " ? 6 : 5));
  };
  return {
    take(bytes) {
      rest += decoder.decode(bytes, { stream: true });
      let from = 0;
      for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n", from)) {
        line(rest.slice(from, rest[end - 1] === "\r" ? end - 1 : end));
        from = end + 1;
      }
      rest = rest.slice(from);
      if (rest.length > MAX_LINE_LENGTH) rest = "";
    },
  };
}

/** Characters of one line: the last event of a response holds all of it again. */
const MAX_LINE_LENGTH = 32_000_000;
