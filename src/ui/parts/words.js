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

/** The name of one memory's kind. */
export const KIND_NAMES = {
  fact: "Fact",
  preference: "Like or dislike",
  entity: "Person or thing",
  commitment: "Plan or promise",
  event: "Event",
  instruction: "How to answer",
  reflection: "Reflection",
  context: "Background",
};

/** The names of groups of kinds. */
export const KIND_GROUP_NAMES = {
  semantic: "What is known",
  episodic: "What happens",
  procedural: "How to do things",
};

/** The names of topics. */
export const TOPIC_NAMES = {
  beliefs: "Beliefs",
  family: "Family",
  food: "Food",
  health: "Health",
  hobbies: "Hobbies",
  home: "Home",
  money: "Money",
  pets: "Pets",
  relationships: "Relationships",
  study: "Study",
  travel: "Travel",
  work: "Work",
};

/** Where a memory comes from. */
export const ORIGINS = {
  user_message: "Said by you",
  assistant_message: "Said by the assistant",
  tool_result: "From a tool",
  document: "From a document",
  import: "Imported",
  api: "Added by hand",
};

/** The state of a memory, in one word, with the class of its badge; undefined for a memory that is true now. */
export function stateOf(memory) {
  if (memory.quarantined) return ["Quarantined", "amber"];
  if (memory.status === "superseded") return ["Outdated", "amber"];
  if (memory.status === "retracted") return memory.archived ? ["Archived", "plain"] : ["In the bin", "plain"];
  if (memory.review) return ["To review", "amber"];
  return undefined;
}

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

const MONTH = new Intl.DateTimeFormat(undefined, { month: "long", year: "numeric", timeZone: "UTC" });

/** "2026-03" in words. */
export const month = (name) => MONTH.format(new Date(`${name}-01T00:00:00Z`));

const NUMBER = new Intl.NumberFormat();
export const number = (count) => NUMBER.format(count);
export const percent = (share) => `${Math.round(share * 100)} %`;

export const day = (time) => DAY.format(new Date(time));
export const moment = (time) => MOMENT.format(new Date(time));

/** "1 memory", "2 memories". */
export function counted(count, one, many) {
  return `${number(count)} ${count === 1 ? one : many}`;
}

/** Describes an erasure in one line. */
export function goneInWords({ erased }) {
  const parts = [
    erased.memories > 0 && counted(erased.memories, "memory", "memories"),
    erased.messages > 0 && `words in ${counted(erased.messages, "message", "messages")}`,
  ].filter(Boolean);
  return parts.length > 0 ? parts.join(" and ") : "nothing, because nothing matched";
}
