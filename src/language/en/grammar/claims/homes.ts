import type { AddProposal } from "../../../../ports/language/extractor.ts";
import { adding, type Context, claimOf, tidy } from "../context.ts";
import { held, targetOf } from "../forgetting/targets.ts";
import { compose } from "./sentence.ts";

const OPENS =
  "(?:(?:so|and|but|well|ok(?:ay)?|oh|update|news|big news|finally|guess what|yes|yay|it['’]?s official|anyway)[,:.! –—-]+)*";
const WE =
  "(?:(?:i|we)(?:['’]?ve|['’]?re|['’]?m| have| are| am)? )?(?:(?:just|finally|now|both|all|officially|only just|recently) )*";
const DWELLING =
  "(?:(?:an?|our|my|the|own|new|little|tiny|small|big|nice|first|two-room|three-room|old|lovely|cheap|rented) )*(?:house|flat|place|home|apartment|studio|cottage|bungalow|condo|room|loft|houseboat|terrace|maisonette|keys?(?: to (?:an?|our|my|the) (?:(?:new|own) )?(?:house|flat|place|home|apartment|studio|cottage))?)";
const WHERE =
  "(?<town>\\p{Lu}[\\p{L}'’-]*(?: (?:(?:on|upon|am|de|la|le|sur|of|the) )?\\p{Lu}[\\p{L}'’-]*){0,3})";
const STREET =
  /\b(?:street|road|lane|avenue|drive|row|close|square|way|crescent|terrace|hill|court|place|gardens|mews|straße|strasse|gasse|rue|calle)\b/i;

/** How people say that they live somewhere from now on, without "live". Add a row to add a way to say it. */
export const HOMES: readonly RegExp[] = [
  `${WE}(?:bought|got|found|rented|are renting|leased|took|inherited|picked up|closed on|signed for) ${DWELLING} (?:in|on|near) ${WHERE}(?:,? and| and|,) (?:(?:i|we|are|['’]ve|['’]re|have|just|finally|all|already) ?)*(?:moved|moving|settled|in\\b)`,
  `${WE}(?:moved|relocated|upped sticks|shifted|decamped) (?:in)?(?:to|into) ${DWELLING} (?:in|on|near) ${WHERE}`,
  `${WE}(?:settled|set up home|put down roots|settled down|found (?:our|my) feet|living|based|live|relocated|resettled) (?:(?:down|now|happily|back|over|out|up) )*(?:in|to) ${WHERE}(?: now| these days)`,
  `${WE}(?:relocated|resettled|emigrated|upped sticks|moved house) (?:(?:down|back|over|out|up) )*(?:to|and (?:went|came) to) ${WHERE}`,
  `${WHERE}(?: is|['’]s) (?:now )?(?:home|where (?:i|we) live|(?:our|my) (?:new )?home)(?: now| these days)?`,
  `(?:home|our home|my home)(?: is|['’]s) (?:now )?${WHERE}(?: now| these days)?`,
  `${WE}(?:in|settled in|all moved in,? in|living in) ${WHERE} now`,
].map(
  (row) =>
    new RegExp(
      `^${OPENS}${row}(?=$|[,.!;]| and\\b| now\\b| for\\b| since\\b| last\\b| on\\b| in\\b| with\\b| because\\b| these\\b)`,
      "u",
    ),
);

/** "we bought a house in Jena and moved in", "home is A Coruña now": where one lives from then on. */
export function settledIn(
  context: Context,
  text: string,
  place: { readonly start: number; readonly end: number },
): AddProposal[] | undefined {
  const plain = text
    .replace(/\bI\b/g, "i")
    .replace(/^(?:We|Home|Our|My|Just|Finally|So|And|Bought|Got|Moved|Settled|Relocated)\b/, (word) =>
      word.toLowerCase(),
    );
  if (
    /\b(?:if|might|(?<!\b(?:since|in|last|next|this|until|till|from|of|by|for|on|\d) )may|could|would|want|wish|not|never|n['’]t|going to|almost|nearly|used to)\b|\?$/.test(
      plain,
    )
  )
    return undefined;
  const town = HOMES.map((pattern) => pattern.exec(plain)?.groups?.town).find((one) => one !== undefined);
  const value = tidy(town ?? "");
  if (value === "") return undefined;
  const { speaker } = context.discourse;
  const isStreet = STREET.test(value);
  const relation = isStreet ? "live on" : "live in";
  const old = held(context).filter(
    ({ claim, memory }) =>
      memory !== undefined &&
      memory.kind !== "event" &&
      claim.subject === speaker.path &&
      /^(?:live (?:in|at|on|near)|be based in|be in)$/.test(claim.relation) &&
      claim.value !== value &&
      (!isStreet || claim.relation !== "live in" || !/^\p{Lu}/u.test(claim.value)),
  );
  const target = old.length < 4 ? targetOf(old) : undefined;
  return [
    adding(context, place, {
      text: compose(speaker.display, isStreet ? "lives on" : "lives in", value),
      claim: claimOf(speaker.path, relation, value),
      holds: "one",
      importance: 0.8,
      ...(target ? { replaces: target } : {}),
    }),
  ];
}
