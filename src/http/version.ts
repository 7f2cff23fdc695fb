import { readFileSync } from "node:fs";

/** The version of the package. */
export const VERSION: string = parseVersion(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
);

function parseVersion(about: string): string {
  return (JSON.parse(about) as { version: string }).version;
}
