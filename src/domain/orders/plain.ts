/**
 * Everything that is forged, brought in or encoded has one of these signs or words. It is wider than what it stands for: a
 * text without any needs no further look, and that is most of them. One after the other they take a third of the time of all in one.
 */
const ODD = [
  /[^\p{L}\p{N} ,.;'’!-]/u,
  /--/,
  /(?<![\w-])[\w-]{40}/,
  /(?:[\da-f]{2} ){8}/i,
  /[01]{8}/,
  /summar|recap|carried over|hand-?over|previous|long-term|memor|profile/iu,
];

/** Whether a text is plain words: nothing in it plays a turn or a tool, points at another text, quotes one, or is encoded. */
export function isPlainText(text: string): boolean {
  return !ODD.some((form) => form.test(text));
}
