import { serveInProcess } from "../../shared/worker-channel.ts";
import { runScan, type ScanRequest, type ScanResponse } from "./file-scan.ts";

serveInProcess(async (request: ScanRequest): Promise<ScanResponse> => {
  try {
    return runScan(request);
  } catch (error) {
    // A message of Node or SQLite: it names a file at most.
    return { failure: (error as Error).message };
  }
});
