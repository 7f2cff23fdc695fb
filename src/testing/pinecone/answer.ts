/** What goes back: a status, and JSON or plain text. */
export interface PineconeAnswer {
  readonly status: number;
  readonly body: object | string;
  readonly headers?: { readonly [name: string]: string };
}

/** gRPC's numbers for what went wrong (google.rpc.Code), as the data plane gives them. */
const CODES: { readonly [status: number]: number } = {
  400: 3,
  404: 5,
  409: 6,
  412: 9,
  429: 8,
  500: 13,
  503: 14,
};

export const createSuccess = (
  body: object,
  headers?: { readonly [name: string]: string },
): PineconeAnswer => ({
  status: 200,
  body,
  ...(headers ? { headers } : {}),
});

/** A refusal of the data plane: `rpcStatus` in its document. That of a wrong key is plain text. */
export const createDataRefusal = (status: number, message: string): PineconeAnswer =>
  status === 401
    ? { status, body: message }
    : { status, body: { code: CODES[status] ?? 2, message, details: [] } };

const NAMES: { readonly [status: number]: string } = {
  400: "INVALID_ARGUMENT",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  409: "ALREADY_EXISTS",
};

/** A refusal of the control plane: `ErrorResponse` in its document. */
export const createControlRefusal = (status: number, message: string): PineconeAnswer => ({
  status,
  body: { status, error: { code: NAMES[status] ?? "UNKNOWN", message } },
});
