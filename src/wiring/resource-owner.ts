/** A port; or a function that opens it: what it gives is closed together with the memory. One that was passed in stays open. */
export type Opened<Port> = Port | (() => Port | Promise<Port>);

interface ClosableResource {
  close(): Promise<void>;
}

/** What was opened here, and is to be closed here. */
export interface ResourceOwner {
  /** Opens a port that comes as a function; gives one that is open as it is. */
  open<Port extends ClosableResource>(given: Opened<Port>): Promise<Port>;
  open<Port extends ClosableResource>(given: Opened<Port> | undefined): Promise<Port | undefined>;
  /** Has something else closed with the rest. */
  own<Port extends ClosableResource>(port: Port): Port;
  /** Closes all of it, the newest first. One that fails keeps none of the others open; the first failure is thrown. */
  close(): Promise<void>;
}

export function createResourceOwner(): ResourceOwner {
  const owned: ClosableResource[] = [];
  const own = <Port extends ClosableResource>(port: Port): Port => {
    owned.push(port);
    return port;
  };
  async function open<Port extends ClosableResource>(
    given: Opened<Port> | undefined,
  ): Promise<Port | undefined> {
    return typeof given === "function" ? own(await (given as () => Port | Promise<Port>)()) : given;
  }
  return { open: open as ResourceOwner["open"], own, close: () => closeResources(owned.splice(0)) };
}

async function closeResources(owned: readonly ClosableResource[]): Promise<void> {
  const failures: unknown[] = [];
  for (const port of owned.toReversed()) {
    await port.close().catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}
