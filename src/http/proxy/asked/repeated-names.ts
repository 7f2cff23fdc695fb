import { findStringEnd, scanValue, skipSpace } from "./json-places.ts";

/**
 * Whether an object in a JSON text has a name twice, small and capital letters being the same. Readers of JSON disagree about
 * which of the two counts, so that what was checked here might not be what another server reads. The values of `opaque` names
 * are not looked into. The text must be JSON already.
 */
export function hasRepeatedName(json: string, opaque: ReadonlySet<string>): boolean {
  // The names of each object that is open; a list has none.
  const open: (Set<string> | undefined)[] = [];
  for (let i = 0; i < json.length; ) {
    const mark = json[i];
    if (mark !== '"') {
      trackNesting(open, mark);
      i += 1;
      continue;
    }
    const member = readMember(json, i, opaque);
    if (member.name !== undefined && isKnownName(member.name, open.at(-1))) return true;
    i = member.end;
  }
  return false;
}

function trackNesting(open: (Set<string> | undefined)[], mark: string | undefined): void {
  if (mark === "{") open.push(new Set());
  else if (mark === "[") open.push(undefined);
  else if (mark === "}" || mark === "]") open.pop();
}

/** The name that a string is, and where to read on; no name where the string is a value. */
function readMember(
  json: string,
  at: number,
  opaque: ReadonlySet<string>,
): { readonly name?: string; readonly end: number } {
  const end = findStringEnd(json, at);
  const colon = skipSpace(json, end);
  if (json[colon] !== ":") return { end };
  const name = JSON.parse(json.slice(at, end)) as string;
  return { name: name.toLowerCase(), end: opaque.has(name) ? scanValue(json, colon + 1).end : colon + 1 };
}

function isKnownName(name: string, names: Set<string> | undefined): boolean {
  if (names?.has(name)) return true;
  names?.add(name);
  return false;
}
