import { createHash, randomBytes } from "node:crypto";
import type { Clock } from "../../ports/system.ts";
import type { ApiKeys, Bearer, KeyScope } from "../keys/api-keys.ts";
import { createToken, hashSecret, isSameHash } from "../keys/key-ring.ts";
import type { ClientConsent, CodeEntry, GrantEntry, GrantStore, OAuthState } from "./grant-store.ts";
import type { TokenCheck } from "./protected-resource.ts";

/** A refusal of the token endpoint, as RFC 6749 section 5.2 names it. */
export interface TokenRefusal {
  readonly error:
    | "invalid_request"
    | "invalid_grant"
    | "invalid_scope"
    | "invalid_client"
    | "invalid_target"
    | "unsupported_grant_type";
  readonly description: string;
}

/** Tokens for a client, shown this once. */
export interface IssuedTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Lifetime of the access token, in seconds. */
  readonly expiresIn: number;
  readonly scopes: readonly KeyScope[];
}

type TokenResult = IssuedTokens | TokenRefusal;

/** What a client sends to exchange a code. */
export interface CodeExchange {
  readonly code: string;
  readonly client: string;
  /** Checked if it is sent: OAuth 2.1 leaves it out, because PKCE protects the code. */
  readonly redirectUri: string | undefined;
  /** The PKCE verifier. */
  readonly verifier: string;
}

/** What a client sends to refresh its tokens. */
export interface TokenRefresh {
  readonly token: string;
  readonly client: string;
  /** Fewer scopes for the new access token. Default: those of the grant. */
  readonly scopes: readonly string[] | undefined;
}

/** Issues, refreshes, checks and revokes codes and tokens. Their secrets are stored as hashes. */
export interface TokenService {
  /** Issues a code for a consent. It lasts 60 seconds. */
  issueCode(consent: ClientConsent, request: Pick<CodeEntry, "redirectUri" | "challenge">): Promise<string>;
  /** Gives how the client of a code or a refresh token proves who it is; undefined for an unknown one. */
  findAuthMethod(token: string, client: string): Promise<ClientConsent["auth"] | undefined>;
  /** Exchanges a code for tokens, once. A second time ends the grant. */
  exchange(exchange: CodeExchange): Promise<TokenResult>;
  /** Exchanges a refresh token for new tokens, once. A second time ends the grant. */
  refresh(refresh: TokenRefresh): Promise<TokenResult>;
  /** Ends the grant of an access token or a refresh token. Does nothing for an unknown one, or another client's. */
  revoke(token: string, client: string | undefined): Promise<void>;
  /** Checks an access token. */
  verify(token: string): Promise<TokenCheck>;
}

const CODE_MS = 60_000;
const ACCESS_SECONDS = 900;
/** A client that stays away for so long asks for consent again. */
const REFRESH_MS = 30 * 86_400_000;
/** Requests with the access token from before a refresh may still be on their way. */
const MAX_ACCESS_TOKENS = 2;
const MAX_GRANTS = 1000;
const MAX_GRANTS_PER_KEY = 50;
const MAX_CODES_PER_KEY = 50;

const CODE_PATTERN = /^ksc_[A-Za-z0-9_-]{43}$/;
const ACCESS_PATTERN = /^ksa_([0-9a-f]{12})_[A-Za-z0-9_-]{43}$/;
/** What all refresh tokens of a grant have in common, and what is new in each. */
const REFRESH_PATTERN = /^ksr_([0-9a-f]{12})_([A-Za-z0-9_-]{43})_[A-Za-z0-9_-]{43}$/;

/** The same answer for every code or token that gives nothing. */
export const UNKNOWN_TOKEN: TokenRefusal = {
  error: "invalid_grant",
  description: "The code or token is unknown, has expired or was used before.",
};

/** Creates the service over a store. A grant ends with the key that the person signed in with. */
export function createTokenService(
  store: GrantStore,
  keys: Pick<ApiKeys, "findIdentified">,
  clock: Clock,
): TokenService {
  const change = async <Result>(
    work: (held: OAuthState, now: Date) => { readonly state: OAuthState; readonly result: Result },
  ): Promise<Result> => {
    let result: Result | undefined;
    await store.change((held) => {
      const now = clock();
      const done = work(dropExpired(held, now.toISOString()), now);
      result = done.result;
      return done.state;
    });
    return result as Result;
  };
  return {
    issueCode: (consent, request) => change((held, now) => addCode(held, { ...consent, ...request }, now)),
    async findAuthMethod(token, client) {
      const found = findConsent(await store.read(), token);
      return found?.client === client ? found.auth : undefined;
    },
    exchange: (exchange) => change((held, now) => exchangeCode(held, exchange, { keys, now })),
    refresh: (refresh) => change((held, now) => refreshGrant(held, refresh, { keys, now })),
    async revoke(token, client) {
      if (!findGrant(await store.read(), token)) return;
      await change((held) => {
        const grant = findGrant(held, token);
        const isTheirs = grant && (client === undefined || client === grant.client);
        return { state: isTheirs ? withoutGrant(held, grant.id) : held, result: undefined };
      });
    },
    async verify(token) {
      if (!ACCESS_PATTERN.test(token)) return { refusal: "unknown" };
      return checkAccess(await store.read(), token, { keys, now: clock() });
    },
  };
}

interface Surroundings {
  readonly keys: Pick<ApiKeys, "findIdentified">;
  readonly now: Date;
}

interface StateChange<Result> {
  readonly state: OAuthState;
  readonly result: Result;
}

/** Drops what has expired. An expired access token stays with its grant, so that it is told from a guess. */
function dropExpired(held: OAuthState, moment: string): OAuthState {
  const codes = held.codes.filter(({ expiresAt }) => expiresAt > moment);
  const grants = held.grants.filter(({ expiresAt }) => expiresAt > moment);
  const isSame = codes.length === held.codes.length && grants.length === held.grants.length;
  return isSame ? held : { codes, grants };
}

function addCode(
  held: OAuthState,
  entry: Omit<CodeEntry, "hash" | "expiresAt">,
  now: Date,
): StateChange<string> {
  const code = `ksc_${createToken()}`;
  const expiresAt = new Date(now.getTime() + CODE_MS).toISOString();
  const codes = [...held.codes, { ...entry, hash: hashSecret(code), expiresAt }];
  return { state: { ...held, codes: keepNewest(codes, entry.key, MAX_CODES_PER_KEY) }, result: code };
}

/** Drops the oldest entries of a key beyond a number. */
function keepNewest<Entry extends ClientConsent>(
  entries: readonly Entry[],
  key: string,
  most: number,
): readonly Entry[] {
  const surplus = entries.filter((entry) => entry.key === key).slice(0, -most);
  return surplus.length === 0 ? entries : entries.filter((entry) => !surplus.includes(entry));
}

function exchangeCode(
  held: OAuthState,
  { code, client, redirectUri, verifier }: CodeExchange,
  { keys, now }: Surroundings,
): StateChange<TokenResult> {
  const entry = findCode(held, code);
  if (!entry || entry.client !== client) return { state: held, result: UNKNOWN_TOKEN };
  // Two parties have the code, and one of them should not. RFC 6749 section 4.1.2.
  if (entry.grant !== undefined) return { state: withoutGrant(held, entry.grant), result: UNKNOWN_TOKEN };
  const spent = { ...held, codes: held.codes.filter((one) => one !== entry) };
  const isOurs = isSameHash(toChallenge(verifier), entry.challenge);
  if (!isOurs || (redirectUri !== undefined && redirectUri !== entry.redirectUri))
    return { state: spent, result: UNKNOWN_TOKEN };
  if (!findRights(entry, keys)) return { state: spent, result: UNKNOWN_TOKEN };
  if (held.grants.length >= MAX_GRANTS) return { state: spent, result: FULL };
  const {
    hash: _hash,
    redirectUri: _uri,
    challenge: _challenge,
    expiresAt: _end,
    grant: _grant,
    ...consent
  } = entry;
  const { grant, tokens } = renewGrant(
    {
      ...consent,
      id: randomBytes(6).toString("hex"),
      createdAt: now.toISOString(),
      family: createToken(),
      access: [],
    },
    { now, scopes: entry.scopes },
  );
  const state = {
    codes: held.codes.map((one) => (one === entry ? { ...one, grant: grant.id } : one)),
    grants: keepNewest([...held.grants, grant], entry.key, MAX_GRANTS_PER_KEY),
  };
  return { state, result: tokens };
}

const FULL: TokenRefusal = {
  error: "invalid_grant",
  description: "The server has no room for more clients. Revoke one, or ask the operator.",
};

/** Gives the PKCE challenge of a verifier (RFC 7636, S256). */
function toChallenge(verifier: string): string {
  return createHash("sha256").update(verifier).digest("base64url");
}

function refreshGrant(
  held: OAuthState,
  { token, client, scopes }: TokenRefresh,
  { keys, now }: Surroundings,
): StateChange<TokenResult> {
  const grant = findGrant(held, token);
  const family = REFRESH_PATTERN.exec(token)?.[2];
  if (!grant || family === undefined || grant.client !== client)
    return { state: held, result: UNKNOWN_TOKEN };
  // An earlier refresh token: it was stolen, or the newer one was. RFC 9700 section 4.14.2.
  const isReused = !isSameHash(hashSecret(token), grant.refreshHash);
  if (isReused || !findRights(grant, keys))
    return { state: withoutGrant(held, grant.id), result: UNKNOWN_TOKEN };
  const wanted = scopes === undefined ? grant.scopes : grant.scopes.filter((one) => scopes.includes(one));
  if (scopes?.some((one) => !grant.scopes.some((had) => had === one)) || wanted.length === 0)
    return { state: held, result: { error: "invalid_scope", description: "The grant lacks this scope." } };
  const renewed = renewGrant({ ...grant, family }, { now, scopes: wanted });
  const grants = held.grants.map((one) => (one === grant ? renewed.grant : one));
  return { state: { ...held, grants }, result: renewed.tokens };
}

type RenewableGrant = Omit<GrantEntry, "expiresAt" | "familyHash" | "refreshHash"> & {
  readonly family: string;
};

/** Issues the next tokens of a grant. The refresh token before ends. */
function renewGrant(
  { family, ...entry }: RenewableGrant,
  { now, scopes }: { readonly now: Date; readonly scopes: readonly KeyScope[] },
): { readonly grant: GrantEntry; readonly tokens: IssuedTokens } {
  const accessToken = `ksa_${entry.id}_${createToken()}`;
  const refreshToken = `ksr_${entry.id}_${family}_${createToken()}`;
  const until = (ms: number): string => new Date(now.getTime() + ms).toISOString();
  const fresh = { hash: hashSecret(accessToken), expiresAt: until(ACCESS_SECONDS * 1000), scopes };
  const grant: GrantEntry = {
    ...entry,
    familyHash: hashSecret(family),
    refreshHash: hashSecret(refreshToken),
    expiresAt: until(REFRESH_MS),
    access: [...entry.access, fresh].slice(-MAX_ACCESS_TOKENS),
  };
  return { grant, tokens: { accessToken, refreshToken, expiresIn: ACCESS_SECONDS, scopes } };
}

function checkAccess(held: OAuthState, token: string, { keys, now }: Surroundings): TokenCheck {
  const grant = findGrant(held, token);
  const access = grant && findAccess(grant, token);
  if (!access) return { refusal: "unknown" };
  const rights = findRights(grant, keys);
  // The grant's end moves with each refresh, and so lies behind that of the access token.
  if (access.expiresAt <= now.toISOString() || !rights) return { refusal: "expired" };
  const scopes = access.scopes.filter((scope) => rights.scopes.includes(scope));
  return { bearer: { key: grant.key, project: grant.project, user: grant.user, scopes } };
}

/** Gives the rights of the key behind a grant, if they still reach its user. */
function findRights(consent: ClientConsent, keys: Surroundings["keys"]): Bearer | undefined {
  const bearer = keys.findIdentified(consent.key, consent.keyHash);
  if (!bearer || bearer.project !== consent.project) return undefined;
  return bearer.user === undefined || bearer.user === consent.user ? bearer : undefined;
}

function findConsent(held: OAuthState, token: string): ClientConsent | undefined {
  return CODE_PATTERN.test(token) ? findCode(held, token) : findGrant(held, token);
}

function findCode({ codes }: OAuthState, code: string): CodeEntry | undefined {
  const hash = hashSecret(code);
  return codes.find((entry) => isSameHash(entry.hash, hash));
}

/** Finds the grant that a token belongs to. The id in it is not a secret, so its secret part is checked, too. */
function findGrant({ grants }: OAuthState, token: string): GrantEntry | undefined {
  const [, accessId] = ACCESS_PATTERN.exec(token) ?? [];
  const [, refreshId, family = ""] = REFRESH_PATTERN.exec(token) ?? [];
  const grant = grants.find(({ id }) => id === (accessId ?? refreshId));
  if (!grant) return undefined;
  const isKnown =
    accessId === undefined
      ? isSameHash(hashSecret(family), grant.familyHash)
      : findAccess(grant, token) !== undefined;
  return isKnown ? grant : undefined;
}

function findAccess({ access }: GrantEntry, token: string): GrantEntry["access"][number] | undefined {
  const hash = hashSecret(token);
  return access.find((entry) => isSameHash(entry.hash, hash));
}

function withoutGrant(held: OAuthState, id: string): OAuthState {
  return { ...held, grants: held.grants.filter((grant) => grant.id !== id) };
}
