/** Credentials, recognised by their form or by the words before them. They must never appear in a memory. */

/** Machine credentials with a distinctive form: the name, and the pattern. */
const FORMS: readonly (readonly [what: string, form: RegExp])[] = [
  ["private key", /-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----|[\s\S]*$)/g],
  ["token", /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]+)?/g],
  [
    "API key",
    /\bsk-[A-Za-z0-9_-]{16,}|\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}|\b(?:ghp|gho|ghu|ghs|ghr|glpat|npm|hf|dop_v1|shpat|pypi)[_-][A-Za-z0-9_-]{16,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bxox[abeprs]-[A-Za-z0-9-]{12,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}|\bya29\.[A-Za-z0-9_-]{20,}|\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}/g,
  ],
  [
    "seed phrase",
    /(?<=\b(?:seed|recovery|mnemonic) phrase\b[^\n]{0,30}?[:=]\s*["“]?)(?:[a-z]{3,8} ){11,23}[a-z]{3,8}\b/gi,
  ],
];

const CARD = /\b\d(?:[ -]?\d){12,18}\b/g;
const IBAN = /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b/g;

/** A password or similar: the words that name it, the words between, and the value. */
const NAMED_SECRET =
  /(?<name>\b(?:password|passwort|passcode|passphrase|pin(?: code| number)?|api[ _-]?key|secret key|access token|auth token|token|cvv|cvc|seed phrase|recovery (?:code|phrase)|security code|one-time code|otp)\b[^.?!,\n]{0,40}?(?:\bis\b|\bare\b|['’]s\b|[:=])\s*["“']?)(?<value>(?!(?:on|in|at|the|an?|my|our|not|still|stored|saved|written|wrong|too|very|expired|hard|easy|now|somewhere|with|under|your|one|long|same|different|kept|required|needed|forgotten|no|so|also|back|there|here|always|never|just|safe|secure|weak|strong|annoying|terrible|bad|good|old|new|due)\b)[^\s,;]{3,})/gi;

/**
 * Whether a text seems to contain a credential: a password, a key, a card or account number. No memory is
 * made of it.
 */
export function hasCredential(text: string): boolean {
  return (
    FORMS.some(([, form]) => text.search(form) >= 0) ||
    text.search(NAMED_SECRET) >= 0 ||
    findMatches(text, CARD).some((digits) => isCard(digits.replace(/\D/g, ""))) ||
    findMatches(text, IBAN).some(passesIban)
  );
}

interface RedactedText {
  readonly text: string;
  /** The kinds that were removed: "API key", "card number". */
  readonly removedKinds: readonly string[];
}

/**
 * Replaces machine credentials and cards of unmistakable form with marks. Words that name a password or a
 * code stay; the user decides whether they matter.
 */
export function redactCredentials(text: string): RedactedText {
  const left: string[] = [];
  const mark = (what: string): string => {
    left.push(what);
    return `[${what} left out]`;
  };
  const plain = FORMS.reduce((rest, [what, form]) => rest.replace(form, () => mark(what)), text);
  const clean = plain.replace(CARD, (digits) =>
    isCard(digits.replace(/\D/g, "")) ? mark("card number") : digits,
  );
  return { text: clean, removedKinds: left };
}

/** The kinds that the marks in a text name: "API key", "card number". */
export function listRedactedKinds(text: string): string[] {
  return Array.from(
    text.matchAll(/\[(private key|token|API key|seed phrase|card number) left out\]/g),
    ([, what = ""]) => what,
  );
}

/** A text for display or for a model: hides the value after "my password is". */
export function maskCredentials(text: string): string {
  return redactCredentials(text).text.replace(NAMED_SECRET, "$<name>[not shown]");
}

function findMatches(text: string, form: RegExp): string[] {
  return text.match(form) ?? [];
}

/** Recognises a card by its first digits, its length and its check digit. */
function isCard(digits: string): boolean {
  return /^(?:3[47]\d{13}|(?:4|5[1-5]|2[2-7]|6[0458])\d{13,17})$/.test(digits) && passesLuhn(digits);
}

function passesLuhn(digits: string): boolean {
  if (digits.length < 13) return false;
  const sum = Array.from(digits, Number)
    .reverse()
    .map((digit, i) => (i % 2 === 1 ? (digit > 4 ? digit * 2 - 9 : digit * 2) : digit))
    .reduce((a, b) => a + b, 0);
  return sum % 10 === 0;
}

/** Verifies the check digits of an account number (ISO 13616). */
function passesIban(iban: string): boolean {
  const plain = iban.replace(/ /g, "");
  if (plain.length < 15 || plain.length > 34) return false;
  const turned = plain.slice(4) + plain.slice(0, 4);
  const digits = Array.from(turned, (letter) => Number.parseInt(letter, 36).toString()).join("");
  return Array.from(digits).reduce((rest, digit) => (rest * 10 + Number(digit)) % 97, 0) === 1;
}
