import { hasCredential } from "../../../../domain/text/credentials.ts";

/** What is kept out of memory whatever it says. */

const INJECTION =
  /\b(?:ignore|disregard|forget|override|bypass) (?:all |any |every |the |your |my )*(?:previous|prior|above|earlier|preceding|system) (?:instructions?|prompts?|messages?|rules?|directions?)|\byou are now (?:a|an|in|no longer)\b|\b(?:system prompt|developer mode|jailbreak|dan mode)\b|<\/?(?:system|assistant|user|instructions?|im_start|im_end|tool)\b|<\|[^|]*\|>|^\s*(?:system|assistant|developer)\s*:|\[\/?INST\]|\b(?:exfiltrate|execute (?:the following|this) (?:code|command))\b/im;
const ENCODED = /[A-Za-z0-9+/]{80,}={0,2}/;

/** Whether a text smells of orders to a model rather than of somebody's life. */
export function isInjection(text: string): boolean {
  return INJECTION.test(text) || ENCODED.test(text);
}

/** Whether a sentence is read at all. */
export function isRefused(text: string): boolean {
  return hasCredential(text) || isInjection(text);
}

/** Where the words stand in quotation marks: another's words, where they are a sentence. */
export function quotedSpans(text: string): { start: number; end: number }[] {
  const spans: { start: number; end: number }[] = [];
  const marked = [
    ...text.matchAll(/["“„«]([^"“”„«»\n]{2,400})["”»]/g),
    // Single marks are apostrophes too: only what stands free on both sides and has several words is a quote.
    ...Array.from(text.matchAll(/(?<=^|[\s,:(])['‘](\p{L}[^"“”\n]{3,300}?)['’](?=$|[\s,.;:!?)])/gu)).filter(
      ([, words = ""]) => /\s/.test(words),
    ),
  ];
  for (const found of marked) {
    spans.push({ start: found.index + 1, end: found.index + found[0].length - 1 });
  }
  return spans;
}
