import { inject } from 'vitest';

/** A group's writer alone can be asked: what only readers can do is skipped. */
export const WRITER_ONLY = inject('servers').access === 'data-api';
