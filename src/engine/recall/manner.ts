/** How a query asks, told from its words alone, in microseconds. */
export interface QueryStyle {
  /** It asks what the assistant said: "What did you recommend?" */
  readonly isAfterAssistant: boolean;
  /** It asks for help or advice, where what the user wants once and for all counts. */
  readonly isRequest: boolean;
  /** It asks for one value that may have changed since: "How many", "Where do I", "When is". */
  readonly isAfterValue: boolean;
  /** Such a value is a number or a time. */
  readonly isAfterNumber: boolean;
}

const SAID_VERBS =
  "recommend(?:ed)?|suggest(?:ed)?|tell|told|say|said|mention(?:ed)?|give|gave|given|provide[d]?|list(?:ed)?|explain(?:ed)?|describe[d]?|propose[d]?|write|wrote|share[d]?|offer(?:ed)?|advise[d]?";
const ASSISTANT_QUESTION = new RegExp(
  `\\b(?:did|have|had|that|what|which|where|how|as|when|advice|suggestions?|recommendations?) you (?:\\w+ )?(?:${SAID_VERBS})\\b|\\byou (?:just |had |previously |earlier |once |also |have )?(?:recommended|suggested|told|said|mentioned|gave|provided|listed|explained|described|proposed|wrote|shared|advised|offered|given)\\b|\\bremind me (?:what|of|which|how|about)\\b|\\bour (?:previous|last|earlier|past) (?:chat|conversation|discussion)\\b`,
  "i",
);
const ADVICE_REQUEST =
  /^\s*(?:can|could|would|will) you\b|\bhow (?:do|can|should|would|could|might) i\b|\bhow would you\b|\bwhat (?:steps|libraries|tools|kind|sort|type|should|would|are (?:some|the)|do you)\b|\b(?:suggest|recommend|advice|advise|help me|show me|walk me|explain|tips|ideas)\b|\bif i\b|\b(?:how|where|which|who|when|what)\b[^.?!]{0,30}\b(?:should|shall|would|could) (?:i|we)\b/i;
const VALUE_QUESTION =
  /\b(?:how (?:many|much|long|often)|what|when(?:'s| is| are| do| does| will| should)|where|which|who|currently)\b/i;
const LIST_REQUEST = /\b(?:can you|could you|suggest|recommend|list the order|walk me|summar)/i;
const NUMBER_QUESTION =
  /\bhow (?:many|much|often|long)\b|\b(?:percentage|what time|when|amount|ratio|average|quota|target|deadline|count|score)\b/i;

export function findQueryStyle(query: string): QueryStyle {
  const isAfterAssistant = ASSISTANT_QUESTION.test(query);
  return {
    isAfterAssistant,
    isRequest: !isAfterAssistant && ADVICE_REQUEST.test(query),
    isAfterValue: VALUE_QUESTION.test(query) && !LIST_REQUEST.test(query),
    isAfterNumber: NUMBER_QUESTION.test(query),
  };
}
