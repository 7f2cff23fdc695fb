import { createServer, connect as dial, type Socket } from "node:net";

/** What a line does with what comes over it. */
export type LineFault =
  | "none"
  /** Nobody is there. */
  | "refuses"
  /** Takes connections and answers nothing. */
  | "silent"
  /** Ends a connection together with the word that it is ready, in one piece. */
  | "ends what has begun"
  /** Breaks when it sees a COMMIT, which arrives; its answer does not. */
  | "loses the answer to COMMIT"
  /** Breaks when it sees a COMMIT, and it does not arrive. */
  | "loses COMMIT";

/** A line to a database that a test can break. Of the last three faults one breaks it once. */
export interface FaultyLine {
  /** The database's address, by way of the line. */
  readonly url: string;
  readonly broke: number;
  become(fault: LineFault): void;
  /** Breaks all connections. */
  cut(): void;
  close(): Promise<void>;
}

/** What a server of PostgreSQL says when a connection is ready, and when it is ended. */
const READY = Buffer.from("Z\0\0\0\u0005I", "latin1");
const ENDED = message("E", "SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0");

function message(type: string, text: string): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeUInt32BE(4 + text.length, 1);
  return Buffer.concat([head, Buffer.from(text)]);
}

export async function faultyLine(url: string): Promise<FaultyLine> {
  const to = new URL(url);
  const ends = new Set<Socket>();
  let fault: LineFault = "none";
  let broke = 0;
  const server = createServer((near) => {
    if (fault === "refuses") {
      near.destroy();
      return;
    }
    const far = dial(Number(to.port || 5432), to.hostname);
    for (const end of [near, far]) {
      ends.add(end);
      end.on("error", () => {});
      end.on("close", () => {
        ends.delete(end);
        near.destroy();
        far.destroy();
      });
    }
    let isDeaf = false;
    near.on("data", (bytes: Buffer) => {
      if (fault === "silent") return;
      const isLast = fault.startsWith("loses") && bytes.includes("COMMIT\0");
      if (!isLast) {
        far.write(bytes);
        return;
      }
      isDeaf = true;
      broke += 1;
      const arrives = fault === "loses the answer to COMMIT";
      fault = "none";
      if (!arrives) near.destroy();
      // The server has done it when it answers.
      else {
        far.write(bytes);
        far.once("data", () => setTimeout(() => near.destroy(), 50));
      }
    });
    far.on("data", (bytes: Buffer) => {
      if (isDeaf || fault === "silent") return;
      if (fault === "ends what has begun" && bytes.subarray(-READY.length).equals(READY)) {
        fault = "none";
        broke += 1;
        near.end(Buffer.concat([bytes, ENDED]));
      } else near.write(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const by = new URL(url);
  by.hostname = "127.0.0.1";
  by.port = String(typeof address === "object" ? address?.port : "");
  const cut = (): void => {
    for (const end of ends) end.destroy();
  };
  return {
    url: by.href,
    get broke() {
      return broke;
    },
    become(next) {
      fault = next;
      if (next === "refuses") cut();
    },
    cut,
    async close() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
