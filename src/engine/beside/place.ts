/** How a place beside the record is called in receipts and metrics: "sessions: redis"; in this process, "sessions". */
export function formatStorePlace(what: "sessions" | "cache", { name }: { readonly name: string }): string {
  return name === "memory" ? what : `${what}: ${name}`;
}
