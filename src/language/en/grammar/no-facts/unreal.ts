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
