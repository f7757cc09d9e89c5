import type { Checkpoint } from './checkpoints.ts';
import { FINGERPRINT_BYTES } from './fingerprint.ts';

export interface ShardOffset {
  /** 0: nothing yet, begin at the start. */
  readonly added_id: number;
  readonly fingerprint: string;
  /** The shard's epoch when the log was last found whole; 0 before that. */
  readonly epoch: number;
  /** The last cell up to `added_id` that was given to a follower of some columns, or where it began; undefined if not noted. */
  readonly given?: number;
}

const FORM = 1;

/** Encodes the offsets of a partition's shards in about 900 bytes for 64: DynamoDB charges writes by the kilobyte. */
export function encodeOffsets(offsets: readonly (ShardOffset | undefined)[]): Uint8Array {
  const bytes = [FORM];
  for (const offset of offsets) {
    if (!offset) {
      bytes.push(0);
      continue;
    }
    pushNumber(bytes, offset.added_id + 1);
    pushNumber(bytes, offset.epoch);
    if (offset.added_id > 0) bytes.push(...Buffer.from(offset.fingerprint, 'hex'));
    pushNumber(bytes, offset.given === undefined ? 0 : offset.added_id - offset.given + 1);
  }
  return Uint8Array.from(bytes);
}

export function decodeOffsets(bytes: Uint8Array | undefined, shards: number): (ShardOffset | undefined)[] {
  const read = reader(bytes, 'offsets');
  return Array.from({ length: shards }, () => {
    const next = read?.number() ?? 0;
    if (!read || next === 0) return undefined;
    const added_id = next - 1;
    const epoch = read.number();
    const fingerprint = added_id === 0 ? '' : read.fingerprint();
    const behind = read.number();
    return { added_id, epoch, fingerprint, ...(behind > 0 && { given: added_id - (behind - 1) }) };
  });
}

/** Encodes the checkpoints of a partition's shards: about 11 KB for 64 shards of 16. */
export function encodeCheckpoints(shards: readonly (readonly Checkpoint[])[]): Uint8Array {
  const bytes = [FORM];
  for (const checkpoints of shards) {
    pushNumber(bytes, checkpoints.length);
    let last = 0;
    for (const { added_id, fingerprint } of checkpoints) {
      pushNumber(bytes, added_id - last);
      bytes.push(...Buffer.from(fingerprint, 'hex'));
      last = added_id;
    }
  }
  return Uint8Array.from(bytes);
}

export function decodeCheckpoints(bytes: Uint8Array | undefined, shards: number): Checkpoint[][] {
  const read = reader(bytes, 'checkpoints');
  return Array.from({ length: shards }, () => {
    let last = 0;
    return Array.from({ length: read?.number() ?? 0 }, () => {
      last += read?.number() ?? 0;
      return { added_id: last, fingerprint: read?.fingerprint() ?? '' };
    });
  });
}

/** Writes seven bits a byte, the lowest first, by arithmetic: added ids go beyond 32 bits. */
function pushNumber(bytes: number[], value: number): void {
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  bytes.push(rest);
}

function reader(bytes: Uint8Array | undefined, what: string) {
  if (!bytes) return undefined;
  if (bytes[0] !== FORM) throw new Error(`${what}: wanted form ${FORM}, got ${bytes[0] ?? 'nothing'}`);
  let position = 1;
  const next = (): number => {
    const byte = bytes[position];
    if (byte === undefined) throw new Error(`${what}: cut short at byte ${position}`);
    position += 1;
    return byte;
  };
  return {
    number(): number {
      let value = 0;
      for (let weight = 1; ; weight *= 128) {
        const byte = next();
        value += (byte % 128) * weight;
        if (byte < 128) return value;
      }
    },
    fingerprint: (): string => Buffer.from(Array.from({ length: FINGERPRINT_BYTES }, next)).toString('hex'),
  };
}
