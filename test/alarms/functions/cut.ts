import { asTold } from './as-told.ts';

export const handler = asTold('cut');
