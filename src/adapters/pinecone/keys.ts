import { shortHash } from "../shared/scope-name.ts";

/** Pinecone's limit on the length of a record's id, which is ASCII. */
const LONGEST = 512;
/** No escaped id begins with it. */
const HASHED = "=";

/** The id of a record for an entry's id: letters that Pinecone takes, each in one way alone; of a very long one its hash. */
export function keyOf(id: string): string {
  const escaped = encodeURIComponent(id);
  return escaped.length <= LONGEST ? escaped : `${HASHED}${shortHash(id)}`;
}

/** The entry's id; nothing where only its hash is there, and the metadata must be asked. */
export const idIn = (key: string): string | undefined =>
  key.startsWith(HASHED) ? undefined : decodeURIComponent(key);
