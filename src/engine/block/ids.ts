/** Ids as bytes, one after the other (UTF-8), and for each where it ends. */
export interface PackedIds {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly ends: Int32Array<ArrayBuffer>;
}

/**
 * Ids by place, from 0. Those that came with a block stay bytes until they are asked for: to make a string of each takes as long as
 * a search, and a search asks for a few.
 */
export interface IdColumn {
  readonly count: number;
  /** Nothing where there is no such place. */
  at(place: number): string | undefined;
  /** One more, at the end. */
  add(id: string): void;
  /** Takes one away; its place stays, with an empty id. */
  clear(place: number): void;
  /** All of them, in order, to be read only: it is the same array each time. */
  all(): readonly string[];
  pack(): PackedIds;
}

export function createIdColumn(packed?: PackedIds): IdColumn {
  let bytes = packed && Buffer.from(packed.bytes.buffer, packed.bytes.byteOffset, packed.bytes.byteLength);
  const ends = packed?.ends ?? new Int32Array(0);
  let list: string[] | undefined = bytes ? undefined : [];
  /** Those that were added, while the others are bytes. */
  let added: string[] = [];
  const read = (place: number): string | undefined =>
    bytes?.toString("utf8", place === 0 ? 0 : ends[place - 1], ends[place]);
  const whole = (): string[] => {
    if (list) return list;
    list = Array.from(ends, (_, place) => read(place) ?? "").concat(added);
    added = [];
    bytes = undefined;
    return list;
  };
  return {
    get count() {
      return list?.length ?? ends.length + added.length;
    },
    at(place) {
      if (list) return list[place];
      return place >= 0 && place < ends.length ? read(place) : added[place - ends.length];
    },
    add: (id) => void (list ?? added).push(id),
    clear(place) {
      whole()[place] = "";
    },
    all: whole,
    pack: () => toPackedIds(whole()),
  };
}

/** One by one: two ids side by side may make a letter that neither has alone. */
function toPackedIds(list: readonly string[]): PackedIds {
  const bytes = new Uint8Array(list.reduce((sum, id) => sum + Buffer.byteLength(id, "utf8"), 0));
  const whole = Buffer.from(bytes.buffer);
  const ends = new Int32Array(list.length);
  let end = 0;
  for (const [place, id] of list.entries()) {
    end += whole.write(id, end, "utf8");
    ends[place] = end;
  }
  return { bytes, ends };
}
