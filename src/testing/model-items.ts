/** One item of a model's answer about what was said, as the prompt of the model extractor asks for it. */
export interface ModelItem {
  readonly turn: number;
  readonly do: "add" | "end" | "wrong" | "forget";
  readonly quote: string;
  readonly who: string;
  readonly verb: string;
  readonly what: string;
  readonly how: string;
  readonly kind: string;
  readonly from: string;
  readonly to: string;
  readonly expires: string;
  readonly old: number;
  readonly sure: number;
  readonly weight: number;
}

const PLAIN: ModelItem = {
  turn: 1,
  do: "add",
  quote: "",
  who: "user",
  verb: "use",
  what: "",
  how: "",
  kind: "fact",
  from: "",
  to: "",
  expires: "",
  old: 0,
  sure: 9,
  weight: 5,
};

/** An item with some of its fields, the others plain. */
export function modelItem(fields: Partial<ModelItem>): ModelItem {
  return { ...PLAIN, ...fields };
}

/** An answer with such items, as a model writes it. */
export function itemsAnswer(...items: readonly Partial<ModelItem>[]): string {
  return JSON.stringify({ items: items.map(modelItem) });
}

/** The numbers that turns have in a prompt, by what was said in them. */
export function turnNumber(prompt: string, words: string): number {
  for (const line of prompt.split("\n")) {
    const number = /^(\d+) \[/.exec(line)?.[1];
    if (number !== undefined && line.includes(words)) return Number(number);
  }
  return 0;
}
