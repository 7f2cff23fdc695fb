import { readFileSync } from "node:fs";
import { englishExtractor } from "../../src/language/en/extractor.ts";
import { rateSegments } from "../../src/language/en/forget-requests/retrieve.ts";
import { chooseSegments } from "../../src/language/en/forget-requests/select-spans.ts";
import { wantedIn } from "../../src/language/en/forget-requests/wanted.ts";
import { staticEmbedder } from "../../src/adapters/static/index.ts";
const only = process.argv[3];
const embedder = staticEmbedder();
const extractor = englishExtractor();
const blocks = readFileSync(process.argv[2] as string, "utf8").split("\n\n");
for (const block of blocks) {
  if (only && !new RegExp(only,"i").test(block)) continue;
  const messages: any[] = []; const gone: string[] = []; const kept: string[] = [];
  let n = 0; let out: string[] = [];
  for (const line of block.split("\n").filter((l) => !l.startsWith("#"))) {
    const [, by, text = ""] = /^([^\s>]*>|!|-|\+|=)\s?(.*)$/.exec(line) ?? [];
    const parts = text.split(" | ").map((s) => s.trim()).filter(Boolean);
    if (by === "-") gone.push(...parts); else if (by === "+") kept.push(...parts);
    else if (by === "=") out.push("QUIET");
    else if (by !== undefined) {
      const who = by.replace(">", "");
      const m = { id: `m${++n}`, turn: n, role: who === "A" ? "assistant" : "user", ...(who && who !== "A" && who!=="!" ? { name: who } : {}), content: by === "!" ? `Forget ${text}` : text, origin: "user_message", at: new Date(Date.parse("2026-03-02T10:00:00Z") + n * 120000).toISOString(), storedAt: "", digest: "done", session: "s" };
      const found = m.role === "user" ? (await extractor.propose({ messages: [m] as any, earlier: messages.slice(), known: [] })).filter((p: any) => p.propose === "erase") : [];
      messages.push(m);
      out.push(`${by} ${text}`);
      for (const p of found as any[]) {
        out.push(`   * ${JSON.stringify({ ...p, propose: undefined, message: undefined, start: undefined, end: undefined, q: m.content.slice(p.start,p.end) })}`);
        if (p.about === undefined) continue;
        const content = { messages: new Map(messages.map((x) => [x.id, x])), memories: new Map() } as any;
        content.messages.set(m.id, { ...m, content: found.reduce((t: string, q: any) => t.slice(0, q.start) + " ".repeat(q.end - q.start) + t.slice(q.end), m.content) });
        const wanted = wantedIn(p.about);
        const isOwnText = wanted.head?.isText && wanted.isOwn && m.name;
        const d = { phrase: p.about, wanted, isBroad: p.isBroad ?? false, ...(isOwnText ? { speaker: m.name } : {}) } as any;
        const rated = await rateSegments(embedder as any, content, d, { message: m as any, spans: found as any });
        const chosen = chooseSegments(rated, d, { except: p.except, own: m.id });
        for (const r of [...rated].sort((a, b) => b.probability - a.probability).slice(0, 7)) {
          const g = gone.length; 
          out.push(`      ${chosen.sure.includes(r) ? "S" : chosen.unsure.includes(r) ? "?" : " "} ${r.probability.toFixed(2)} "${r.heading ? r.heading+": " : ""}${r.text}" ${Object.entries(r.signs).filter(([k, v]) => v && k !== "bias").map(([k, v]) => `${k} ${v.toFixed(2)}`).join(", ")}`);
        }
      }
    }
  }
  console.log(out.join("\n")); console.log(`   - ${gone.join(" | ")}   + ${kept.join(" | ")}\n`);
}
