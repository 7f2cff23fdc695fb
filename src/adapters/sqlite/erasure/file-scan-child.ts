import { serveInProcess } from "../../shared/worker-channel.ts";
import { runScan, type ScanRequest, type ScanResponse } from "./file-scan.ts";

serveInProcess(async (request: ScanRequest): Promise<ScanResponse> => {
  try {
    return runScan(request);
  } catch (error) {
    // The message comes from Node or SQLite and contains at most a file name.
    return { failure: (error as Error).message };
  }
});
