import { hash } from 'node:crypto';
import type { StoredLogEntry } from '../sql/statements/select-log-entries.ts';

export interface Checkpoint {
  readonly added_id: number;
  readonly fingerprint: string;
}

const SPREAD = 9;
/** Two for each ninefold distance: reaches back over forty million cells. */
const MOST = 17;

/**
 * Adds a checkpoint and thins out the others: at most 17 in order, of which the oldest stays. The newest checkpoint
 * before
 * lost cells is at most nine times as far back as they are (or one page further).
 */
export function withCheckpoint<C extends Checkpoint>(checkpoints: readonly C[], newest: C): C[] {
  const kept = [...checkpoints.filter(({ added_id }) => added_id < newest.added_id), newest];
  const back = (position: number): number => newest.added_id - (kept[position]?.added_id ?? 0);
  for (let position = kept.length - 2; position > 0; position -= 1) {
    if (back(position - 1) <= SPREAD * back(position + 1)) kept.splice(position, 1);
  }
  return kept.length > MOST ? kept.toSpliced(1, kept.length - MOST) : kept;
}

/** A chance of 2^-64 that another cell goes unnoticed. */
const FINGERPRINT_BYTES = 8;

/** The fingerprint is not known yet: the next read of the cell at the offset gives it. */
export const UNKNOWN_FINGERPRINT = '0'.repeat(FINGERPRINT_BYTES * 2);

/** Identifies a cell among all that might take its added id: a cell that is appended again has another `created_at`. */
export function fingerprintOf({ row_key, column_name, ref_key, created_at }: StoredLogEntry): string {
  return hash('sha256', `${row_key} ${created_at} ${ref_key} ${column_name}`, 'hex').slice(0, FINGERPRINT_BYTES * 2);
}

export interface ShardOffset {
  /** 0: nothing yet, begin at the start. */
  readonly added_id: number;
  readonly fingerprint: string;
  /** The shard's epoch when the log was last found whole; 0 before that. */
  readonly epoch: number;
  /**
   * The last cell up to `added_id` that was given to a follower of some columns, or where it began; undefined if not
   * noted.
   */
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
