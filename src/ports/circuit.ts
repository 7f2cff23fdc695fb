/**
 * Whether requests to a server go out: `open` after several failures in a row, for a while; `half_open` while one is out to
 * see whether it answers again.
 */
export type CircuitState = "closed" | "open" | "half_open";
