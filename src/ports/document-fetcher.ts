/** Fetches small public documents from addresses that others named, and from none within this network. */
export interface DocumentFetcher {
  /**
   * Gives the JSON of an `https` URL. Redirects are not followed. Throws `invalid_input` for a URL that may not be fetched, and
   * for an answer that is no JSON or too long; `unavailable` if there is no answer in time.
   */
  fetch(url: string, signal?: AbortSignal): Promise<FetchedDocument>;
}

export interface FetchedDocument {
  /** The JSON, not parsed. */
  readonly text: string;
  /** How long its server allows to keep it, in seconds; undefined if it does not say. */
  readonly maxAgeSeconds: number | undefined;
}
