import { readFile } from "node:fs/promises";
import * as z from "zod";
import type { Price } from "../domain/prices.ts";
import type { CostOptions } from "../engine/cost/costs.ts";
import { invalid } from "../errors.ts";
import type { CostSettings } from "./cost-settings.ts";

const priceSchema: z.ZodNumber = z.number().min(0).max(1e6);

const PRICES_SCHEMA: z.ZodType<Price[]> = z
  .array(
    z.strictObject({
      model: z.string().min(1).max(200),
      host: z.string().min(1).max(300).exactOptional(),
      from: z.iso.date().exactOptional(),
      in: priceSchema,
      cached: priceSchema.exactOptional(),
      out: priceSchema.exactOptional(),
    }),
  )
  .max(10_000);

/** The options that the settings come to: a file of prices is read here. `invalid_input` where it is none. */
export async function loadCostOptions({ pricesPath, ...rest }: CostSettings): Promise<CostOptions> {
  if (pricesPath === undefined) return rest;
  return { ...rest, prices: await readPrices(pricesPath) };
}

async function readPrices(path: string): Promise<Price[]> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch {
    throw invalid(`KEEPSAKE_PRICES: the file ${path} cannot be read. Check its name and its mode.`);
  }
  const checked = PRICES_SCHEMA.safeParse(await parsePrices(path, text));
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  const place = issue?.path.join(".") ?? "";
  throw invalid(
    `KEEPSAKE_PRICES: ${path} is no list of prices${place === "" ? "" : ` (at ${place})`}. A row is ` +
      '{ "model": "gpt-4o-mini", "from": "2024-10-01", "in": 0.15, "cached": 0.075, "out": 0.6 }, in US dollars per million tokens.',
  );
}

/** JSON is YAML too. */
async function parsePrices(path: string, text: string): Promise<unknown> {
  const { parse } = await import("yaml");
  try {
    return parse(text, { maxAliasCount: 0 });
  } catch {
    throw invalid(`KEEPSAKE_PRICES: ${path} holds neither JSON nor YAML.`);
  }
}
