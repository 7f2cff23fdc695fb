import * as z from "zod";
import { openStateFile } from "../../adapters/shared/state-files/state-file.ts";
import { MemoryError } from "../../errors.ts";
import type { Documents, SharedDocument } from "../../ports/stores/documents.ts";
import type { StateFormat } from "../../ports/stores/state-file.ts";
import { KEY_SCOPES, type KeyScope } from "../keys/key-ring.ts";

/** How a client proves who it is at the token endpoint. */
export const CLIENT_AUTH_METHODS = ["none", "private_key_jwt"] as const;
export type ClientAuthMethod = (typeof CLIENT_AUTH_METHODS)[number];

/** What a person has allowed a client. */
export interface ClientConsent {
  /** The client's id: the URL of its document. */
  readonly client: string;
  readonly auth: ClientAuthMethod;
  /** The id of the key that the person signed in with. The grant ends with the key. */
  readonly key: string;
  /** SHA-256 of that key, hex. The grant ends with this secret of the key. */
  readonly keyHash: string;
  readonly project: string;
  readonly user: string;
  readonly scopes: readonly KeyScope[];
}

/** An authorization code. It is used once. */
export interface CodeEntry extends ClientConsent {
  /** SHA-256 of the code, hex. */
  readonly hash: string;
  readonly expiresAt: string;
  readonly redirectUri: string;
  /** The PKCE challenge, of the method S256. */
  readonly challenge: string;
  /** The grant that it was exchanged for. If the code comes again, that grant ends. */
  readonly grant?: string | undefined;
}

/** What a client holds: one refresh token, and the access tokens of the last exchanges. */
export interface GrantEntry extends ClientConsent {
  /** The public part of its tokens: 12 characters. */
  readonly id: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** The end of the refresh token, which each use moves. */
  readonly expiresAt: string;
  /** SHA-256 of what all refresh tokens of this grant have in common, hex. */
  readonly familyHash: string;
  /** SHA-256 of the refresh token that is valid now, hex. */
  readonly refreshHash: string;
  /** The newest last. */
  readonly access: readonly AccessEntry[];
}

export interface AccessEntry {
  /** SHA-256 of the access token, hex. */
  readonly hash: string;
  readonly expiresAt: string;
  readonly scopes: readonly KeyScope[];
}

/** All codes and grants. It contains hashes of secrets, no secrets. */
export interface OAuthState {
  readonly codes: readonly CodeEntry[];
  readonly grants: readonly GrantEntry[];
}

/** A store of codes and grants, shared by all servers of a database. */
export interface GrantStore {
  /** Gives the stored state. Throws `unavailable`. */
  read(): Promise<OAuthState>;
  /**
   * Applies `change` to the stored state, atomically and in order with other writers, durably before it returns. `change` may
   * run more than once: the last run counts.
   */
  change(change: (held: OAuthState) => OAuthState): Promise<void>;
}

const EMPTY: OAuthState = { codes: [], grants: [] };

const SCOPES_SCHEMA = z.array(z.enum(KEY_SCOPES));
const CONSENT_FIELDS = {
  client: z.string(),
  auth: z.enum(CLIENT_AUTH_METHODS),
  key: z.string(),
  keyHash: z.string(),
  project: z.string(),
  user: z.string(),
  scopes: SCOPES_SCHEMA,
  expiresAt: z.string(),
};
const STATE_SCHEMA = z.object({
  version: z.literal(1),
  codes: z.array(
    z.object({
      ...CONSENT_FIELDS,
      hash: z.string(),
      redirectUri: z.string(),
      challenge: z.string(),
      grant: z.string().optional(),
    }),
  ),
  grants: z.array(
    z.object({
      ...CONSENT_FIELDS,
      id: z.string(),
      createdAt: z.string(),
      familyHash: z.string(),
      refreshHash: z.string(),
      access: z.array(z.object({ hash: z.string(), expiresAt: z.string(), scopes: SCOPES_SCHEMA })),
    }),
  ),
});

const FORMAT: StateFormat<OAuthState> = {
  name: "grants",
  empty: EMPTY,
  parse(text) {
    const { codes, grants } = STATE_SCHEMA.parse(JSON.parse(text));
    return { codes, grants };
  },
  format: ({ codes, grants }) => `${JSON.stringify({ version: 1, codes, grants })}\n`,
  remedy: "Restore the right file, or delete it: clients then ask for consent again.",
};

/** Creates a store that lasts as long as the process. */
export function createPassingGrants(): GrantStore {
  let state = EMPTY;
  return {
    read: async () => state,
    async change(change) {
      state = change(state);
    },
  };
}

/** Opens a store in a file with mode 0600, `<database>.oauth.json`. Throws as the file of keys does. */
export function openGrantsFile(path: string): GrantStore {
  const file = openStateFile(path, FORMAT);
  return {
    read: async () => file.read() ?? EMPTY,
    change: async (change) => file.write(change),
  };
}

/** Gives the path of the file of grants of a database. */
export function toGrantsPath(database: string): string {
  return `${database}.oauth.json`;
}

const DOCUMENT_NAME = "oauth";

/** Opens a store in the shared database. Throws `corrupt` if the document is something else. */
export function openSharedGrants(documents: Documents): GrantStore {
  let known: { readonly mark: string; readonly state: OAuthState } | undefined;
  const learn = (found: SharedDocument | undefined): OAuthState => {
    if (found?.mark !== known?.mark)
      known = found && { mark: found.mark, state: parseDocument(found.text ?? "") };
    return known?.state ?? EMPTY;
  };
  return {
    async read() {
      const { mark } = known ?? {};
      const found = await documents.read(DOCUMENT_NAME, mark);
      // Changed here meanwhile: the result may lack the text.
      if (known?.mark !== mark && found?.text === undefined && found) return known?.state ?? EMPTY;
      return learn(found);
    },
    async change(change) {
      learn(
        await documents.change(DOCUMENT_NAME, (text) => {
          const held = text === undefined ? EMPTY : parseDocument(text);
          const next = change(held);
          return next === held ? text : FORMAT.format(next);
        }),
      );
    },
  };
}

function parseDocument(text: string): OAuthState {
  try {
    return FORMAT.parse(text);
  } catch (cause) {
    throw new MemoryError(
      "corrupt",
      "grants: the shared database contains no valid grants. Restore the newest backup.",
      { cause },
    );
  }
}
