import type { AddProposal } from "../../../../ports/language/extractor.ts";
import { listAttributeRelations } from "../../relations/relations.ts";
import { toSingular } from "../../word-forms.ts";
import { compose } from "../claims/sentence.ts";
import { adding, type Context, claimOf, tidy } from "../context.ts";
import { type Held, held, targetOf, telling } from "../forgetting/targets.ts";

const OPENS =
  "(?:(?:so|and|but|well|ok(?:ay)?|oh|btw|update|news|big news|finally|actually|yes|yep|also|guess what|right|it['’]?s official|fyi)[,:.! –—-]+)*";
/** An address, a number, a make: what a thing can be that is new. */
const VALUE =
  "[\\p{L}\\p{N}._+-]+@[\\p{L}\\p{N}.-]+\\p{L}|\\+?\\d[\\d .()/-]{3,}\\d|an? \\p{Lu}[\\p{L}\\p{N}-]*(?: [\\p{Lu}\\d][\\p{L}\\p{N}-]*){0,3}";
const NAME = `(?<name>${VALUE}|(?:(?:[Dd]r|[Mm]rs?|[Mm]s|[Pp]rof)\\.? )?\\p{Lu}[\\p{L}\\p{N}'’&.-]*(?: (?:(?:of|de|van|der|the|and|&) )?\\p{Lu}[\\p{L}\\p{N}'’&.-]*){0,3})`;
const ROLE = "(?<role>[\\p{L}' -]{2,30}?)";
const CLOSES =
  "(?=$|[,.!;]| now\\b| from now on\\b| since\\b| as of\\b| instead\\b| these days\\b| and\\b| \\()";

const IS_VALUE = new RegExp(`^(?:${VALUE})$`, "u");

/** How people bring in who or what is new in a role: {role} and {name}. Add a row to add a way to say it. */
export const NEWCOMERS: readonly RegExp[] = [
  `(?:(?:i|we)(?:['’]?ve| have)? )?(?:just |finally )?(?:got|have|hired|found|started with|met|got assigned|been given|been assigned) (?:(?:an?|the|my|our) )?(?:new|different|another) {role}(?: now)?(?:,|:| called| named| –| -|, (?:he|she|it|they)(?:['’]s| is|['’]re| are) called|, (?:his|her|its|their) name(?:['’]s| is)) {name}`,
  `(?:(?:(?:i|we)(?:['’]?ve| have)? )?(?:got|have) (?:a|an) |(?:my|our|the) )?new {role}(?:,? (?:it|he|she)['’]s| is|['’]s|:| =| –| -)(?: now)?(?: called| named)? {name}`,
  `(?:my|our) {role}(?: is|['’]s) now(?: called| named)? {name}`,
  `{name}(?: is|['’]s) (?:now )?(?:my|our) (?:new )?{role}(?: now| from now on| these days)`,
  `{name}(?: is|['’]s) (?:now )?(?:my|our) new {role}`,
  `(?:(?:i|we)(?:['’]?ve| have)? )?(?:just )?(?:changed|switched|swapped) {role},? (?:and |so |now )*(?:(?:i|we)(?:['’]m|['’]re)? (?:see|go to|have|with|use|at)|it['’]s) {name}`,
  `{name} (?:took over|has taken over|takes over|is taking over|stepped in|started)(?: from \\p{Lu}\\p{L}+)? as (?:my|our|the) (?:new )?{role}`,
].map((row) => new RegExp(`^${OPENS}${row.replace("{role}", ROLE).replace("{name}", NAME)}${CLOSES}`, "u"));

/** "we've got a new dog walker, Maureen": the name in that role, in the place of the one before. */
export function newcomer(
  context: Context,
  text: string,
  place: { readonly start: number; readonly end: number },
): AddProposal[] | undefined {
  const groups = inAnyCase(text);
  const role = tidy(groups?.role ?? "")
    .toLowerCase()
    .replace(/^(?:own|dear|old) |['’]s names?$/g, "");
  const name = tidy(groups?.name ?? "");
  if (role === "" || name === "" || /\b(?:not|if|one|things?|i|my|is|was)\b/.test(role)) return undefined;
  const { speaker } = context.discourse;
  const all = held(context).filter(({ memory }) => memory !== undefined && memory.kind !== "event");
  const named = all.filter(
    ({ claim }) =>
      [role, toSingular(role)].some((one) => isRole(claim.subject, speaker.path, one)) &&
      /^be(?: called)?$/.test(claim.relation),
  );
  if (named.length > 0) return [inRole(context, place, named, { role, name })];
  const owned = ownedAs(all, speaker.path, role);
  return [owned ? inPlaceOf(context, place, owned, name) : inRole(context, place, [], { role, name })];
}

interface Place {
  readonly start: number;
  readonly end: number;
}

function inRole(
  context: Context,
  place: Place,
  named: readonly Held[],
  { role, name }: { readonly role: string; readonly name: string },
): AddProposal {
  const { speaker } = context.discourse;
  const [first] = named;
  const target = targetOf(named);
  const relation =
    first?.claim.relation ?? (/^favou?rite /.test(role) || IS_VALUE.test(name) ? "be" : "be called");
  const display = speaker.path === "user" ? "The user" : speaker.display;
  return adding(context, place, {
    text: compose(`${display}'s ${role}`, relation === "be" ? "is" : "is called", name),
    claim: claimOf(first ? bareRole(first.claim.subject) : `${speaker.path}/${role}`, relation, name),
    holds: "one",
    importance: 0.8,
    ...(target ? { replaces: target } : {}),
  });
}

function inPlaceOf(context: Context, place: Place, old: Held, name: string): AddProposal {
  const target = targetOf([old]);
  return adding(context, place, {
    text: old.memory?.text.replace(old.claim.value, name) ?? name,
    claim: { ...old.claim, value: name },
    holds: "one",
    ...(target ? { replaces: target } : {}),
  });
}

/** "changed the team's name, we're The Badgers now": {thing} and {name}. */
export const RENAMINGS: readonly RegExp[] = [
  `(?:(?:i|we|they)(?:['’]?ve| have)? )?(?:just |finally )?changed (?:the|our|my) {thing}['’]?s? name(?: to|[,:;–-]+ ?(?:so )?(?:now )?(?:it|we|they|he|she)(?:['’]s|['’]re| is| are)(?: now)?(?: called)?| ?[,:]) (?:now )?{name}`,
  `(?:(?:i|we|they)(?:['’]?ve| have)? )?(?:just |finally )?(?:renamed|rebranded|rechristened) (?:the|our|my) {thing}(?: to| as| –|[,:;–-]+ ?(?:so )?(?:now )?(?:it|we|they|he|she)(?:['’]s|['’]re| is| are)(?: now)?(?: called)?|[,:]) (?:now )?{name}`,
  `(?:the|our|my) {thing}(?: has|['’]s| was| got| is)? (?:been |being )?(?:renamed|rebranded|rechristened)(?: to| as|[,:;–-]+ ?(?:so )?(?:now )?(?:it|we|they)(?:['’]s|['’]re| is| are)(?: now)?(?: called)?|[,:]) {name}`,
].map(
  (row) =>
    new RegExp(
      `^${OPENS}${row.replace("{thing}", "(?<thing>[\\p{L}' -]{2,30}?)").replace("{name}", NAME)}${CLOSES}`,
      "u",
    ),
);

/** "we renamed the group, it's now Clever Cloggs": what bears a name bears that one. */
export function rebranded(context: Context, text: string, place: Place): AddProposal[] | undefined {
  const plain = lowered(text);
  const groups = RENAMINGS.map((pattern) => pattern.exec(plain)?.groups).find(Boolean);
  const words = telling(groups?.thing ?? "");
  const name = tidy(groups?.name ?? "");
  if (name === "" || words.length === 0) return undefined;
  const named = held(context).filter(
    ({ claim, memory }) =>
      memory !== undefined &&
      /^be(?: called)?$/.test(claim.relation) &&
      words.every((word) => telling(claim.subject.replaceAll("/", " ")).includes(word)),
  );
  const [first] = named;
  return first?.memory && named.length < 4 ? [inPlaceOf(context, place, first, name)] : undefined;
}

function inAnyCase(text: string): Record<string, string> | undefined {
  // "Toto's gone downhill, new favourite café: Lumen": what stands behind a comma too.
  for (const piece of [text, ...text.split(/[,;–—] +/).slice(1)]) {
    const spoken = lowered(piece);
    for (const pattern of NEWCOMERS) {
      const groups = pattern.exec(spoken)?.groups;
      if (groups) return groups;
    }
  }
  return undefined;
}

/** The first word in small letters where it is no name: what opens a sentence. */
function lowered(text: string): string {
  return text
    .replace(
      /^(?:I|We|My|Our|New|The|Got|Finally|Just|So|And|Ok|Oh|Big|Update|News|Hired|Found|Met|Changed|Renamed|They)\b/,
      (word) => word.toLowerCase(),
    )
    .replace(/\bI\b/g, "i");
}

/** "user/piano teacher" and "user/piano teacher Lindqvist" for "piano teacher". */
function isRole(subject: string, owner: string, role: string): boolean {
  const bare = bareRole(subject);
  return (
    bare === `${owner}/${role}` ||
    (bare.startsWith(`${owner}/`) && bare.endsWith(` ${role}`) && !bare.slice(owner.length + 1).includes("/"))
  );
}

function bareRole(subject: string): string {
  return subject.replace(/ \p{Lu}[^/]*$/u, "");
}

/** "my new employer is X": what "my employer" is told with. */
function ownedAs(all: readonly Held[], owner: string, role: string): Held | undefined {
  const relations = listAttributeRelations(role).filter((one) => one !== "be" && one !== "be called");
  const own = all.filter(({ claim }) => claim.subject === owner && claim.value !== "");
  for (const relation of relations) {
    const found = own.findLast(({ claim }) => claim.relation === relation);
    if (found) return found;
  }
  return undefined;
}
