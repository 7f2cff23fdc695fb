import { openaiServer } from "../../src/testing/openai/openai-server.ts";

/** A server of OpenAI's protocol in a process of its own; it prints its address, and ends with its parent. */
const server = await openaiServer({ reply: () => "All right, I have heard that." });
console.log(JSON.stringify({ url: server.url }));
// It keeps every request; nobody asks for them here.
setInterval(() => server.reset(), 1000);
process.stdin.on("end", () => process.exit(0)).resume();
