import type { Proposal } from "../../../../ports/language/extractor.ts";
import { formatDateInWords } from "../../format-date.ts";
import { adding, type Context, claimOf, ending, saidAt, tidy } from "../context.ts";
import { type Held, held, targetOf, telling } from "../forgetting/targets.ts";
import { datesIn, momentOf } from "../time/dates.ts";
import { compose } from "./sentence.ts";

const OPENS =
  "(?:(?:so|and|but|well|ok(?:ay)?|oh|omg|update|news|big news|finally|guess what|yes|yay|wow|it['’]?s official|anyway)[,:.! –—-]+)*";
const WE =
  "(?:i(?:['’]?ve|['’]?m| have| am|['’]?ll be)? )?(?:(?:just|finally|now|officially|recently|today) )*";
const ORG =
  "(?<org>\\p{Lu}[\\p{L}\\p{N}'’&.-]*(?: (?:(?:&|and|of|the|de|van) )?\\p{Lu}[\\p{L}\\p{N}'’&.-]*){0,4})";
const PLACE = "(?:(?:an?|the|this) [\\p{L} -]{2,40}?(?: called| named|,) )?";

/** A new employer: {org}. Add a row to add a way to say it. */
export const EMPLOYERS: readonly RegExp[] = [
  `${WE}(?:start(?:ed|ing)?(?: (?:work|working|a (?:new )?(?:job|position|role)|my (?:new )?job|as an? [\\p{L} -]{2,30}?))?|got (?:an? |the |my )?(?:new )?(?:job|position|role)|landed (?:an? |the )?(?:new )?(?:job|position|role)|took (?:an? |the )?(?:new )?(?:job|position|role)|accepted (?:an? |the )?(?:new )?(?:job|offer|position|role)) (?:at|with|for|from) ${PLACE}${ORG}`,
  `(?:(?:my|today was my|had my|it was my|yesterday was my) )?first (?:day|week|shift|month) (?:at|with) ${PLACE}${ORG}`,
  `${WE}(?:at|with|working (?:at|for)|employed (?:at|by)|work (?:at|for)) ${PLACE}${ORG} now`,
  `${WE}(?:joined|signed with|been hired (?:by|at)|got hired (?:by|at)|been taken on (?:by|at)|moved (?:over )?to|went over to|jumped ship to|defected to) ${PLACE}${ORG}(?= as an? )`,
  `new job(?::| at| with| is at)? ${PLACE}${ORG}`,
  `(?:my )?new (?:employer|company|firm)(?::| is|['’]s) ${PLACE}${ORG}`,
  `${ORG} (?:hired|took on|poached|headhunted) me`,
].map(
  (row) =>
    new RegExp(
      `^${OPENS}${row}(?=$|[,.!;]| as\\b| on\\b| in\\b| now\\b| last\\b| this\\b| today\\b| yesterday\\b| from\\b| since\\b| and\\b| (?:mon|tues|wednes|thurs|fri|satur|sun))`,
      "iu",
    ),
);

const TITLE = "(?:an? |the )?(?<title>[\\p{L}][\\p{L} &-]{2,40}?)";
/** A new title: {title}. */
export const PROMOTIONS: readonly RegExp[] = [
  `${WE}(?:got |been |was )?(?:promoted|bumped up|moved up|made|upgraded)(?: from [\\p{L} -]{2,30}?)? to ${TITLE}`,
  `they(?:['’]?ve| have)? (?:just |finally )?(?:made|promoted|appointed|named) me (?:to |as )?${TITLE}`,
  `${WE}(?:got |been |was )?(?:promoted|made up)[,!.:;–— -]+(?:i(?:['’]?m| am) )?(?:now )?${TITLE}(?= since| now| from| as of| at|$|[,.!])`,
  `${WE}(?:got |been |was |been )(?:made|appointed|named) ${TITLE}`,
].map(
  (row) =>
    new RegExp(
      `^${OPENS}${row}(?=$|[,.!;]| now\\b| since\\b| at\\b| from\\b| last\\b| this\\b| today\\b| on\\b| as of\\b| so\\b| in\\b| of \\p{Ll}| because\\b| yesterday\\b)`,
      "iu",
    ),
);

interface Place {
  readonly start: number;
  readonly end: number;
}

const UNSURE =
  /\b(?:if|might|(?<!\b(?:since|in|last|next|this|until|till|from|of|by|for|on|\d) )may|could|would|wanna|want to|wish|not|never|almost|nearly|used to|hope|applied|interview)\b|n['’]t\b|\?$/i;

/** "started at a little studio called Bluefin today", "they made me store manager!": what one was before ends. */
export function newJob(context: Context, text: string, place: Place): Proposal[] | undefined {
  if (UNSURE.test(text)) return undefined;
  const org = tidy(firstOf(EMPLOYERS, text, "org"));
  if (org !== "" && /^\p{Lu}/u.test(org)) return employedAt(context, org, text, place);
  const title = tidy(firstOf(PROMOTIONS, text, "title"));
  return title === "" || /\b(?:my|me|it|them|promoted|redundant|happy|cry|laugh|sure|do)\b/i.test(title)
    ? undefined
    : titled(context, title, place);
}

function firstOf(patterns: readonly RegExp[], text: string, group: "org" | "title"): string {
  for (const pattern of patterns) {
    const found = pattern.exec(text)?.groups?.[group];
    if (found !== undefined) return found;
  }
  return "";
}

const AT = /^(?:work (?:at|for|with)|be (?:at|with|employed (?:at|by))|teach at|be an? .* at)$/;

/** What one is told to do for a living, and where. */
function jobs(context: Context): Held[] {
  const { speaker } = context.discourse;
  return held(context).filter(
    ({ claim, memory }) =>
      memory !== undefined &&
      memory.kind !== "event" &&
      claim.subject === speaker.path &&
      (AT.test(claim.relation) ||
        (/^(?:work as|be)$/.test(claim.relation) &&
          /\b(?:at|for|with) \p{Lu}/u.test(`${claim.value} ${claim.qualifier ?? ""}`)) ||
        claim.relation === "work as"),
  );
}

function employedAt(context: Context, org: string, text: string, place: Place): Proposal[] {
  const { speaker } = context.discourse;
  const title = /\bas (an? [\p{L} -]+?)(?= (?:at|for|with|in|on|last|today)\b|$|[,.!])/iu.exec(text)?.[1];
  const over = jobs(context).filter(
    ({ claim }) =>
      claim.value !== org &&
      (claim.relation !== "work as" ||
        title !== undefined ||
        /\bat\b/.test(`${claim.value} ${claim.qualifier ?? ""}`)),
  );
  const target = over.length < 4 ? targetOf(over) : undefined;
  const { validFrom, told, ...since } = begun(context, text);
  return [
    adding(context, place, {
      text: compose(
        speaker.display,
        validFrom === undefined || told === "from" ? "works at" : "has worked at",
        org,
        since.words,
      ),
      claim: claimOf(speaker.path, "work at", org),
      holds: "one",
      ...(validFrom === undefined ? {} : { validFrom }),
      ...(since.when === undefined ? {} : { when: since.when }),
      importance: 0.8,
      ...(target ? { replaces: target } : {}),
    }),
    ...(title
      ? [
          adding(context, place, {
            text: compose(speaker.display, "works as", title),
            claim: claimOf(speaker.path, "work as", title),
            importance: 0.8,
          }),
        ]
      : []),
  ];
}

interface Begun {
  readonly validFrom?: string;
  readonly when?: string;
  readonly told?: "since" | "from";
  /** "since March 2021", "from 1 April 2026". */
  readonly words: string;
}

/** From when on the job is one's own, where the words say so. */
function begun({ message }: Context, text: string): Begun {
  const isAhead = !/\b(?:started|got|landed|took|accepted|joined|hired|was|were|been|my first)\b/i.test(text);
  const [date] = datesIn(text, saidAt(message), isAhead);
  if (!date) return { words: "" };
  const validFrom = momentOf(date.iso, message.zone);
  const told = validFrom > message.at ? "from" : "since";
  return {
    validFrom,
    when: date.iso,
    told,
    words: `${told} ${formatDateInWords(date.iso.slice(0, 10), { weekday: false })}`,
  };
}

function titled(context: Context, title: string, place: Place): Proposal[] {
  const { speaker } = context.discourse;
  const stored = held(context).filter(
    ({ memory, claim }) =>
      memory !== undefined && memory.kind !== "event" && claim.subject.startsWith(speaker.path),
  );
  const named = stored.find(
    ({ claim }) =>
      /\/(?:job title|title|role|position|job|rank)$/.test(claim.subject) && claim.relation === "be",
  );
  const old = named ? [named] : stored.filter(({ claim }) => isTitle(claim.relation, claim.value, title));
  const target = targetOf(old);
  if (old.length > 3) return target ? [ending(context, place, target)] : [];
  const replaces = target ? { replaces: target } : {};
  if (named?.memory) {
    const text = named.memory.text.replace(named.claim.value, title);
    return [adding(context, place, { text, claim: { ...named.claim, value: title }, ...replaces })];
  }
  const value = withArticle(title);
  const where = whereOf(old[0], stored);
  return [
    adding(context, place, {
      text: compose(speaker.display, "is", value, where),
      claim: claimOf(speaker.path, "work as", value, where),
      holds: "one",
      importance: 0.8,
      ...replaces,
    }),
  ];
}

function withArticle(title: string): string {
  if (/^(?:an?|the|head|chief|captain|director|team lead)\b/i.test(title)) return title;
  return `${/^[aeiou]/i.test(title) ? "an" : "a"} ${title}`;
}

/** "at Lidl": said with the old title, or told beside it. */
function whereOf(old: Held | undefined, stored: readonly Held[]): string {
  const said = `${old?.claim.value ?? ""} ${old?.claim.qualifier ?? ""}`.trim();
  const beside = /\b(?:at|with|for) (?:the )?\p{Lu}.*$/u.exec(said)?.[0];
  if (beside !== undefined) return beside;
  const employer = stored.findLast(({ claim }) => claim.relation === "work at");
  return employer ? `at ${employer.claim.value}` : "";
}

/** "a junior buyer at Lidl" for "senior buyer": told with "work as", or a trade under "be". */
function isTitle(relation: string, value: string, title: string): boolean {
  if (relation === "work as") return true;
  const heads = telling(title);
  return (
    relation === "be" &&
    (telling(value).some((word) => heads.includes(word)) ||
      /^(?:an? |the )?(?:junior|trainee|assistant|apprentice|deputy|intern|associate|graduate|senior|lead)\b/i.test(
        value,
      ))
  );
}
