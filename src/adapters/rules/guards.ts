/** What is kept out of memory whatever it says. */

const SECRET =
  /\bsk-[A-Za-z0-9_-]{16,}|\b(?:ghp|gho|github_pat|xox[abpr]|AKIA|AIza|ya29|glpat|npm)_?[A-Za-z0-9_-]{12,}|-----BEGIN [A-Z ]*PRIVATE KEY|\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}|\b(?:password|passwort|passcode|passphrase|pin(?: code| number)?|api[ _-]?key|secret key|access token|auth token|token|cvv|cvc|seed phrase|recovery (?:code|phrase)|security code|one-time code|otp)\b[^.?!,\n]{0,40}?(?:\bis\b|\bare\b|['’]s\b|[:=])\s*["“']?(?!(?:on|in|at|the|an?|my|our|not|still|stored|saved|written|wrong|too|very|expired|hard|easy|now|somewhere|with|under|your|one|long|same|different|kept|required|needed|forgotten|no|so|also|back|there|here|always|never|just|safe|secure|weak|strong|annoying|terrible|bad|good|old|new|due)\b)[^\s,;]{3,}/i;
const CARD = /\b\d(?:[ -]?\d){12,18}\b/g;

/** Whether a text holds what looks like a credential: a password, a key, a card number. */
export function holdsSecret(text: string): boolean {
  if (SECRET.test(text)) return true;
  return Array.from(text.matchAll(CARD)).some(([digits]) => passesLuhn(digits.replace(/\D/g, "")));
}

function passesLuhn(digits: string): boolean {
  if (digits.length < 13) return false;
  const sum = Array.from(digits, Number)
    .reverse()
    .map((digit, i) => (i % 2 === 1 ? (digit > 4 ? digit * 2 - 9 : digit * 2) : digit))
    .reduce((a, b) => a + b, 0);
  return sum % 10 === 0;
}

const INJECTION =
  /\b(?:ignore|disregard|forget|override|bypass) (?:all |any |every |the |your |my )*(?:previous|prior|above|earlier|preceding|system) (?:instructions?|prompts?|messages?|rules?|directions?)|\byou are now (?:a|an|in|no longer)\b|\b(?:system prompt|developer mode|jailbreak|dan mode)\b|<\/?(?:system|assistant|user|instructions?|im_start|im_end|tool)\b|<\|[^|]*\|>|^\s*(?:system|assistant|developer)\s*:|\[\/?INST\]|\b(?:exfiltrate|execute (?:the following|this) (?:code|command))\b/im;
const ENCODED = /[A-Za-z0-9+/]{80,}={0,2}/;

/** Whether a text smells of orders to a model rather than of somebody's life. */
export function isInjection(text: string): boolean {
  return INJECTION.test(text) || ENCODED.test(text);
}

/** Whether a sentence is read at all. */
export function isRefused(text: string): boolean {
  return holdsSecret(text) || isInjection(text);
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
