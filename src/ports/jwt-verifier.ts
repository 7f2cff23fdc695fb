/** Checks JSON Web Tokens (RFC 7519): their signature, their times, and for whom they were issued. */
export interface JwtVerifier {
  /** Never throws for what a token contains. */
  verify(token: string, expected: ExpectedJwt): Promise<JwtResult>;
}

/** What a token must be like. */
interface ExpectedJwt {
  /** The claim `iss`, exactly. */
  readonly issuer: string;
  /** The claim `aud` is or contains one of these. */
  readonly audience: readonly string[];
  /** The issuer's public keys (RFC 7517): the address of a set that is trusted, or a set. */
  readonly keys: { readonly url: string } | { readonly set: JsonWebKeySet };
  /** Claims that must be present, in addition to `exp`. */
  readonly requiredClaims: readonly string[];
}

/** Public keys in the form of RFC 7517. */
export interface JsonWebKeySet {
  readonly keys: readonly { readonly [member: string]: unknown }[];
}

/** `expired`: everything but the time is right. `unavailable`: the keys could not be fetched. */
export type JwtResult =
  | { readonly outcome: "valid"; readonly claims: { readonly [name: string]: unknown } }
  | { readonly outcome: "expired" | "invalid" | "unavailable" };
