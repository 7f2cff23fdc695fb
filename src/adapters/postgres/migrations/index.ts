import { RECORD } from "./0001-record.ts";
import { SHARED } from "./0002-shared.ts";
import { FREED } from "./0003-freed.ts";
import { BLOCKS } from "./0004-blocks.ts";
import { LOG } from "./0005-log.ts";
import { PIECES } from "./0006-pieces.ts";
import { STATISTICS } from "./0007-statistics.ts";
import { USE_COUNTS } from "./0008-uses.ts";
import { SHARE_TABLES } from "./0009-shares.ts";
import { ATTACHMENT_TABLES } from "./0010-attachments.ts";
import { WEBHOOK_TABLES } from "./0011-webhooks.ts";
import { EMBEDDER_CHOICE_TABLES } from "./0012-embedders.ts";

/** In order; the table `migrations` counts the finished ones. A released migration never changes. */
export const POSTGRES_MIGRATIONS: readonly string[] = [
  RECORD,
  SHARED,
  FREED,
  BLOCKS,
  LOG,
  PIECES,
  STATISTICS,
  USE_COUNTS,
  SHARE_TABLES,
  ATTACHMENT_TABLES,
  WEBHOOK_TABLES,
  EMBEDDER_CHOICE_TABLES,
];
