/** Kinds of memories in the order in which they are shown. */
export const KINDS = [
  ["fact", "Facts"],
  ["preference", "Likes and dislikes"],
  ["entity", "People and things"],
  ["commitment", "Plans and promises"],
  ["event", "Events"],
  ["instruction", "How to answer"],
  ["reflection", "Reflections"],
];

/** What a write did to a memory: a sign and a word. */
export const ACTIONS = {
  added: ["+", "Learnt"],
  merged: ["✓", "Heard again"],
  superseded: ["↻", "No longer holds"],
  retracted: ["−", "Taken back"],
  erased: ["✕", "Forgotten"],
  refused: ["⊘", "Not kept"],
  quarantined: ["!", "Set aside"],
};

const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

export const day = (time) => DAY.format(new Date(time));
export const moment = (time) => MOMENT.format(new Date(time));

/** "1 memory", "2 memories". */
export function counted(count, one, many) {
  return `${count} ${count === 1 ? one : many}`;
}

/** What an erasure took, in one line. */
export function goneInWords({ erased }) {
  const parts = [
    erased.memories > 0 && counted(erased.memories, "memory", "memories"),
    erased.messages > 0 && `words in ${counted(erased.messages, "message", "messages")}`,
  ].filter(Boolean);
  return parts.length > 0 ? parts.join(" and ") : "nothing, for there was nothing";
}
