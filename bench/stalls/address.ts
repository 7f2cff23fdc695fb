/** Where a program listens, as it says on its first line. */
export interface AddressOf {
  readonly url: string;
}

/** Reads the first line of a program that answers in JSON. Fails where it says no address. */
export async function addressOf(output: AsyncIterable<Buffer>): Promise<AddressOf> {
  let text = "";
  for await (const part of output) {
    text += part.toString();
    if (!text.includes("\n")) continue;
    const { url } = JSON.parse(text.slice(0, text.indexOf("\n"))) as { url?: string };
    if (url === undefined) throw new Error(`The server did not start: ${text.slice(0, 500)}`);
    return { url };
  }
  throw new Error("The server stopped before it listened. Is dist/ built?");
}
