import type { DumpPart } from "../../ports/whole.ts";

/** The table of each part, which SQL databases name alike. */
export const PART_TABLES: { readonly [Part in DumpPart]: string } = {
  users: "users",
  messages: "messages",
  versions: "versions",
  memories: "heads",
  units: "units",
  gone: "gone",
  tombstones: "tombstones",
  links: "links",
  log: "log",
  receipts: "receipts",
  erasures: "erasures",
  recalls: "recalls",
  answers: "answers",
  visits: "visits",
  jobs: "jobs",
  backups: "backups",
  calls: "calls",
  turns: "turns",
};
