/**
 * The bytes of images and recordings, once for each user. They come last in a row, behind what finds them. No row digest: the
 * digest that is the key is that of the bytes.
 */
export const ATTACHMENTS: string = `
CREATE TABLE attachments (
  number INTEGER PRIMARY KEY,
  user INTEGER NOT NULL REFERENCES users (id),
  digest TEXT NOT NULL,
  media_type TEXT NOT NULL,
  at TEXT NOT NULL,
  size INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  UNIQUE (user, digest)
) STRICT;
`;
