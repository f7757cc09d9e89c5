import { execFileSync } from 'node:child_process';
import { mkdirSync, statfsSync } from 'node:fs';

/** A file system of its own, in memory, that can be made smaller and larger while it is in use. */
export interface SmallDisk extends Disposable {
  /** Bytes that can still be written. */
  readonly free: number;
  /** From now on about so many bytes more can be written. */
  leave(bytes: number): void;
  /** Makes room. */
  grow(): void;
}

const MIB = 1024 * 1024;
const LARGE = 2048 * MIB;
/** Whoever uses it may write between the look and the change. */
const TRIES = 20;

/** Mounts one on this folder. Undefined where this process has no right to. */
export function mountSmallDisk(folder: string): SmallDisk | undefined {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    mount('-t', 'tmpfs', '-o', `size=${LARGE},mode=700`, 'tmpfs', folder);
  } catch {
    return undefined;
  }
  // Also when the process is made to end at once: nothing may stay mounted.
  const unmount = (): void => {
    process.off('exit', unmount);
    execFileSync('umount', ['-l', folder], { stdio: 'ignore' });
  };
  process.on('exit', unmount);
  const resize = (bytes: number): void => mount('-o', `remount,size=${bytes}`, folder);
  return {
    get free() {
      const { bsize, bfree } = statfsSync(folder);
      return bsize * bfree;
    },
    leave(bytes) {
      for (let left = TRIES; ; left -= 1) {
        const { bsize, blocks, bfree } = statfsSync(folder);
        try {
          return resize(bsize * (blocks - bfree) + bytes);
        } catch (error) {
          if (left === 0) throw error;
        }
      }
    },
    grow: () => resize(LARGE),
    [Symbol.dispose]: unmount,
  };
}

function mount(...args: readonly string[]): void {
  execFileSync('mount', args, { stdio: 'pipe' });
}
