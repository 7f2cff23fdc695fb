/**
 * Everything that is forged, brought in or encoded has one of these signs or words. It is wider than what it stands for: a
 * text without any needs no further look, and that is most of them.
 */
const ODD =
  /[^\p{L}\p{N} ,.;'’!-]|--|[\w-]{40}|(?:[\da-f]{2} ){8}|[01]{8}|summar|recap|carried over|hand-?over|previous|long-term|memor|profile/iu;

/** Whether a text is plain words: nothing in it plays a turn or a tool, points at another text, quotes one, or is encoded. */
export function isPlain(text: string): boolean {
  return !ODD.test(text);
}
