/** Kinds of memories, in the order of display. */
export const KINDS = [
  ["fact", "Facts"],
  ["preference", "Likes and dislikes"],
  ["entity", "People and things"],
  ["commitment", "Plans and promises"],
  ["event", "Events"],
  ["instruction", "How to answer"],
  ["reflection", "Reflections"],
  ["context", "Background"],
];

/** A sign and a label for each action of a write. */
export const ACTIONS = {
  added: ["+", "Learnt"],
  merged: ["✓", "Confirmed"],
  superseded: ["↻", "Replaced"],
  retracted: ["−", "Retracted"],
  erased: ["✕", "Forgotten"],
  refused: ["⊘", "Not stored"],
  quarantined: ["!", "Quarantined"],
};

const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

export const day = (time) => DAY.format(new Date(time));
export const moment = (time) => MOMENT.format(new Date(time));

/** "1 memory", "2 memories". */
export function counted(count, one, many) {
  return `${count} ${count === 1 ? one : many}`;
}

/** Describes an erasure in one line. */
export function goneInWords({ erased }) {
  const parts = [
    erased.memories > 0 && counted(erased.memories, "memory", "memories"),
    erased.messages > 0 && `words in ${counted(erased.messages, "message", "messages")}`,
  ].filter(Boolean);
  return parts.length > 0 ? parts.join(" and ") : "nothing, because nothing matched";
}
