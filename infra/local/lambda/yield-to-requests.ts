import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';

/** From 0, as other threads, to 19, which gives way to all. With 5 it gets a third of what one of them gets. */
const NICENESS = 5;

/**
 * Lets this thread give way to those that answer requests: in the cloud each function has cores of its own, here the loops
 * that follow logs and buffers share a machine's few with them. Linux alone has priorities of threads; elsewhere, nothing.
 */
export function yieldToRequests(): void {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), NICENESS);
  } catch {
    // Works as well, only less evenly.
  }
}
