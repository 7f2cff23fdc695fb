import type { Question, QuestionReader } from "../../../ports/language/question-reader.ts";
import { isLastingOrder } from "../grammar/claims/instructions.ts";
import { readNounPhrase } from "../grammar/clauses/noun-phrases.ts";
import type { KnownMemory } from "../grammar/known-memory.ts";
import { tagSentences } from "../grammar/words/tagger.ts";
import { listAttributeRelations } from "../relations/relations.ts";
import { stated, whQuestion, yesNo } from "./question-frames.ts";
import { type Asking, headOf, resolver } from "./question-parts.ts";
import { besideOf, spanIn, timelyForm } from "./question-times.ts";

const PREAMBLE =
  /^(?:(?:and|so|ok|okay|hey|hi|hello|oh|hmm+|um+|well|also|but|now|right|wait|btw|please|pls|sorry|quick (?:one|question)|random(?: question)?|just checking|remind me|tell me|let me know|i forgot|i forget|i can['’]?t (?:remember|recall)|i don['’]?t (?:remember|know|recall)|do you (?:know|remember|recall|happen to know|still know|have any idea)|can you (?:tell me|remind me|remember|recall)|could you (?:tell me|remind me)|would you (?:know|tell me)|any idea|you know|did i (?:ever )?(?:tell|mention to) you|have i (?:ever )?(?:told|mentioned to) you|i wonder|i was wondering|according to what i (?:told|said to) you|from what i['’]?ve told you|from memory|again)[,:!.\s]+)+/i;
const WH = /\b(?:what|which|who|whom|whose|where|when|why|how)\b/i;

const CALL_TO_KNOW =
  /^(?:and |so |ok |hey |please |can you |could you |just )*(?:tell me|remind me|do you (?:know|remember)|what do you know|list|name|summari[sz]e|describe)\b/i;

/** Reads questions about the one who asks and their people, by grammar. */
export function rulesQuestionReader(): QuestionReader {
  return {
    isQuestion(message) {
      return isQuestion(message);
    },
    read(question, context) {
      return readQuestion(question.slice(0, 600), context);
    },
  };
}

const ASKING_START =
  /^(?:(?:and|so|ok|okay|hey|hi|hello|oh|hmm+|well|also|but|now|btw|please|sorry)[,!.\s]+)*(?:what(?:['’]?s|['’]re)?|which|who(?:['’]?s|m|se)?|where(?:['’]?s)?|when(?:['’]?s)?|why|how(?:['’]?s)?)\s+(?:\w+(?:['’]\w+)? )*?(?:am|is|are|was|were|do|does|did|have|has|had|can|could|should|would|will|to|many|much|old|far|long|often)\b/i;
const WHS =
  /^(?:(?:and|so|ok|hey|oh|well|also|but|now|btw)[,!.\s]+)*(?:what['’]?s|who['’]?s|where['’]?s|when['’]?s|how['’]?s)\b/i;
const WH_SUBJECT =
  /^(?:(?:and|so|ok|hey|oh|well|also|but|now|btw)[,!.\s]+)*(?:who|which \w+|what) \w+s\b[^,]*$/i;
const INVERTED =
  /^(?:(?:and|so|ok|hey|oh|well|also|but|now|btw)[,!.\s]+)*(?:am|is|are|was|were|do|does|did|have|has|can|could|should|would|will|isn['’]t|aren['’]t|don['’]t|doesn['’]t|didn['’]t|haven['’]t) (?:i|you|we|he|she|it|they|my|our|the|there|this|that|\p{Lu}\p{L}+)\b/iu;

/** Of any script, at the end of the message. */
const QUESTION_MARK = /[?？؟\u037e]["”'’」』）)\]]*\s*$/u;

function isQuestion(message: string): boolean {
  const text = message.trim();
  if (text === "" || text.length > 2000) return false;
  const sentences = text.match(/[^.!?\n]+[.!?]*/g) ?? [text];
  const last = sentences.at(-1)?.trim() ?? text;
  if (/^(?:please |can you |could you |will you |would you )+(?:forget|delete|erase|remove)\b/i.test(text))
    return false;
  if (QUESTION_MARK.test(text)) return true;
  if (sentences.some((one) => /\?\s*$/.test(one.trim()))) return true;
  const order = isLastingOrder(last);
  return (
    !order &&
    (WHS.test(last) ||
      ASKING_START.test(last) ||
      WH_SUBJECT.test(last) ||
      (INVERTED.test(last) && !/,/.test(last)) ||
      CALL_TO_KNOW.test(last))
  );
}

/** What a question asks, by grammar. */
export function readQuestion(
  question: string,
  context: { readonly at: string; readonly known: readonly Pick<KnownMemory, "claim" | "status">[] },
): Question {
  const led = LED.exec(question);
  if (led?.groups)
    return readQuestion(`${led.groups.wh}${led.groups.verb} ${led.groups.whom} ${led.groups.rest}`, context);
  const { text, ...timely } = timelyForm(bare(question));
  const tokens = tagSentences(text).flat();
  if (tokens.length === 0) return { asks: "unknown", relations: [] };
  const asking: Asking = { text, tokens, context };
  const reading = special(asking) ?? whQuestion(asking) ?? yesNo(asking) ?? stated(asking) ?? loose(asking);
  return {
    ...reading,
    ...pastOf(text, reading),
    ...spanIn(text, context.at),
    ...besideOf(text),
    ...talkOf(question),
    ...timely,
  };
}

/** "And my cousin, what does he play?" */
const LED =
  /^(?:and |so |but |ok |as for |what about )*(?<whom>(?:my|our|the) [\p{L}' -]{2,40}|\p{Lu}\p{L}+),? (?<wh>(?:what|which|where|when|who|how)(?: \p{L}+)?)(?<verb> (?:do|does|did|is|are|was|has|have|will)) (?:he|she|it|they) (?<rest>.+)$/iu;

const CALL =
  "^(?:(?:please|pls|can you|could you|would you|will you|just|and|so|hey|ok)[, ]+)*(?:list|name|tell me|give me|show me|remind me of) ";
/** "List the tools I use", "could you tell me my cat's name" */
const CALL_FOR_THINGS = new RegExp(
  `${CALL}(?:(?:a|the) (?:full |complete )?list of )?(?=(?:all (?:of )?)?(?:the|my|our) )`,
  "i",
);
/** "List everything that I'm allergic to" */
const CALL_FOR_EVERYTHING = new RegExp(
  `${CALL}(?:everything|all(?: the)?(?: things| stuff)?) (?:that )?(?=(?:i|we|my)\\b)`,
  "i",
);

/** "What are all the things that I collect?", "What things do I need?": what, and nothing of a kind. */
const ALL_THINGS =
  /^(?:(?:what(?:['’]s| is| are)|list|name) (?:all (?:of )?)?(?:the )?(?:things|stuff|everything) (?:that |which )?(?=(?:i|we)\b)|(?:what|which) (?:kinds? of )?(?:things|stuff) (?=(?:do|did|am|are|have|can|should|must|will) (?:i|we)\b))/i;

/** The sentence that asks, without what leads up to it. */
function bare(question: string): string {
  const sentences = question.match(/[^.!?\n]+[.!?]*/g) ?? [question];
  const asking =
    sentences.findLast((one) => one.includes("?")) ??
    sentences.findLast((one) => WH.test(one)) ??
    sentences.at(-1) ??
    question;
  let text = asking.trim().replace(/["“”]/g, "");
  text = text.replace(
    /^.*?(?:—|–| - |: )\s*(?=(?:what|which|who|where|when|how|do|does|did|am|is|are|have)\b)/i,
    "",
  );
  const stripped = text
    .replace(CALL_FOR_EVERYTHING, "what ")
    .replace(CALL_FOR_THINGS, "what are ")
    .replace(PREAMBLE, "")
    .replace(ALL_THINGS, "what ")
    .replace(/^(?:what|which) people (?=(?:do|did|am|are|have|is|was)\b)/i, "who ")
    .replace(
      /^what (i|we)(?: am|['’]?m| are|['’]re) /i,
      (_all, who: string) => `what ${who.toLowerCase() === "i" ? "am" : "are"} ${who} `,
    );
  return (
    stripped
      .replace(
        /\b(?:again|by the way|btw|please|exactly|actually|currently|now|these days|nowadays|at the moment|still|ever|already|right now|then|also|tho|though|anyway|or not|for me)\b(?=\s*[?.!]*$)/gi,
        "",
      )
      .trim() || text
  );
}

function pastOf(text: string, reading: Question): Pick<Question, "past"> {
  const isPast =
    /\b(?:used to|before(?:hand)?\s*\??$|previously|formerly|earlier|in the past|back then|originally|ex-|previous|former|old (?:job|address|flat|number|place|employer|phone))\b/i.test(
      text,
    ) || /\b(?:did|was|were) (?:i|my|we|our)\b.*\bbefore\b/i.test(text);
  return isPast && reading.asks !== "unknown" ? { past: true } : {};
}

/** Questions about the talk itself: how to be called, how to be answered. */
function special({ text }: Asking): Question | undefined {
  if (
    /\b(?:what|how)\b.*\b(?:call|address) me\b|\bwhat (?:do|should|am|would) i (?:want|like|prefer|go by|wish)\b.*\bcalled\b|\bwhat (?:name )?do i go by\b|\bwhich name (?:should|do)\b/i.test(
      text,
    )
  ) {
    return {
      asks: "value",
      subject: "user",
      relations: ["wish to be called", "be nicknamed", "be called"],
      tense: "present",
    };
  }
  const order =
    /\b(?:how|what|which|in what|in which)\b.*\b(?:want|like|prefer|should|ask(?:ed)?|tell|told|need)\b.*\b(?:you|answers?|repl(?:y|ies)|respon(?:d|ses?))\b/i.test(
      text,
    ) &&
    /\b(?:answer|reply|repl(?:y|ies)|respond|responses?|write|talk|speak|format|explain|language|style|tone|units?|avoid|never|always|do|address|use|give)\b/i.test(
      text,
    ) &&
    !/\bdid i (?:tell|say|mention)\b.*\babout\b/i.test(text);
  const isTold =
    /^(?:which|what|how|in (?:which|what))\b.*\bshould you\b/i.test(text) &&
    !/\bshould you (?:have|be|know)\b/i.test(text);
  if (order || isTold) {
    const topic = /\b(language|style|tone|format|units?|length|emojis?)\b/i.exec(text)?.[1];
    return {
      asks: "value",
      subject: "user",
      relations: ["want the assistant to"],
      ...(topic ? { topic } : {}),
      tense: "present",
    };
  }
  const about =
    /\bwhat do you know about (.+?)[?.!]*$/i.exec(text) ??
    /^(?:tell me )?(?:everything )?about (.+?)[?.!]*$/i.exec(text);
  if (about?.[1]) {
    const whom = about[1].trim();
    if (/^(?:me|myself)$/i.test(whom)) return { asks: "value", subject: "user", relations: [] };
    return { asks: "unknown", relations: [], topic: whom };
  }
  return undefined;
}

/** No form that is known: what it is about is all there is. */
function loose(asking: Asking): Question {
  const talk = resolver(asking.context);
  const { tokens } = asking;
  for (let at = 0; at < tokens.length; at += 1) {
    if (tokens[at]?.class !== "possessive" && tokens[at]?.class !== "name") continue;
    const end = readNounPhrase(tokens, at, tokens.length);
    if (end === undefined) continue;
    const entity = talk.resolve(tokens, at, end);
    if (!entity) continue;
    const head = headOf(tokens, at, end);
    const attribute = listAttributeRelations(head);
    if (attribute.length > 0)
      return {
        asks: "value",
        subject: entity.path.split("/").slice(0, -1).join("/") || "user",
        relations: [...attribute],
        topic: head,
      };
    return {
      asks: "unknown",
      subject: entity.path,
      relations: ["be", "be called"],
      topic: asking.text.replace(/[?!.]+$/, ""),
    };
  }
  return { asks: "unknown", relations: [], topic: asking.text.replace(/[?!.]+$/, "") };
}

const LEAD = "(?:(?:and|but|so|ok|okay|wait|hm+|hey|sorry|please)[,.!]* )*";
const SAYING = "(?:say|think|believe|tell me|answer|claim|mention|assume|write|suggest|remember|know)";
const POINTING = "(?:that|this|so|it)";

/** "Why did you say that?", "How do you know that?", "Where did you get that from?" */
const SOURCE = new RegExp(
  `^${LEAD}(?:(?:why|how come|what made you|what makes you)(?: do| did| would)?(?: you)? ${SAYING}(?: ${POINTING})?` +
    `|how (?:do|did|can|could|would) you (?:know|remember|tell)(?: ${POINTING})?(?: about me)?` +
    `|where (?:did|do) you (?:get|have|take|know|hear|learn) ${POINTING}(?: from)?` +
    `|(?:when|where) did i (?:say|tell you|mention) ${POINTING}(?: to you)?` +
    `|what(?: is|['’]s) (?:your|the) source|says who|who (?:says|told you)(?: ${POINTING})?|based on what)[?.! ]*$`,
  "i",
);
/** "How do you know that I live in Ghent?", "When did I tell you about my knee?" */
const SOURCE_OF = new RegExp(
  `^${LEAD}(?:how (?:do|did|can) you know|(?:why|what makes you|what made you)(?: do| did)?(?: you)? (?:say|think|believe|assume)` +
    `|(?:when|where) did i (?:say|tell you|mention)|where did you (?:get|learn|hear)) (?:that |about )?(?<about>\\S.{2,}?)[?.! ]*$`,
  "i",
);
/** "Why did you not mention the zoo?", "Why didn't you tell me about my lease?" */
const OMISSION = new RegExp(
  `^${LEAD}why (?:did|do|have|has|are|were|was)(?:n['’]?t you| you not| you never) ` +
    `(?:say|saying|mention|mentioned|mentioning|tell me|told me|telling me|include|included|list|listed|bring up|brought up|name|named|think of|thought of|remember|recall|show|use)` +
    `(?: (?:anything|a word|something))?(?: (?:about|of|that))? ?(?<about>\\S.*?)[?.! ]*$`,
  "i",
);

/** Questions about the last answer: what it rests on, and why it left something out. */
function talkOf(text: string): Pick<Question, "talk"> {
  const line = text.trim();
  if (SOURCE.test(line)) return { talk: { asks: "source" } };
  const omitted = OMISSION.exec(line)?.groups?.about;
  if (omitted !== undefined) return { talk: { asks: "omission", about: omitted } };
  const about = SOURCE_OF.exec(line)?.groups?.about;
  return about === undefined ? {} : { talk: { asks: "source", about } };
}
