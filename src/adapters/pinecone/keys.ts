import { toShortHash } from "../shared/scope-name.ts";

/** Pinecone's limit on the length of a record's id, which is ASCII. */
const MAX_ID_LENGTH = 512;
/** No escaped id begins with it. */
const HASH_MARK = "=";

/** The id of a record for an entry's id: letters that Pinecone takes, each in one way alone; of a very long one its hash. */
export function toRecordId(id: string): string {
  const escaped = encodeURIComponent(id);
  return escaped.length <= MAX_ID_LENGTH ? escaped : `${HASH_MARK}${toShortHash(id)}`;
}

/** The entry's id; nothing where only its hash is there, and the metadata must be asked. */
export const parseRecordId = (key: string): string | undefined =>
  key.startsWith(HASH_MARK) ? undefined : decodeURIComponent(key);
