/** A place of the page: "#/memories/ID?status=all" is `{ name: "memories", id: "ID", query }`. */
export function parseRoute(hash) {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [name = "", ...rest] = path.split("/");
  return { name, id: decode(rest[0]), part: decode(rest[1]), query: new URLSearchParams(query) };
}

function decode(text) {
  try {
    return text === undefined || text === "" ? undefined : decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Gives the address of a place. Empty parts of the query are left out. */
export function linkTo(name, id, query = {}, part = undefined) {
  const path = [name, id, part].filter((one) => one !== undefined).map(encodeURIComponent);
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  const search = given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
  return `#/${path.join("/")}${search}`;
}

/** Goes to a place. With `replace`, the place before is not in the browser's history. */
export function goTo(address, { replace = false } = {}) {
  if (address === location.hash) return;
  if (!replace) location.hash = address;
  else {
    history.replaceState(null, "", address);
    dispatchEvent(new HashChangeEvent("hashchange"));
  }
}
