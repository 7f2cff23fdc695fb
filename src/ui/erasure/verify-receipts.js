/** Where a browser has no such arithmetic, or the page comes over plain HTTP from another machine. */
export const CANNOT_VERIFY =
  "This browser verifies signatures only over HTTPS or on the server's own machine. The command keepsake audit does it everywhere.";

/**
 * Verifies the receipts of one user, oldest first, with the public key in them. Gives for each receipt, by id, `undefined` if it
 * holds, or what is wrong. Throws if the browser cannot verify signatures.
 */
export async function verifyReceipts(receipts) {
  if (!globalThis.crypto?.subtle) throw new Error(CANNOT_VERIFY);
  const results = new Map();
  let previous = "";
  for (const receipt of receipts) {
    results.set(receipt.id, await findProblem(receipt, previous));
    previous = receipt.hash;
  }
  return results;
}

async function findProblem(receipt, previous) {
  if (receipt.version !== 2) return "An old receipt: only the server's secret can verify it.";
  if (!(await hasValidSignature(receipt))) return "The signature does not match the content.";
  if ((await hashOf(receipt)) !== receipt.hash) return "The hash does not match the content.";
  if (receipt.previous !== previous) return "The receipt before it is missing.";
  return receipt.complete ? undefined : "Some traces had not been removed when it was written.";
}

async function hasValidSignature({ signature, unsure: _unsure, ...said }) {
  if (!signature.startsWith("ed25519:")) return false;
  try {
    const jwk = { kty: "OKP", crv: "Ed25519", x: said.key };
    const key = await crypto.subtle.importKey("jwk", jwk, "Ed25519", false, ["verify"]);
    return await crypto.subtle.verify("Ed25519", key, decode(signature.slice(8)), toBytes(said));
  } catch {
    return false;
  }
}

/** The hash covers what was known when the erasure was committed. */
async function hashOf(receipt) {
  const { hash, signature, verified, complete, unsure, ...known } = receipt;
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", toBytes(known)));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** JSON with sorted names, as it was signed. */
function toBytes(value) {
  return new TextEncoder().encode(JSON.stringify(value, sortNames));
}

function sortNames(_name, value) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function decode(base64url) {
  const text = atob(base64url.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
