/** The oldest supported release of each Node line. Earlier ones bundle an SQLite with a known corruption bug. */
const OLDEST: { readonly [major: number]: readonly [minor: number, patch: number] } = {
  22: [22, 3],
  24: [15, 0],
};

/**
 * What is wrong with a version of Node ("20.20.2"): a sentence with the versions that run, or undefined if it is supported.
 * The reason is in `docs/decisions/0004-node-sqlite.md`.
 */
export function findNodeProblem(version: string): string | undefined {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  const oldest = OLDEST[major];
  const isTooOld = oldest
    ? minor < oldest[0] || (minor === oldest[0] && patch < oldest[1])
    : major < Math.max(...Object.keys(OLDEST).map(Number));
  return isTooOld ? `requires Node 22.22.3+ or 24.15+; this is ${version}.` : undefined;
}
