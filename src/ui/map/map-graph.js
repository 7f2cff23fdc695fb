/** The owner of the memories: everything is about them, so they are no node of the map. */
const OWNER = "user";

/**
 * The graph of a map. Nodes are memories, and the persons and things that at least two of them are about; edges are stored
 * associations, and from a memory to whom and what it is about. Memories without an edge are only counted, as `alone`. `edges`
 * are pairs of places of nodes, the stored ones first; `links` are the stored ones with their types.
 */
export function toGraph(memories, links) {
  const known = new Map(memories.map((memory) => [memory.id, memory]));
  const stored = links.filter(({ from, to }) => known.has(from) && known.has(to) && from !== to);
  const hubs = listHubs(memories);
  const connected = new Set([
    ...hubs.flatMap(({ members }) => members),
    ...stored.flatMap(({ from, to }) => [from, to]),
  ]);
  const nodes = inOrder(hubs, connected, known);
  const places = new Map(nodes.map(({ id }, place) => [id, place]));
  const pairs = [
    ...stored.map(({ from, to }) => [from, to]),
    ...hubs.flatMap(({ id, members }) => members.map((member) => [id, member])),
  ];
  return {
    nodes,
    places,
    edges: Int32Array.from(pairs.flat(), (id) => places.get(id)),
    links: stored,
    hubs,
    alone: memories.length - connected.size,
  };
}

/** Each person and thing with the ids of its memories, those of most memories first. */
function listHubs(memories) {
  const found = new Map();
  for (const { id, claim } of memories) {
    if (!claim) continue;
    for (const name of new Set([claim.subject, claim.value])) {
      const key = name.trim().toLowerCase();
      if (key === "" || key === OWNER) continue;
      const hub = found.get(key) ?? { id: `about:${key}`, value: name, members: [] };
      hub.members.push(id);
      found.set(key, hub);
    }
  }
  return [...found.values()]
    .filter(({ members }) => members.length > 1)
    .sort((one, other) => other.members.length - one.members.length);
}

/** The nodes, each hub before its memories, so that they begin near each other. */
function inOrder(hubs, connected, known) {
  const order = new Map();
  for (const hub of hubs) {
    order.set(hub.id, { id: hub.id, hub });
    for (const id of hub.members) order.set(id, { id, memory: known.get(id) });
  }
  for (const id of connected) order.set(id, { id, memory: known.get(id) });
  return [...order.values()];
}
