import { refuse } from "../problem.ts";

/** Refuses a request that cannot be right, naming the field. */
export function refuseField(field: string, detail: string, status: 400 | 404 = 400): Error {
  return refuse({
    status,
    code: status === 404 ? "not_found" : "invalid_input",
    detail,
    errors: [{ field, problem: detail }],
  });
}

/** The upstream gave no answer. The client may try again: nothing came of this request. */
export function createGatewayError(detail: string, status: 502 | 504 = 502): Error {
  return refuse({ status, code: "unavailable", detail, headers: { "retry-after": "1" } });
}
