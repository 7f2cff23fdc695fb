/** Sends requests to addresses that others named, and to none within this network. */
export interface WebhookSender {
  /**
   * Checks whether a URL may be called, and resolves its host. Returns it in its normal form. Throws `invalid_input` with
   * the reason.
   */
  check(url: string, signal?: AbortSignal): Promise<string>;

  /**
   * Sends a POST request. The address is checked again, and the connection goes to the address that was checked. Redirects
   * are not followed, and of the answer only the status is used. Never throws.
   */
  send(request: WebhookRequest): Promise<WebhookResponse>;
}

export interface WebhookRequest {
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
  readonly signal: AbortSignal;
}

export interface WebhookResponse {
  /** The HTTP status; absent if there was no answer. */
  readonly status?: number;
  /** Why there was no answer. */
  readonly problem?: WebhookProblem;
  /** How long the receiver asks to be left alone, in ms. */
  readonly retryAfterMs?: number;
}

export type WebhookProblem =
  | "refused_address"
  | "unresolved_host"
  | "no_connection"
  | "tls"
  | "timeout"
  | "broken_off"
  | "stopped";
