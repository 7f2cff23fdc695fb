import type { Clause } from "../clauses/clauses.ts";
import type { Statement } from "../context.ts";

/** Sentences that say what is not so: what is imagined, dreamt, given as an example, or meant the other way round. */

/** Fillers before the word that opens a sentence. */
const OPEN = String.raw`(?:^|[.;:!?–—] ?)\s*(?:(?:so|ok|okay|and|but|well|now|then|hey|please|just|like|hm+)[, ]+)*`;
const I = String.raw`(?:i|i['’]\w+|im|my|we|we['’]\w+|our)`;

const IMAGINED = new RegExp(
  [
    String.raw`${OPEN}(?:imagine|picture this|pretend|supposing|assuming|hypothetically|what if|let(?:['’]?s| us) (?:say|pretend|assume|imagine|suppose|act)|for the sake of argument)\b`,
    String.raw`${OPEN}(?:say|assume|suppose|wish|wishing)(?: for (?:a|one|the) \w+)?(?:,| that)? ${I}\b`,
    String.raw`\b(?:i wish|wish(?:ed|es)? (?:i|we|he|she|they|you|it|there)|if only|what if|pretend(?:ing)? (?:that )?${I}|(?<!\bi )imagine (?:that )?${I}|as if i|act as if)\b`,
    // "I thought I was allergic": held once, and no longer.
    String.raw`\bi (?:\w+ )?(?:thought|assumed|believed) (?:that )?(?:i(?!['’]d| would| might| could|['’]ll)\b|we\b)`,
    String.raw`\b(?:in|from) (?:an? |another |some |the )?(?:alternate|alternative|parallel|other|different|perfect|past|previous|next) (?:universe|world|reality|timeline|life)\b|\bin another (?:universe|world|reality|timeline|life)\b`,
    String.raw`\bin my (?:wildest )?dreams?\b|\bin (?:my|a|the) dream\b|\bi (?:just |once |only )?(?:dreamt|dreamed)\b|\bhad a (?:\w+ )?dream(?= (?:last|that|where|about|in|of)\b|[.,!?]|$)|\bcan only dream\b`,
  ].join("|"),
  "iu",
);

const JOKED =
  /\b(?:yeah,? right|just kidding|jk|not really lol)\b|(?:lol|haha+|ha),? (?:yeah|sure|right)\b|^(?:oh,? )?(?:yeah|sure|right|great|wonderful|fantastic|lovely|brilliant|of course)(?:[,.!]* (?:yeah|sure|right|fine|great))*[,.!]* (?:and )?i(?:['’]?m| am) (?:totally|definitely|so|the|obviously|clearly)\b|^oh,? (?:yeah|sure|great|wonderful|fantastic|joy|lovely|brilliant)[,.!]+ i (?:just |really |so |totally )*(?:love|adore|live for|enjoy)\b|^oh sure[,.!]* i\b|\/s\s*$|\b(?:totally|obviously|clearly|definitely)\b.*(?:\blol|\bhaha+|😂|🤣|😜|😉)\W*$/iu;

const EXAMPLE =
  /^(?:\W*)(?:e\.?\s?g\.?|for example|for instance|as an example|example)\b[,:]?\s|\b(?:things|something|stuff|sentences|phrases|words|statements|messages) like (?:["“'‘]|i\b|my\b)|\b(?:begins?|starts?|opens?|ends?|titled|saying) (?:with )?["“'‘]?i (?:\p{L}+)|\bthe song (?:goes|is called|says)\b/iu;

/** "Everyone assumes I'm Spanish", "according to the quiz I'm a fox": another's view of the one who speaks. */
const BELIEVED = new RegExp(
  [
    String.raw`^according to (?:the|this|that|some|my) (?!.*\b(?:doctor|gp|test|results?|scan|specialist|consultant|dentist)\b)[^,]{2,30},? ${I}\b`,
    String.raw`\b(?:(?<!^\W*)(?:thinks|thought|assumes|assumed|believes|believed|reckons|suspects|guesses|guessed|claims|insists|jokes|swears|pretends)|(?:they|people|folks|everyone|everybody|\p{L}{3,}s) (?:all |both |still |always )*(?:think|assume|believe|reckon|suspect|guess|claim|insist|joke|swear)|(?:seems?|seem) to (?:think|believe)|(?:is|are|was|were) (?:convinced|certain|sure)|(?:telling|tells?|told) (?:people|everyone|everybody|them|others)|horoscope says|they say|people say|(?:t-?shirt|mug|sign|poster|badge|quiz|app|website|internet) (?:says|said)|says|said) (?:that )?(?:i|i['’]\w+|im) `,
  ].join("|"),
  "iu",
);
const OF_ONESELF =
  /\b(?:i|we|doctor|gp|consultant|specialist|dentist|optician|nurse|physio|therapist|vet|surgeon|midwife|test|tests|scan|results?) (?:(?:['’]\w+|have|had|has|also|always|really|still|just|did|do|don['’]t|do not|can['’]?t|cannot|could|couldn['’]t|would|never|actually|honestly|kind of|kinda|already) )*(?:think|thought|assume|assumed|believe|believed|reckon|suspect|guess|guessed|claim|insist|swear|say|says|said|told|tell|thinks|reckons|believes|suspects)\b|\bi['’](?:m|ve|d)\b[^,]{0,12}\b(?:convinced|certain|sure|said|told)\b|\b(?:i|doctor|gp) (?:['’]m|am|is|was) (?:convinced|certain|sure)\b/i;

/** A memory's own words, come back: nobody calls themself "the user". */
const RECALLED = /^\W*(?:according to (?:my|your) (?:memory|notes)[:,]? )?the user(?:['’]s)?\b/i;

/** Whether a sentence tells nothing that is so, or is another's view of the one who speaks. */
export function isUnreal(text: string): boolean {
  return (
    RECALLED.test(text) ||
    IMAGINED.test(text) ||
    JOKED.test(text) ||
    EXAMPLE.test(text) ||
    isOthersBelief(text)
  );
}

function isOthersBelief(text: string): boolean {
  return BELIEVED.test(text) && !OF_ONESELF.test(text);
}

const CAUSES = /^(?:because|cause|cuz|coz|since|as)$/;
/** Verbs of what lasts. */
const LASTS =
  /^(?:be|have|own|live|work|love|like|hate|enjoy|prefer|study|teach|play|drive|speak|believe|need|use|eat|drink|take|smoke|suffer|keep|run|wear|weigh)$/;

/** "because I am a vegetarian", "as I live by a canal": a reason that is told of oneself, and lasts. */
function isOwnReason({ opener, subject, verb, tokens }: Clause): boolean {
  if (!CAUSES.test(opener ?? "") || !subject || verb.open || verb.tense !== "present" || verb.perfect)
    return false;
  const first = tokens[subject[0]]?.lower ?? "";
  const isOwn = subject[1] - subject[0] === 1 ? /^(?:i|we)$/.test(first) : /^(?:my|our)$/.test(first);
  if (!isOwn || verb.modal !== undefined) return false;
  // "because I want to be a potter", "since I'm studying to be a vet": an aim lasts as well.
  const aim = verb.chain[0]?.verb ?? verb.lemma;
  if (AIMS.test(aim)) return true;
  return !verb.progressive && verb.chain.length === 0 && LASTS.test(verb.lemma);
}

const AIMS = /^(?:want|hope|plan|study|train|learn|love|like|hate)$/;

/** Clauses that tell nothing that is so: questions, quotes, conditions, what nearly happened. */
export function isPassedOver(clause: Clause, conditional: boolean): boolean {
  const { tokens, verb, role } = clause;
  if (clause.asks || tokens[verb.from]?.quoted) return true;
  const isAside = ["condition", "circumstance", "reason"].includes(role) && !isOwnReason(clause);
  if (isAside || isNearly(clause) || isReduced(clause) || isOrder(clause)) return true;
  return conditional && (verb.open || verb.tense !== "present" || verb.progressive);
}

/** "a mare, called Canela", "twins, aged four": a participle that belongs to the noun before it. */
function isReduced({ subject, shares, tokens, verb }: Clause): boolean {
  const before = tokens[verb.from - 1];
  return (
    !subject &&
    (before ? before.after.includes(",") : shares) &&
    /^(?:aged|called|named|born|nicknamed|dubbed)$/.test(tokens[verb.from]?.lower ?? "")
  );
}

/** "I'm bad with mornings, don't schedule before ten." */
function isOrder({ subject, tokens, verb }: Clause): boolean {
  const [before, first] = [tokens[verb.from - 1], tokens[verb.from]];
  return !subject && before?.after.includes(",") === true && first?.lower === "do";
}

/** Before a verb, they leave it undone. */
export const NEARLY: RegExp = /^(?:almost|nearly|hardly|barely|scarcely)$/;

/** "I almost bought a boat" */
function isNearly({ tokens, verb }: Clause): boolean {
  const before = NEARLY.test(tokens[verb.from - 1]?.lower ?? "");
  return before || tokens.slice(verb.from, verb.to).some(({ lower }) => /^(?:almost|nearly)$/.test(lower));
}

const WORK =
  "novel|story|tale|book|film|movie|play|show|series|episode|scene|script|screenplay|game|video game|campaign|comic|manga|poem|song|simulation|musical|opera|sketch|fanfic|roleplay|role-play";
const IN_WORK = new RegExp(`^in (?:my|the|this|that|our|a|his|her) (?:[\\p{L}-]+ ){0,2}(?:${WORK})\\b`, "iu");
const FIGURE =
  /(?:^|[/ ])(?:character|protagonist|avatar|hero|heroine|narrator|villain|alter ego|persona|paladin|wizard)$/;

/**
 * Whether a clause tells of somebody made up: "in my novel I am a pirate", "my character owns a tavern". What is one's
 * favourite character is told of oneself.
 */
export function isFiction({ clause, subject }: Statement): boolean {
  if (clause.subject && IN_WORK.test(leadOf(clause)) && isState(clause)) return true;
  return FIGURE.test(subject.path) && !/favou?rite|fave/.test(subject.path);
}

function leadOf({ tokens, lead }: Clause): string {
  return tokens
    .slice(...lead)
    .map(({ lower }) => lower)
    .join(" ");
}

/** What one is, has and does in it; "in my book I write about bees" is told of the book. */
function isState({ verb }: Clause): boolean {
  return /^(?:be|have|live|work|own|marry|rule|fight|die|love|hate|become|run|kill|get|wake up|play)$/.test(
    verb.lemma,
  );
}
