import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { GetObjectCommand, PutObjectCommand, DeleteObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { pauseFor } from '../pause-for.ts';
import { FilesError } from './files-error.ts';

const LOCK = '_lock.json';

export interface S3LockTimes {
  readonly renewMs: number;
  /** A lock that was silent for so long is taken over. */
  readonly goneMs: number;
  /** An upload that began so long ago is abandoned. */
  readonly leftMs: number;
}

/** A scheduled run, which does not take this lock, ends after 15 minutes: as long as a function may run. */
export const LOCK_TIMES: S3LockTimes = { renewMs: 5000, goneMs: 30_000, leftMs: 15 * 60_000 };

export interface S3Place {
  readonly bucket: string;
  /** With its slash at the end; empty for the whole bucket. */
  readonly prefix: string;
}

interface Held {
  readonly id: string;
  readonly pid: number;
  readonly host: string;
  readonly since: string;
  /** Goes up with each renewal, so that the object's ETag is another one. */
  readonly beat: number;
}

type Condition = { readonly IfNoneMatch: '*' } | { readonly IfMatch: string };

const NO_ETAG = '"00000000000000000000000000000000"';

/** Locks a prefix for one export by an object, renewed if unchanged, taken over if silent. Compares no clocks. */
export class S3Lock {
  readonly #client: S3Client;
  readonly #place: S3Place;
  readonly #times: S3LockTimes;
  readonly #held = { id: randomUUID(), pid: process.pid, host: hostname(), since: new Date().toISOString() };
  #beat = 0;
  #etag = '';
  /** By the clock: time that the machine slept counts. */
  #renewedAt = 0;
  #lost: FilesError | undefined;
  #sentAt = 0;
  #renewing: Promise<void> | undefined;

  constructor(client: S3Client, place: S3Place, times = LOCK_TIMES) {
    this.#client = client;
    this.#place = place;
    this.#times = times;
  }

  /** Returns what releases the lock. Throws `busy_export`; `bad_option` if the server ignores conditions of writes. */
  async take(signal?: AbortSignal): Promise<() => Promise<void>> {
    await this.#takeOver(signal);
    await this.#proveConditions();
    const renewal = setInterval(() => void this.#renew(), this.#times.renewMs);
    return async () => {
      clearInterval(renewal);
      await this.#renewing;
      // If this fails, the next export waits a little.
      if ((await this.#read().catch(() => undefined))?.id === this.#held.id) await this.#remove();
    };
  }

  /** Throws `busy_export` where it may be another's by now. */
  async ask(): Promise<void> {
    const isFresh = (part: number): boolean => Date.now() - this.#renewedAt < this.#times.goneMs * part;
    if (!isFresh(0.5)) await this.#renew();
    if (!this.#lost && !isFresh(1)) this.#lost = this.#busy('it could not be renewed');
    if (this.#lost) throw this.#lost;
  }

  async #takeOver(signal: AbortSignal | undefined): Promise<void> {
    let first: { readonly etag: string; readonly at: number } | undefined;
    while (!(await this.#write({ IfNoneMatch: '*' }))) {
      const other = await this.#read();
      if (this.#isOwn(other)) return;
      const who = other ? `process ${other.pid} of ${other.host} since ${other.since}` : 'gone by now';
      if (other) first ??= { etag: other.etag, at: performance.now() };
      // It was renewed, or is another's.
      if (signal?.aborted || (other && other.etag !== first?.etag)) throw this.#busy(who);
      if (other && first && performance.now() - first.at >= this.#times.goneMs) {
        if (await this.#write({ IfMatch: other.etag })) return;
        const now = await this.#read();
        if (this.#isOwn(now)) return;
        throw this.#busy(now ? `process ${now.pid} of ${now.host} since ${now.since}` : who);
      }
      await pauseFor(this.#times.renewMs / 5, signal);
    }
  }

  /** A server that passes over conditions would let two exports hold it. */
  async #proveConditions(): Promise<void> {
    if (!(await this.#write({ IfNoneMatch: '*' })) && !(await this.#write({ IfMatch: NO_ETAG }))) return;
    await this.#remove();
    throw this.#unconditional('one that writes all the same');
  }

  /** One at a time: where S3 does not answer, none waits for another. */
  #renew(): Promise<void> {
    this.#renewing ??= this.#renewOnce().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #renewOnce(): Promise<void> {
    try {
      if (this.#lost || (await this.#write({ IfMatch: this.#etag }))) return;
      const found = await this.#read();
      if (!this.#isOwn(found))
        this.#lost = this.#busy(found ? `process ${found.pid} of ${found.host}` : 'it was removed');
    } catch {
      // The next one may succeed; `ask` says when it is too late.
    }
  }

  /** Whether it was written, though the answer was lost. */
  #isOwn(found: (Held & { readonly etag: string }) | undefined): boolean {
    if (found?.id !== this.#held.id) return false;
    [this.#etag, this.#renewedAt] = [found.etag, this.#sentAt];
    return true;
  }

  /** Returns whether the condition held. */
  async #write(condition: Condition): Promise<boolean> {
    this.#sentAt = Date.now();
    this.#beat += 1;
    const Body = JSON.stringify({ ...this.#held, beat: this.#beat } satisfies Held);
    try {
      const { ETag = '' } = await this.#client.send(
        new PutObjectCommand({ ...this.#object, ...condition, Body }),
        this.#bounded,
      );
      this.#etag = ETag;
      this.#renewedAt = this.#sentAt;
      return true;
    } catch (error) {
      const { name, status } = statusOf(error);
      // 409: another write came at the same moment. 404: what was to match is gone.
      if (status === 412 || status === 409 || name === 'NoSuchKey') return false;
      if (status === 501 || name === 'NotImplemented' || name === 'InvalidArgument')
        throw this.#unconditional(`${name}: ${String(error)}`, error);
      throw error;
    }
  }

  /** Undefined where it is gone by now. */
  async #read(): Promise<(Held & { readonly etag: string }) | undefined> {
    try {
      const { Body, ETag = '' } = await this.#client.send(new GetObjectCommand(this.#object), this.#bounded);
      return { ...(JSON.parse((await Body?.transformToString()) ?? '') as Held), etag: ETag };
    } catch (error) {
      if (statusOf(error).status === 404) return undefined;
      throw error;
    }
  }

  async #remove(): Promise<void> {
    await this.#client.send(new DeleteObjectCommand(this.#object), this.#bounded).catch(() => undefined);
  }

  /** The SDK waits for an answer as long as it takes: a third of what the others wait leaves room for a second try. */
  get #bounded(): { readonly abortSignal: AbortSignal } {
    return { abortSignal: AbortSignal.timeout(Math.floor(this.#times.goneMs / 3)) };
  }

  get #object(): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.#place.bucket, Key: `${this.#place.prefix}${LOCK}` };
  }

  get #name(): string {
    return `s3://${this.#place.bucket}/${this.#place.prefix}`;
  }

  #busy(who: string): FilesError {
    return new FilesError(
      'busy_export',
      `to: wanted a place that no other export writes to, got ${this.#name}, whose ${LOCK} is not of this one: ${who}. Repeat it once that has ended`,
    );
  }

  #unconditional(got: string, cause?: unknown): FilesError {
    return new FilesError(
      'bad_option',
      `to: wanted a server of S3 that keeps If-None-Match and If-Match of writes, so that one export at a time writes to ${this.#name}, got ${got}. With --no-lock it writes all the same: then no other export may`,
      { cause },
    );
  }
}

function statusOf(error: unknown): { readonly name: string; readonly status: number | undefined } {
  const { name, $metadata } = Object(error) as { name?: string; $metadata?: { httpStatusCode?: number } };
  return { name: name ?? '', status: $metadata?.httpStatusCode };
}
