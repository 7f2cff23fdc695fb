import { foldLookalikes } from "../../../domain/text/normalize-text.ts";

/**
 * How requests for the style of answers are worded: language, length, tone, form, units, names, and what to
 * leave out.
 */
const STYLE_PATTERNS: readonly RegExp[] = [
  /\b(?:answer|reply|respond|explain|write|speak|talk|greet|address|keep|be|stay|sound|give|put|show|lay|use|start|begin|end|finish|format|list|quiz|stop|avoid|skip|leave|translate|feedback|prefers?|wants?|likes?|needs?)\b.{0,60}\b(?:brief\w*|short\w*|long|concise\w*|details?|detailed|formal\w*|informal\w*|casual\w*|polite\w*|blunt\w*|honest\w*|direct|gent(?:le|ly)|friendly|serious|slow(?:ly)?|simple|simply|plain|emojis?|bullets?|bullet points|lists?|tables?|markdown|headings?|paragraphs?|sentences?|metric|imperial|celsius|fahrenheit|spelling|24-hour|sources|references|examples?|jokes?|humou?r|comments|step by step|steps|summar(?:y|ies)|slang|jargon|praise|feedback|questions?|german|french|english|spanish|italian|dutch|portuguese|polish|russian|chinese|japanese|korean|turkish|arabic|hindi|swedish|danish|norwegian|finnish|greek|czech|as if)\b/,
  /\b(?:call|address|greet)(?:s|ed)? (?:me|the user|him|her|them)\b|\b(?:name(?! (?:the|an?)\b)|pronouns?|nickname)\b|\bprices\b.{0,20}\bin (?:\p{L}+ )?(?:francs|euros|dollars|pounds|yen|kroner|kronor)\b|\b(?:do not|don't|never|not to|not|avoid) (?:mention|bring(?:ing)? up|remind|use emojis|swear|joke)\b|\bquiz (?:me|the user)\b|\b(?:answers?|replies|responses|explanations) (?:to be|that are|in|kept) \w+/u,
];
/** A style request is short and quotes nothing. */
const MOST_WORDS = 18;
/** Subjects that a style request never mentions. */
const NO_STYLE_REQUEST =
  /\b(?:recommend|suggest (?!vegetarian|vegan)|promot|endors|advertis|push|plug|prais(?:e|es|ing) (?!me)|trust|obey|buy|order|pay|transfer|send|forward|upload|install|download|run|open|call the (?!user)|click|link|password|pin|card|code word|secret|hide|price|figures|dangerous|everything that|yes to|instead of telling|without telling|sign off|ignore (?:all|your|the|any)|rules?|restrictions?|limits|safety|warnings?|confirm)/;

/**
 * Whether a request is plainly about the style of answers, so that a model may be told to follow it. Anything
 * else is passed to a model as a statement of the user. An unforeseen request loses its label, and an
 * undetected injection gets none.
 */
export function isStyleRequest(text: string): boolean {
  const plain = foldLookalikes(text);
  if (plain.split(" ").length > MOST_WORDS || /["“”:;<>@/]|\p{Lu}{3,}/u.test(text)) return false;
  return STYLE_PATTERNS.some((form) => form.test(plain)) && !NO_STYLE_REQUEST.test(plain);
}
