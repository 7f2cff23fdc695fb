// Loaded before the program: every way to the outside throws, and says so on stderr.
import dgram from "node:dgram";
import dns from "node:dns";
import net from "node:net";

const blocked = (way) => () => {
  process.stderr.write(`OUTBOUND ${way}\n`);
  throw new Error(`no network here: ${way}`);
};
net.Socket.prototype.connect = blocked("connect");
dgram.Socket.prototype.send = blocked("send");
globalThis.fetch = blocked("fetch");
for (const name of ["lookup", "resolve", "resolve4", "resolve6"]) {
  dns[name] = blocked(name);
  dns.promises[name] = blocked(name);
}
