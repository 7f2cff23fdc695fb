import type { Fault } from "../../ports/record.ts";
import type { Database } from "./database.ts";

/** What must give no row. Counts and places only: a check shows no user's text. */
export async function check(_database: Database): Promise<Fault[]> {
  return [];
}
