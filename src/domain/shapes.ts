import type { TextSpan } from "./sentences.ts";

/** What a value looks like, where its look gives it away. */
export type ValueShape =
  | "email"
  | "link"
  | "phone"
  | "extension"
  | "money"
  | "room"
  | "address"
  | "date"
  | "time"
  | "amount"
  | "code"
  | "number"
  | "quoted";

export interface ShapedValue extends TextSpan {
  readonly shape: ValueShape;
  readonly text: string;
}

const MONTH =
  "(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sep(?:t|tember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)";
const DAY = "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day";
const CLOCK = "\\d{1,2}(?::\\d{2})? ?(?:[ap]\\.?m\\.?(?![a-z]))|\\d{1,2}:\\d{2}";
const ROOM =
  "(?:[Uu]nit|[Ff]lat|[Aa]partment|[Aa]pt\\.?|[Rr]oom|[Ss]uite|[Bb]ay|[Ll]ocker|[Gg]ate|[Ff]loor|[Bb]ox|[Ss]eat|[Dd]esk|[Cc]abin|[Ll]ot|[Dd]ock|[Bb]ed|[Ww]ard|[Pp]latform|[Tt]erminal|[Bb]uilding|[Bb]lock|[Ss]tudio|[Dd]rawer|[Ss]helf|[Bb]in)";
const UNIT =
  "(?:mg|mcg|µg|micrograms?|milligrams?|grams?|kg|g|ml|litres?|liters?|lbs?|pounds|units?|percent|%|hours?|hrs?|minutes?|mins?|points?|km|miles|cm|mm|°[CF]|bpm|mmHg|credits?)";
const CURRENCY = "USD|EUR|GBP|CHF|JPY|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|INR|CNY|BRL|ZAR";
/** With thousands and decimals in the ways that people write them: "2,350", "2.350,00", "2'350.50". */
const NUMBER = "\\d+(?:[.,'’\\u00a0\\u202f]\\d+)*";
const NAMES = "(?:\\p{Lu}[\\p{L}'’-]+ ){1,4}";

/** The first that fits takes its place; so what tells more stands first. */
const SHAPES: readonly (readonly [ValueShape, RegExp])[] = [
  ["email", /[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu],
  ["link", /\b(?:https?:\/\/|www\.)[^\s"'“”<>)]*[^\s"'“”<>).,;:!?]/giu],
  [
    "quoted",
    /“[^”\n]{2,120}”|"[^"\n]{2,120}"|(?<![\p{L}\p{N}])['‘](?=\S)[^'’\n]{2,120}['’](?![\p{L}\p{N}])/gu,
  ],
  ["date", /(?<!\d)\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z?)?(?![\d-])/gu],
  [
    "date",
    new RegExp(
      `\\b(?:${DAY},? )?(?:${MONTH} \\d{1,2}(?:st|nd|rd|th)?(?:,? \\d{4})?|\\d{1,2}(?:st|nd|rd|th)? (?:of )?${MONTH}(?: \\d{4})?)\\b`,
      "gu",
    ),
  ],
  [
    "money",
    new RegExp(`(?:[$€£¥] ?|\\b(?:${CURRENCY}) ?)${NUMBER}(?: ?(?:k|m|bn|million|thousand))?\\b`, "giu"),
  ],
  [
    "money",
    new RegExp(
      `(?<![\\p{L}\\p{N}]|\\p{N}[.,])${NUMBER}(?: ?(?:k|m|bn|million|thousand))? ?(?:[$€£¥]|(?:${CURRENCY}|dollars?|euros?|pounds sterling|francs|kronor|yen)\\b)`,
      "giu",
    ),
  ],
  [
    "phone",
    /(?<![\p{L}\p{N}.-])(?:\+\d{1,3}[ .-]?)?(?:\(\d{2,4}\)[ .-]?|\d{2,4}[ .-])(?:\d{2,4}[ .-])?\d{3,4}(?![\p{L}\p{N}]|[.-]\d)(?:,? ?(?:ext\.?|extension|x) ?\d{1,5}\b)?/giu,
  ],
  ["extension", /\b(?:ext\.?|extension) ?#?\d{1,6}\b/giu],
  [
    "address",
    new RegExp(
      `\\b\\d{1,5}[A-Za-z]? ${NAMES}?(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Court|Ct|Close|Square|Way|Place|Terrace|Crescent|Boulevard|Blvd|Quay|Row|Hill)\\b`,
      "gu",
    ),
  ],
  ["room", new RegExp(`(?:${NAMES})?\\b${ROOM} #?[A-Z]?-?\\d+[A-Za-z]?\\b`, "gu")],
  ["time", new RegExp(`\\b(?:${CLOCK})(?: ?(?:to|-|–|until) ?(?:${CLOCK}))?`, "giu")],
  [
    "amount",
    new RegExp(`(?<![\\p{L}\\p{N}.-])\\d+(?:[.,]\\d+)?(?:/\\d+)? ?${UNIT}(?![\\p{L}\\p{N}])`, "giu"),
  ],
  ["amount", /(?<![\p{L}\p{N}.-])\d{1,3}\/\d{1,3}(?![\p{L}\p{N}/])/gu],
  // Letters and digits in one, groups of digits, words held together by underscores, capitals by hyphens.
  ["code", /(?<![\p{L}\p{N}])\d{1,4}(?:-\d{1,4}){2,}(?![\p{L}\p{N}])/gu],
  [
    "code",
    /(?<![\p{L}\p{N}@._-])(?=[\p{L}\p{N}#_./-]*\d)(?=[\p{L}\p{N}#_./-]*\p{L})(?!\d+(?:st|nd|rd|th|k|s|am|pm)(?![\p{L}\p{N}]))[\p{L}\p{N}]+(?:[#_./-][\p{L}\p{N}]+)*(?![\p{L}\p{N}])/giu,
  ],
  [
    "code",
    /(?<![\p{L}\p{N}])(?:\p{L}+(?:_[\p{L}\p{N}]+)+|\p{Lu}{2,}(?:-[\p{Lu}\p{N}]{2,})+)(?![\p{L}\p{N}])/gu,
  ],
  ["number", /(?<![\p{L}\p{N}.,/-])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\p{L}\p{N}]|[.,/-]\d)/gu],
  ["number", /(?<![\p{L}\p{N}.,/-])\d{1,3}(?:[.'’\u00a0\u202f]\d{3})+(?:,\d+)?(?![\p{L}\p{N}]|[.,/-]\d)/gu],
  ["number", /(?<![\p{L}\p{N}.,/-])\d{3,}(?:\.\d+)?(?![\p{L}\p{N}]|[.,/-]\d)/gu],
];

/** The values in a text that can be told by their look, in order; none lies over another. */
export function findShapedValues(text: string): ShapedValue[] {
  const found: ShapedValue[] = [];
  for (const [shape, pattern] of SHAPES) {
    for (const { 0: match, index } of text.matchAll(pattern)) {
      const start = index;
      const end = index + match.length;
      if (found.some((other) => start < other.end && other.start < end)) continue;
      found.push({ shape, start, end, text: match });
    }
  }
  return found.sort((one, other) => one.start - other.start);
}

/** Shapes that tell a value apart from all others: it can be hunted wherever it stands. */
const DISTINCT: ReadonlySet<ValueShape> = new Set(["email", "link", "phone", "address"]);

/** Whether a value is its owner's alone: an address, a phone number, a code of four signs and more. */
export function isDistinctValue({ shape, text }: Pick<ShapedValue, "shape" | "text">): boolean {
  if (DISTINCT.has(shape)) return true;
  if (shape === "quoted") return text.trim().split(/\s+/).length > 1;
  if (shape !== "code" && shape !== "number") return false;
  return text.replace(/[^\p{L}\p{N}]/gu, "").length >= 4;
}
