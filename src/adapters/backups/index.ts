export { folderArchive } from "./folder-archive.ts";
export { type S3ArchiveOptions, type S3Client, s3Archive } from "./s3-archive.ts";
