import type { Meter } from "../ports/meter.ts";
import type { Answered } from "./observe.ts";

/** What stands for an address that is none of ours: what somebody wrote there is nobody's to see. */
const UNKNOWN_ROUTE = "none";

/** Counts the requests that were answered. */
export function createRequestCounter(meter: Meter): (answered: Answered) => void {
  return ({ method, route, status, ms }) => {
    const endpoint = route ?? UNKNOWN_ROUTE;
    meter.count("memory_api_requests_total", { method, endpoint, status: `${status}` });
    meter.observe("memory_api_request_duration_seconds", ms / 1000, { method, endpoint });
  };
}
