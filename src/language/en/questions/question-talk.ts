import type { Question } from "../../../ports/language/question-reader.ts";

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
export function talkOf(text: string): Pick<Question, "talk"> {
  const line = text.trim();
  if (SOURCE.test(line)) return { talk: { asks: "source" } };
  const omitted = OMISSION.exec(line)?.groups?.about;
  if (omitted !== undefined) return { talk: { asks: "omission", about: omitted } };
  const about = SOURCE_OF.exec(line)?.groups?.about;
  return about === undefined ? {} : { talk: { asks: "source", about } };
}
