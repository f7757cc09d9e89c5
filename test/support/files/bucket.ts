import { gunzipSync } from 'node:zlib';
import { CreateBucketCommand, GetObjectCommand, paginateListObjectsV2, S3Client } from '@aws-sdk/client-s3';
import { conditionalS3, type ConditionalS3 } from './conditional-s3.ts';
import { startSqs } from '../../../infra/local/emulators/sqs.ts';

export interface Bucket {
  readonly url: string;
  readonly s3: ConditionalS3;
  readonly name: string;
  /** Keys of all objects, in their order. */
  keys(): Promise<readonly string[]>;
  read(key: string): Promise<Buffer>;
  close(): Promise<void>;
}

export async function openBucket(folder: string, name = 'lake'): Promise<Bucket> {
  const fauxqs = await startSqs(folder, 0);
  const s3 = await conditionalS3(fauxqs.url);
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  const client = new S3Client({ endpoint: s3.url, region: 'us-east-1', forcePathStyle: true, credentials });
  await client.send(new CreateBucketCommand({ Bucket: name }));
  return {
    url: s3.url,
    s3,
    name,
    async keys() {
      const found: string[] = [];
      for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket: name }))
        found.push(...Contents.map(({ Key = '' }) => Key));
      return found.toSorted();
    },
    async read(key) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket: name, Key: key }));
      return Buffer.from((await Body?.transformToByteArray()) ?? []);
    },
    async close() {
      client.destroy();
      s3.close();
      await fauxqs.close();
    },
  };
}

/** Returns the lines of all parts of an NDJSON export, by part and shard, each in the order of its lines. */
export async function exportedLines(bucket: Bucket, prefix: string): Promise<readonly Record<string, unknown>[]> {
  const lines: Record<string, unknown>[] = [];
  for (const key of await bucket.keys()) {
    if (!key.startsWith(`${prefix}/`) || !key.endsWith('.ndjson.gz')) continue;
    const text = gunzipSync(await bucket.read(key)).toString();
    for (const line of text.trim().split('\n')) lines.push(JSON.parse(line));
  }
  return lines;
}
