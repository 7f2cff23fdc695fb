import type { ChosenEmbedder, EmbedderManagement } from "../../../engine/api/maintenance-types.ts";
import { EXIT } from "../../exit.ts";
import { formatCount, formatTable, type Printer, toShortLine } from "../../printer.ts";
import { type CommonOptions, withMemory } from "../../with-memory.ts";

/** The owner of a choice: `user` is absent for the whole project. */
type EmbedderOptions = CommonOptions;

/** Lists the embedders, and who has chosen which. */
export async function listEmbedderChoices(options: EmbedderOptions): Promise<void> {
  await withEmbedders(options, "reads", async (embedders, print) => {
    const { project = "default" } = options;
    const items = await embedders.list(project);
    print.result({ available: embedders.names, items, total: items.length }, () =>
      items.length === 0
        ? []
        : formatTable([
            ["embedder", "chosen by"],
            ...items.map(({ embedder, user }) => [embedder, formatOwner(project, user)]),
          ]),
    );
    if (items.length === 0) print.note("Nobody has chosen an embedder.");
    print.note(`Available: ${embedders.names.join(", ")}.`);
    return EXIT.done;
  });
}

/** Shows the embedder of a user or a project, and how many texts wait for it. */
export async function showEmbedder(options: EmbedderOptions): Promise<void> {
  await withEmbedders(options, "reads", async (embedders, print) =>
    printChoice(embedders, print, await embedders.get(toOwner(options))),
  );
}

export async function chooseEmbedderFor(name: string | null, options: EmbedderOptions): Promise<void> {
  await withEmbedders(options, "writes", async (embedders, print) =>
    printChoice(embedders, print, await embedders.choose(name, toOwner(options))),
  );
}

async function printChoice(
  embedders: EmbedderManagement,
  print: Printer,
  { project, user, embedder, from }: ChosenEmbedder,
): Promise<number> {
  const { left, total, problem } = await embedders.progress({ project, user });
  const isConfigured = embedders.names.includes(embedder);
  const counts = { left, ...(total === undefined ? {} : { total }) };
  print.result(
    {
      project,
      ...(user === undefined ? {} : { user }),
      embedder,
      from,
      configured: isConfigured,
      available: embedders.names,
      ...counts,
    },
    () => [
      `${formatOwner(project, user)}: ${embedder}${from === "default" ? "" : ` (chosen by the ${from})`}`,
    ],
  );
  if (!isConfigured)
    print.note(
      `${embedder} is not configured here: KEEPSAKE_EMBEDDERS lacks it. Texts are found by their words.`,
    );
  if (left > 0) {
    const of = total === undefined ? "" : ` of ${total}`;
    print.note(
      `${formatCount(left, "text")}${of} to embed. A server does it in the background; keepsake reindex does it now.`,
    );
  }
  if (problem !== undefined) print.note(problem);
  return EXIT.done;
}

function toOwner({ project, user }: EmbedderOptions) {
  return { project, user };
}

function formatOwner(project: string, user: string | undefined): string {
  return toShortLine(user === undefined ? `the project ${project}` : user);
}

/** Opens the memory without its background work: a server embeds. */
async function withEmbedders(
  options: EmbedderOptions,
  access: "reads" | "writes",
  work: (embedders: EmbedderManagement, print: Printer) => Promise<number>,
): Promise<void> {
  const { user: _user, ...common } = options;
  await withMemory(
    common,
    access,
    ({ keepsake, print }) => work(keepsake.embedders, print),
    () => ({ jobs: "elsewhere" }),
  );
}
