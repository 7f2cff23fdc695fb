import { lookup as lookupHost } from "node:dns/promises";
import { BlockList, isIP, type LookupFunction } from "node:net";

/**
 * IPv4 ranges that are not public, or lead back into a network (IANA's registry of special-purpose addresses), and the address
 * of Azure's wire server.
 */
const REFUSED_IPV4: readonly (readonly [address: string, prefix: number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["168.63.129.16", 32],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];

/** Of IPv6, only global unicast is public (2000::/3), without tunnels, benchmarks and documentation. */
const GLOBAL_IPV6 = new BlockList();
GLOBAL_IPV6.addSubnet("2000::", 3, "ipv6");
const REFUSED = new BlockList();
for (const [address, prefix] of REFUSED_IPV4) REFUSED.addSubnet(address, prefix, "ipv4");
for (const [address, prefix] of [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const)
  REFUSED.addSubnet(address, prefix, "ipv6");

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

/** Whether an IP address is on the public internet. False for anything else. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !REFUSED.check(address, "ipv4");
  return version === 6 && GLOBAL_IPV6.check(address, "ipv6") && !REFUSED.check(address, "ipv6");
}

/** Whether an IP address is of this machine itself. */
export function isLoopbackAddress(address: string): boolean {
  const version = isIP(address);
  return version !== 0 && LOOPBACK.check(address, version === 4 ? "ipv4" : "ipv6");
}

/** The codes of connections that were not made. */
export const REFUSED_ADDRESS = "ERR_REFUSED_ADDRESS";
export const UNRESOLVED_HOST = "ERR_UNRESOLVED_HOST";

/** Decides which addresses a URL may lead to. */
export interface AddressGuard {
  /** Whether they may be of this machine itself, also without TLS. */
  readonly allowsLoopback: boolean;
  /** Gives the IP addresses of a host. */
  resolve(host: string): Promise<readonly string[]>;
}

/** Gives the addresses that the system knows of a host. */
export async function resolveHost(host: string): Promise<readonly string[]> {
  return (await lookupHost(host, { all: true, verbatim: true })).map(({ address }) => address);
}

/**
 * Gives the addresses of a URL's host if all of them may be called. A host with one public and one private address is refused.
 * Without TLS, only this machine may be called.
 */
export async function findAddresses(
  { allowsLoopback, resolve }: AddressGuard,
  { hostname, protocol }: URL,
): Promise<readonly string[] | "refused_address" | "unresolved_host"> {
  const host = withoutBrackets(hostname);
  let addresses: readonly string[];
  try {
    addresses = isIP(host) === 0 ? await resolve(host) : [host];
  } catch {
    return "unresolved_host";
  }
  if (addresses.length === 0) return "unresolved_host";
  const mayCall = (address: string): boolean =>
    (allowsLoopback && isLoopbackAddress(address)) || (protocol === "https:" && isPublicAddress(address));
  return addresses.every(mayCall) ? addresses : "refused_address";
}

/** Resolves a host for a connection, and gives only addresses that may be called. */
export function createGuardedLookup(guard: AddressGuard, url: URL): LookupFunction {
  return (_host, { all }, done) => {
    void findAddresses(guard, url).then((found) => {
      if (typeof found === "string") {
        const code = found === "refused_address" ? REFUSED_ADDRESS : UNRESOLVED_HOST;
        done(Object.assign(new Error(code), { code }), "", 0);
        return;
      }
      const addresses = found.map((address) => ({ address, family: isIP(address) }));
      const [first] = addresses;
      if (all) done(null, addresses);
      else done(null, first?.address ?? "", first?.family);
    });
  };
}

/** Whether the host of a URL is a literal IP address. */
export function isAddress(hostname: string): boolean {
  return isIP(withoutBrackets(hostname)) !== 0;
}

function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}
