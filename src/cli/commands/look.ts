import type { Kind, Status } from "../../domain/memory.ts";
import type { ShownMemory } from "../../engine/surface.ts";
import { day, dim, short, table } from "../print.ts";
import { type CommonOptions, EXIT, withMemory } from "../run.ts";

interface ListCommandOptions extends CommonOptions {
  readonly kind?: Kind;
  readonly status?: Status | "all";
  readonly limit?: number;
  readonly cursor?: string;
}

export async function list(options: ListCommandOptions): Promise<void> {
  await withMemory(options, async ({ memory, print }) => {
    const { kind, status, limit, cursor } = options;
    const page = await memory.list({
      ...(kind === undefined ? {} : { kind }),
      ...(status === undefined ? {} : { status }),
      ...(limit === undefined ? {} : { limit }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    print.result(page, () => table(page.items.map(row)));
    print.note(page.total === 0 ? "Nothing is known yet." : `${page.items.length} of ${page.total}.`);
    if (page.cursor !== undefined) print.note(`The next page: --cursor ${page.cursor}`);
    return EXIT.done;
  });
}

function row({ id, at, kind, status, text }: ShownMemory): string[] {
  return [id, day(at), kind, status === "current" ? "" : status, short(text, 160)];
}

export async function get(id: string, options: CommonOptions): Promise<void> {
  await withMemory(options, async ({ memory, print }) => {
    const held = await memory.get(id);
    print.result(held, () => detail(held));
    return EXIT.done;
  });
}

function detail(held: ShownMemory): string[] {
  const facts = [
    ["kind", held.kind],
    ["status", held.why ? `${held.status}: ${held.why}` : held.status],
    ["said", day(held.at)],
    ["true", `${held.validFrom ? day(held.validFrom) : "…"} to ${held.validTo ? day(held.validTo) : "now"}`],
    ["confidence", held.confidence.toFixed(2)],
    ["said so", `${held.evidence} times`],
    ["version", String(held.version)],
  ];
  const sources = held.sources.map(
    ({ quote, role, at, message }) => `“${short(quote)}”  ${role}, ${day(at)}, message ${message}`,
  );
  return [held.text, "", ...table(facts), ...(sources.length > 0 ? ["", "Sources:", ...sources] : [])];
}

export async function history(
  id: string | undefined,
  options: CommonOptions & { limit?: number },
): Promise<void> {
  await withMemory(options, async ({ memory, print }) => {
    if (id !== undefined) {
      const versions = await memory.history(id);
      print.result(versions, () =>
        table(
          versions.map(({ version, storedAt, action, why, text }) => [
            `${version}`,
            day(storedAt),
            action,
            short(text),
            dim(why ?? ""),
          ]),
        ),
      );
      return EXIT.done;
    }
    const { limit } = options;
    const log = await memory.history(undefined, limit === undefined ? {} : { limit });
    print.result(log, () =>
      table(
        log.map(({ revision, at, cause, messages, memories, erased }) => [
          `${revision}`,
          at.slice(0, 16).replace("T", " "),
          cause,
          `${messages.length} messages, ${memories.length} memories${erased.length > 0 ? `, ${erased.length} erased` : ""}`,
        ]),
      ),
    );
    return EXIT.done;
  });
}

export async function profile(options: CommonOptions): Promise<void> {
  await withMemory(options, async ({ memory, print }) => {
    const held = await memory.profile();
    print.result(held, () => (held.text === "" ? ["Nothing is known yet."] : held.text.split("\n")));
    return EXIT.done;
  });
}
