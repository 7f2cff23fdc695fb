import type { Opened } from "../memory-options.ts";

interface ClosableResource {
  close(): Promise<void>;
}

/** Owns opened resources and closes them. */
export interface ResourceOwner {
  /** Opens a port given as a function, and owns it. Gives an open port unchanged. */
  open<Port extends ClosableResource>(given: Opened<Port>): Promise<Port>;
  open<Port extends ClosableResource>(given: Opened<Port> | undefined): Promise<Port | undefined>;
  /** Adds a resource to close. */
  own<Port extends ClosableResource>(port: Port): Port;
  /** Closes all resources, newest first. Closes all of them even if some fail, then throws the first error. */
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
    try {
      await port.close();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
