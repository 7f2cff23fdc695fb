import { followerConformance } from "../../testing/follower-conformance.ts";
import { memoryFollower } from "./index.ts";

followerConformance({ name: "memory", open: async () => memoryFollower() });
