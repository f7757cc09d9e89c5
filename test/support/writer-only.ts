import { inject } from 'vitest';

/** Whether only a group's writer is reachable; tests of readers are skipped then. */
export const WRITER_ONLY = inject('servers').access === 'data-api';
