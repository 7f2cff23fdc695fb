/** An MCP client that is connected to a memory. */
export interface McpCaller {
  /** Lists the names of the tools. */
  listTools(): Promise<readonly string[]>;
  /** Calls a tool. Gives its text and its data. */
  call(
    tool: string,
    args: { readonly [name: string]: string },
  ): Promise<{ readonly text: string; readonly data: { readonly [field: string]: unknown } }>;
}

const TOOLS = ["recall", "details", "context", "profile", "remember", "forget", "search", "fetch"];

/** Remembers, recalls, and forgets with a plan and its token. Gives what went wrong, a sentence each. */
export async function tellMcpStory({ listTools, call }: McpCaller): Promise<readonly string[]> {
  const problems: string[] = [];
  const expect = (isRight: boolean, problem: string): void => {
    if (!isRight) problems.push(problem);
  };
  const tools = await listTools();
  expect(TOOLS.join() === tools.join(), `it lists the tools ${tools.join(", ")}`);
  await call("remember", { text: "I use Shram and Magnet as productivity tools." });
  const found = await call("recall", { query: "Which productivity tools do I use?" });
  expect(found.text.includes("Magnet") && found.text.includes("Shram"), `it recalls ${found.text}`);
  const plan = await call("forget", { what: "Magnet" });
  const { confirm } = plan.data;
  expect(plan.data.done === false && typeof confirm === "string", `the plan is ${plan.text}`);
  const still = await call("recall", { query: "Which productivity tools do I use?" });
  expect(still.text.includes("Magnet"), "the plan alone erased");
  const erased = await call("forget", { what: "Magnet", confirm: String(confirm) });
  expect(erased.data.done === true, `the confirmed plan gives ${erased.text}`);
  const after = await call("recall", { query: "Which productivity tools do I use?" });
  expect(!after.text.includes("Magnet"), `after the erasure it recalls ${after.text}`);
  expect(after.text.includes("Shram"), "it erased too much");
  return problems;
}
