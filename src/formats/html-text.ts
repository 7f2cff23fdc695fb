const ENTITIES: { readonly [name: string]: string } = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
};

const BREAKS = new Set(["br", "p", "div", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6"]);
const HIDDEN = new Set(["script", "style"]);

/** Gives the words of simple HTML, without tags. Blocks and breaks become lines. Nothing of it is run or shown. */
export function htmlToText(html: string): string {
  const lower = html.toLowerCase();
  let text = "";
  let at = 0;
  for (let open = html.indexOf("<"); open >= 0; open = html.indexOf("<", at)) {
    text += html.slice(at, open);
    const close = html.indexOf(">", open);
    at = close < 0 ? html.length : close + 1;
    const [, slash, name = ""] = /^<(\/?)([a-z]+[1-6]?)/.exec(lower.slice(open, open + 12)) ?? [];
    if (BREAKS.has(name) && (slash === "/" || name === "br")) text += "\n";
    if (!HIDDEN.has(name) || slash === "/") continue;
    const end = lower.indexOf(`</${name}`, at);
    at = end < 0 ? html.length : end;
  }
  return (text + html.slice(at))
    .replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w{2,8}));/gi, decodeEntity)
    .replace(/[ \t]+/g, " ")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

function decodeEntity(entity: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? entity;
  const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : entity;
}
