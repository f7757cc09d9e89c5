import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  ListMultipartUploadsCommand,
  PutObjectCommand,
  UploadPartCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { createReadStream } from 'node:fs';
import type { S3Place } from './s3-lock.ts';

const PART_BYTES = 8 * 1024 * 1024;

/** Uploads a file, in parts if it is large. Aborts the upload before it throws: parts of an open upload cost money. */
export async function uploadFile(
  client: S3Client,
  path: string,
  { object, signal }: { readonly object: { Bucket: string; Key: string }; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  const params = { ...object, Body: createReadStream(path, { highWaterMark: 256 * 1024 }) };
  try {
    await new Upload({ client: until(client, signal), params, partSize: PART_BYTES, queueSize: 2 }).done();
  } finally {
    params.Body.destroy();
  }
}

/** The client, whose requests for bytes of a file end by the signal; that which aborts an upload goes on. */
function until(client: S3Client, signal: AbortSignal | undefined): S3Client {
  if (!signal) return client;
  const ended = [PutObjectCommand, UploadPartCommand, CompleteMultipartUploadCommand];
  return new Proxy(client, {
    get(target, name) {
      if (name !== 'send') return Reflect.get(target, name);
      return (command: Parameters<S3Client['send']>[0]) =>
        target.send(command, ended.some((one) => command instanceof one) ? { abortSignal: signal } : {});
    },
  });
}

const OF_EXPORT = /^part-\d{4,}\/[^/]+$/u;

/** Aborts uploads of a killed export, once they are old enough to be abandoned. Uploads that may not be listed stay. */
export async function abortUploads(client: S3Client, { bucket, prefix }: S3Place, leftMs: number): Promise<void> {
  try {
    // A thousand at most, of which a killed one leaves two.
    const asked = new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: `${prefix}part-` });
    for (const { Key = '', UploadId, Initiated } of (await client.send(asked)).Uploads ?? []) {
      const isLeft = Initiated === undefined || Date.now() - Initiated.getTime() >= leftMs;
      if (isLeft && OF_EXPORT.test(Key.slice(prefix.length)))
        await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }));
    }
  } catch {
    // Parts that stay cost a little; a lifecycle rule of the bucket can end them.
  }
}
