import * as z from "zod";
import { KEY_SCOPES, type KeyEntry, type KeyRing } from "./entries.ts";

const ENTRY_SCHEMA = z.object({
  id: z.string(),
  project: z.string(),
  hash: z.string(),
  createdAt: z.string(),
});
const SESSIONS_SCHEMA = z.array(
  z.object({ key: z.string(), hash: z.string(), proofHash: z.string(), expiresAt: z.string() }),
);
const SCOPED_ENTRY_SCHEMA = ENTRY_SCHEMA.extend({
  scopes: z.array(z.enum(KEY_SCOPES)),
  expiresAt: z.string().optional(),
  user: z.string().optional(),
  label: z.string().optional(),
  lastUsedAt: z.string().optional(),
  past: z.array(z.object({ hash: z.string(), until: z.string() })).optional(),
});

const KEY_RING_SCHEMA = z.discriminatedUnion("version", [
  // Keys had no scopes then: they could do everything, and so they can now.
  z
    .object({ version: z.literal(1), keys: z.array(ENTRY_SCHEMA), sessions: SESSIONS_SCHEMA })
    .transform(({ keys, sessions }) => ({
      keys: keys.map((entry) => ({ ...entry, scopes: KEY_SCOPES })),
      sessions,
    })),
  z
    .object({ version: z.literal(2), keys: z.array(SCOPED_ENTRY_SCHEMA), sessions: SESSIONS_SCHEMA })
    .transform(({ keys, sessions }) => ({ keys: keys as readonly KeyEntry[], sessions })),
]);

/** The keys in a text that `textOf` made, or an earlier version of it. Throws where it is none. */
export function parseKeyRing(text: string): KeyRing {
  return KEY_RING_SCHEMA.parse(JSON.parse(text));
}

/** Keys as they are kept. */
export function formatKeyRing(ring: KeyRing): string {
  return `${JSON.stringify({ version: 2, ...ring }, null, 2)}\n`;
}
