import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";

const LINE = new URL("./worker-channel.ts", import.meta.url).href;
const ECHO = `import { serveInThread } from "${LINE}"; serveInThread(async (asked) => asked);`;
const BEGIN = `
  import { Worker } from "node:worker_threads";
  import { openWorkerChannel } from "${LINE}";
  const program = new URL("data:text/javascript," + encodeURIComponent(${JSON.stringify(ECHO)}));
  const line = openWorkerChannel(() => new Worker(program));
`;

function run(program: string): { readonly status: number | null; readonly out: string } {
  const { status, stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", BEGIN + program], {
    encoding: "utf8",
    timeout: 20_000,
  });
  return { status, out: stdout };
}

it("an idle worker thread does not keep the program running", () => {
  expect(run("")).toEqual({ status: 0, out: "" });
});

it("a pending request keeps the program running until it is answered", () => {
  expect(run('line.request("once").then(({ told }) => console.log(told));')).toEqual({
    status: 0,
    out: "once\n",
  });
});

it("a request to a worker thread that has ended reports that", () => {
  const program = 'await line.close(); console.log(JSON.stringify(await line.request("once")));';
  expect(run(program)).toEqual({ status: 0, out: '{"ended":"before"}\n' });
});
