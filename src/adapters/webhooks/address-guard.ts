import { BlockList, isIP } from "node:net";

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
