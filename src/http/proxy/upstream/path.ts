import { refuseField } from "../problems.ts";

/** A part of the name of a model, or of another object: it never begins with a dot, so it is never "." or "..". */
const NAME_PART = /^[A-Za-z0-9_@][A-Za-z0-9._:@+~-]*$/;
const MAX_NAME_LENGTH = 256;

/**
 * The path and query of a call as they go to the upstream, below its base URL. Each segment is decoded once, compared with the
 * characters that names of models and objects have, and encoded anew, so that no server on the way can read another path in it. A name may
 * have parts, as "org/model" has; they go on as one segment. An error of OpenAI's form with status 400 otherwise.
 */
export function toUpstreamPath(url: string): string {
  const { pathname, search } = new URL(url);
  const segments = pathname.replace(/^\/v1\/?/, "").split("/");
  const what = segments[0] === "models" ? "model" : "path";
  return `/${segments.map((segment) => checkSegment(segment, what)).join("/")}${search}`;
}

function checkSegment(segment: string, what: "model" | "path"): string {
  const name = decodeOnce(segment);
  const isName =
    name !== undefined &&
    name.length <= MAX_NAME_LENGTH &&
    name.split("/").every((part) => NAME_PART.test(part));
  if (isName) return encodeURIComponent(name);
  const problem = what === "model" ? "This is no name of a model." : "The path has a part that is no name.";
  throw refuseField(
    what,
    `${problem} Use letters, digits and ". _ : @ + ~ -", with "/" between parts, encoded as %2F.`,
  );
}

function decodeOnce(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    // No UTF-8: no name either.
    return undefined;
  }
}
