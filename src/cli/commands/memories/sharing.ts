import type { Where } from "../../../domain/filters/metadata-filter.ts";
import type { WhereText } from "../../../domain/filters/text-filter.ts";
import type { Kind, KindGroup } from "../../../domain/memory.ts";
import type { GrantedContent } from "../../../domain/sharing.ts";
import type { NewGrant, ShownGrant, ShownGroup } from "../../../engine/sharing/sharing-types.ts";
import { invalid } from "../../../errors.ts";
import { EXIT } from "../../exit.ts";
import { colorText, dimText, formatCount, formatDay, formatTable, toShortLine } from "../../printer.ts";
import { allowsParts, createIdShortener, findGrantId, findMemoryId } from "../../short-ids.ts";
import { type CommonOptions, withMemory } from "../../with-memory.ts";

interface ShareCommandOptions extends CommonOptions {
  readonly group?: string;
  readonly about?: readonly string[];
  readonly kind?: readonly (Kind | KindGroup)[];
  readonly where?: string;
  readonly whereText?: string;
  readonly id?: readonly string[];
  readonly everything?: true;
  readonly sensitive?: true;
  readonly messages?: true;
  readonly until?: string;
}

/** Gives a grant, and shows how much it covers now. */
export async function runShare(reader: string | undefined, options: ShareCommandOptions): Promise<void> {
  await withMemory(options, "writes", async ({ memory, print }) => {
    const areAllowed = allowsParts(print);
    const ids =
      options.id && (await Promise.all(options.id.map((part) => findMemoryId(memory, part, areAllowed))));
    const grant = await memory.share(toNewGrant(reader, ids ? { ...options, id: ids } : options));
    const { total } = await memory.shared({ grant: grant.id, limit: 1 });
    print.result(grant, () => [
      `${formatReader(grant)} may now read ${formatContent(grant.what)}${formatEnd(grant)}.`,
      dimText(
        `${formatCount(total, "memory", "memories")} at present; \`keepsake unshare ${grant.id}\` ends it`,
      ),
    ]);
    return EXIT.done;
  });
}

function toNewGrant(user: string | undefined, options: ShareCommandOptions): NewGrant {
  const { group, about, kind, where, whereText, id, everything, sensitive, messages, until } = options;
  const given = {
    user,
    group,
    about,
    kinds: kind,
    where: where === undefined ? undefined : (parseJson(where, "--where") as Where),
    whereText: whereText === undefined ? undefined : (parseJson(whereText, "--where-text") as WhereText),
    ids: id,
    everything,
    sensitive,
    messages,
    until,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as NewGrant;
}

function parseJson(text: string, name: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // Reported below.
  }
  throw invalid(`${name} takes a JSON object.`);
}

interface GrantsCommandOptions extends CommonOptions {
  readonly all?: true;
}

/** Prints the grants given and received. */
export async function runGrants(options: GrantsCommandOptions): Promise<void> {
  await withMemory(options, "reads", async ({ memory, print }) => {
    const grants = await memory.grants({ all: options.all === true });
    const { given, received } = grants;
    print.result(grants, () => [
      ...formatSection("Given:", given, (grant) => `to ${formatReader(grant)}`),
      ...formatSection("Received:", received, ({ owner }) => `from ${toShortLine(owner, 30)}`),
    ]);
    if (given.length + received.length === 0) print.note("No grants.");
    return EXIT.done;
  });
}

function formatSection(
  title: string,
  grants: readonly ShownGrant[],
  side: (grant: ShownGrant) => string,
): string[] {
  const shorten = createIdShortener(grants.map(({ id }) => id));
  const rows = grants.map((grant) => [
    `  ${colorText("yellow", shorten(grant.id))}`,
    formatDay(grant.at),
    side(grant),
    formatState(grant),
    `${formatContent(grant.what)}${formatEnd(grant)}`,
  ]);
  return rows.length === 0 ? [] : [title, ...formatTable(rows)];
}

const formatState = ({ state, declinedBy = [] }: ShownGrant): string => {
  if (state === "declined" || declinedBy.length === 0) return state;
  return `${state}, declined by ${declinedBy.map((user) => toShortLine(user, 30)).join(", ")}`;
};

const formatReader = ({ user, group }: ShownGrant): string =>
  user === undefined ? `the group ${toShortLine(group?.name ?? "?", 30)}` : toShortLine(user, 30);

const formatEnd = ({ until }: ShownGrant): string => (until === undefined ? "" : ` until ${until}`);

/** What a grant covers, in words. */
function formatContent({ everything, kinds, about, where, whereText, ids, ...more }: GrantedContent): string {
  const conditions = [
    kinds && `of kind ${kinds.join(" or ")}`,
    about && `about ${about.map((words) => `“${toShortLine(words, 40)}”`).join(" or ")}`,
    where && `with the metadata ${toShortLine(JSON.stringify(where), 80)}`,
    whereText && `whose text matches ${toShortLine(JSON.stringify(whereText), 80)}`,
    ids && `among ${formatCount(ids.length, "named one", "named ones")}`,
  ].filter((one) => one !== undefined);
  const what = everything ? "all memories" : `memories ${conditions.join(", and ")}`;
  const extras = [more.sensitive && "also sensitive ones", more.messages && "with the words of messages"];
  return [what, ...extras.filter((one) => one !== undefined)].join(", ");
}

/** Withdraws a grant. */
export async function runUnshare(id: string, options: CommonOptions): Promise<void> {
  await withMemory(options, "reads", async ({ memory, print }) => {
    const grant = await memory.withdraw(await findGrantId(memory, id, allowsParts(print)));
    print.result(grant, () => [`Withdrawn: ${formatReader(grant)} may not read it any more.`]);
    return EXIT.done;
  });
}

interface DeclineCommandOptions extends CommonOptions {
  readonly undo?: true;
}

/** Declines a grant that was received, or accepts it again. */
export async function runDecline(part: string, options: DeclineCommandOptions): Promise<void> {
  await withMemory(options, "reads", async ({ memory, print }) => {
    const id = await findGrantId(memory, part, allowsParts(print));
    const grant = await (options.undo ? memory.accept(id) : memory.decline(id));
    print.result(grant, () => [options.undo ? "Accepted." : "Declined: its memories are not recalled."]);
    return EXIT.done;
  });
}

interface PrivateCommandOptions extends CommonOptions {
  readonly undo?: true;
}

/** Keeps a memory out of every grant, or lets grants cover it. */
export async function runPrivate(id: string, options: PrivateCommandOptions): Promise<void> {
  await withMemory(options, "reads", async ({ memory, print }) => {
    const whole = await findMemoryId(memory, id, allowsParts(print));
    const receipt = await memory.update(whole, { private: options.undo !== true });
    print.result(receipt, () => [
      options.undo ? "Grants may cover it." : "Private: no grant covers it.",
      dimText(`revision ${receipt.revision}; \`keepsake undo ${receipt.revision}\` reverts it`),
    ]);
    return EXIT.done;
  });
}

interface SharedCommandOptions extends CommonOptions {
  readonly grant?: string;
  readonly limit?: number;
}

/** Prints the memories that others share. */
export async function runShared(options: SharedCommandOptions): Promise<void> {
  await withMemory(options, "reads", async ({ memory, print }) => {
    const { grant, limit } = options;
    const shared = await memory.shared({
      ...(grant === undefined ? {} : { grant: await findGrantId(memory, grant) }),
      ...(limit === undefined ? {} : { limit }),
    });
    const { items, total } = shared;
    print.result(shared, () =>
      formatTable(
        items.map(({ at, owner, text }) => [formatDay(at), toShortLine(owner, 30), toShortLine(text)]),
      ),
    );
    if (total === 0) print.note("Nothing is shared.");
    else if (items.length < total) print.note(`${items.length} of ${total}: raise --limit to see more.`);
    return total === 0 ? EXIT.nothingFound : EXIT.done;
  });
}

interface GroupCommandOptions extends CommonOptions {
  readonly members?: string;
  readonly delete?: true;
}

/** Lists groups, makes or changes one, or deletes it. */
export async function runGroup(name: string | undefined, options: GroupCommandOptions): Promise<void> {
  const { members, delete: isDeleted } = options;
  await withMemory(options, members === undefined ? "reads" : "writes", async ({ memory, print }) => {
    if (name !== undefined && isDeleted) {
      await memory.deleteGroup(name);
      print.result({ deleted: name }, () => ["Done."]);
      return EXIT.done;
    }
    if (name === undefined || members === undefined) {
      const groups = (await memory.groups()).filter((group) => name === undefined || group.name === name);
      print.result({ groups }, () => groups.map(formatGroup));
      if (groups.length === 0) print.note("No groups found.");
      return groups.length === 0 && name !== undefined ? EXIT.nothingFound : EXIT.done;
    }
    const users = members.split(",").map((user) => user.trim());
    const group = await memory.saveGroup({ name, members: users.filter((user) => user !== "") });
    print.result(group, () => [formatGroup(group)]);
    return EXIT.done;
  });
}

function formatGroup({ name, owner, members }: ShownGroup): string {
  const list = members.map((user) => toShortLine(user, 30)).join(", ");
  return `${toShortLine(name, 60)} (made by ${toShortLine(owner, 30)}): ${list === "" ? "nobody" : list}`;
}
